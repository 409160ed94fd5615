"""Leaks and biases that were put into games on purpose: `artus_env.testing` finds each of them with its default sizes.

A fault replaces a verb or another part of a game's definition. Faulty verbs and the loops that call them run as plain
Python, so that no game is compiled again for a fault.
"""

import dataclasses
from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from artus_env.engine.compiling import dispatch
from artus_env.engine.compiling.jit import DISABLED
from artus_env.engine.contract import verbs
from artus_env.engine.contract.registry import find_game
from artus_env.testing import check_no_leaks, check_resampling

pytestmark = pytest.mark.skipif(DISABLED, reason="takes hours in plain Python")
REVEALING, BIASED = "tells more than the state does", "aren't resampled uniformly"
OTHER_SEED = np.uint64(0x9E3779B97F4A7C15)


def tables_of(definition):
    return definition.build_tables(definition.standard).dtype


OWN_VERBS = {
    name: {function.__name__: function for function in dispatch.functions_of(tables_of(find_game(name)))}
    for name in ("artus", "hoard", "magpies", "quest", "royal")
}
"""The verbs of each game."""


@cache
def compiled(game):
    """A game whose loops have been compiled with its own verbs, before faults replace some of them."""
    check_no_leaks(game, states=64, texts=0, pictures=0)
    check_resampling(game, states=64)
    return find_game(game)


@contextmanager
def with_faults(game, faults):
    """The definition of a game with some verbs and some parts replaced."""
    definition = compiled(game)
    parts = {name: fault for name, fault in faults.items() if hasattr(definition, name)}
    fields = {name: fault for name, fault in parts.items() if name != "to_dict"}
    faulty_definition = dataclasses.replace(definition, **fields)
    if "to_dict" in parts:  # a method
        object.__setattr__(faulty_definition, "to_dict", parts["to_dict"])
    faulty_verbs = SimpleNamespace(**{name: fault for name, fault in faults.items() if name not in parts})
    verbs.register(game, tables_of(definition), (faulty_verbs, *definition.verbs), definition.mask_words)
    try:
        yield faulty_definition
    finally:
        verbs.register(game, tables_of(definition), definition.verbs, definition.mask_words)


def with_addition(game, name, addition):
    """A verb that calls the game's own verb and then `addition`, whose result counts unless it is None."""
    verb = OWN_VERBS[game][name]

    def changed(t, g, *arguments):
        result = verb(t, g, *arguments)
        new_result = addition(t, g, *arguments)
        return result if new_result is None else new_result

    return changed


# --- leaks ----------------------------------------------------------------------------------------------------------


def next_player(g, viewer):
    """The player after the viewer."""
    return (int(viewer) + 1) % int(g["num_players"])


def observation_shows_a_hand(t, g, viewer, out):
    out[0] = int(g["hands"][next_player(g, viewer)]) & 1


def observation_shows_the_pile(t, g, viewer, out):
    out[0] = int(g["pile"][-1]) & 1


def observation_shows_a_bid(t, g, viewer, out):
    out[0] = int(g["bids"][next_player(g, viewer)]) == 7


def mask_lacks_an_action(t, g, words):
    """The last of several legal actions is missing if the next player has an odd card."""
    last = next((word for word in (2, 1, 0) if len(words) > word and words[word]), None)
    if last is not None and int(words[last]).bit_count() > 1 and int(g["hands"][next_player(g, g["player"]), 0]) & 1:
        words[last] &= words[last] - np.uint64(1)


def raises_depend_on_parts(t, g, words):
    if int(g["parts"][next_player(g, g["player"])]) > 6 and int(words[0]) > 3:
        words[0] = 3


def with_next_card(state, components, player=None):
    position = find_game("artus").to_dict(state, components, player)
    pile = state["piles"][player or 0]
    return {**position, "next": int(pile[pile >= 0][0]) if (pile >= 0).any() else None}


def text_with_cards(states, components, player=None, names=None):
    return f"{find_game('quest').render(states, components, player, names)}\n{states[0]['start_cards']}"


def move_with_hint(action, states, components, tables):
    text = find_game("royal").move_text(action, states, components, tables)
    g = states[0]
    return f"{text}{'!' * (int(g['hands'][next_player(g, g['player']), 0]) & 1)}"


class Foreseen:
    """A faulty `foreseeable`: it claims that players know which card they will draw."""

    def __getattr__(self, name):
        return getattr(find_game("artus").browser, name)

    def foreseeable(self, move):
        return True


class Remembering:
    """Faulty sentences: positions show nothing hidden, but the sentences use the state behind the last position."""

    def to_dict(self, state, components, player=None):
        self.hand = int(state["hands"][next_player(state, state["player"])])
        return find_game("artus").to_dict(state, components, player)

    def choice(self, *arguments):
        return f"{find_game('artus').sentences.choice(*arguments)}: {self.hand}"

    def played(self, *arguments):
        return find_game("artus").sentences.played(*arguments)


REMEMBERING = Remembering()


def points_tell(t, g, action):
    return int(g["hands"][next_player(g, g["player"]), 1]) & 1


def odd_bids_are_told(t, g, action, viewer):
    return action if viewer == int(g["player"]) else action & 1


def public_action_tells_a_part(t, g, action, viewer):
    return action if viewer == int(g["player"]) else int(g["parts"][next_player(g, viewer)] > 6)


def what_hide_leaves(field):
    def leave(t, g, viewer):
        kept = g[field].copy()
        OWN_VERBS["royal" if field == "pile" else "artus"]["hide"](t, g, viewer)
        g[field] = kept

    return leave


LEAKS = {
    "artus: the observation shows a hand": ("artus", {"observe": observation_shows_a_hand}, "observation"),
    "royal: the observation shows the pile": ("royal", {"observe": observation_shows_the_pile}, "observation"),
    "magpies: the observation shows a bid": ("magpies", {"observe": observation_shows_a_bid}, "observation"),
    "royal: the mask depends on a hand": ("royal", {"legal": mask_lacks_an_action}, "legal actions"),
    "hoard: the mask depends on a part": ("hoard", {"legal": raises_depend_on_parts}, "legal actions"),
    "artus: the position shows the next card": ("artus", {"to_dict": with_next_card}, "to_dict"),
    "quest: the text shows all cards": ("quest", {"render": text_with_cards}, "the text of the position"),
    "royal: a move's text tells a card": ("royal", {"move_text": move_with_hint}, "the text of"),
    "artus: drawn cards are foreseen": ("artus", {"browser": Foreseen()}, "what is foreseen of"),
    "artus: a sentence tells a hand": (
        "artus", {"to_dict": REMEMBERING.to_dict, "sentences": REMEMBERING}, "the sentence about",
    ),
    "royal: points_of tells a card": ("royal", {"points_of": points_tell}, "`points_of`"),
    "hoard: public_action tells a part": ("hoard", {"public_action": public_action_tells_a_part}, "`public_action` of"),
    "magpies: public_action tells odd bids": ("magpies", {"public_action": odd_bids_are_told}, REVEALING),
    "magpies: bids aren't secret": (
        "magpies", {"public_action": lambda t, g, action, viewer: action}, REVEALING,
    ),
    "magpies: bids are opened at once": (
        "magpies", {"is_revealed": lambda t, g, action, viewer, now: True}, REVEALING,
    ),
    "artus: open moves are called secret": (
        "artus", {"public_action": lambda t, g, action, viewer: action if viewer == int(g["player"]) else 0},
        "hides what everybody sees",
    ),
    "royal: hide leaves the pile": ("royal", {"hide": what_hide_leaves("pile")}, "`hide`"),
    "artus: hide leaves the hands": ("artus", {"hide": what_hide_leaves("hands")}, "`hide`"),
    "hoard: the ranking tells parts": (
        "hoard", {"ranking_key": lambda t, g, player: int(g["scores"][player]) + int(g["parts"][player])}, "ranks",
    ),
}  # fmt: skip


def after_own_verb(game, name, fault):
    """The verb to plant: for verbs whose own work is needed, that of the game followed by the fault."""
    return with_addition(game, name, fault) if name in ("observe", "legal", "points_of") else fault


@pytest.mark.parametrize("leak", LEAKS)
def test_a_leak_is_found(leak):
    game, faults, message = LEAKS[leak]
    with with_faults(game, {name: after_own_verb(game, name, fault) for name, fault in faults.items()}) as definition:
        with pytest.raises(AssertionError, match=message) as found:
            check_no_leaks(definition, plain=faults)
        assert str(found.value).startswith(game)
        assert ", seed 1: " in str(found.value)


# --- biases ---------------------------------------------------------------------------------------------------------


def sometimes(game, one_in, replacement=lambda t, g, viewer, seed: None):
    """A faulty `resample_hidden`: one time in `one_in` it calls `replacement` instead, which by default changes
    nothing."""
    verb = OWN_VERBS[game]["resample_hidden"]
    return lambda t, g, viewer, seed: (replacement if int(seed) % one_in == 0 else verb)(t, g, viewer, seed)


def favouring(game, is_favoured, one_in=3):
    """A faulty `resample_hidden`: it redraws one in `one_in` of the states that `is_favoured` rejects."""
    verb = OWN_VERBS[game]["resample_hidden"]

    def resample_hidden(t, g, viewer, seed):
        verb(t, g, viewer, seed)
        if int(seed) % one_in == 0 and not is_favoured(g, int(viewer)):
            verb(t, g, viewer, seed ^ OTHER_SEED)

    return resample_hidden


def ignoring(game, field):
    """A faulty `resample_hidden`: it ignores the field in which the viewer's knowledge of the others is kept."""
    verb = OWN_VERBS[game]["resample_hidden"]

    def resample_hidden(t, g, viewer, seed):
        known = g[field].copy()
        g[field] = 0
        verb(t, g, viewer, seed)
        g[field] = known

    return resample_hidden


def keeping(game, field):
    """A faulty `resample_hidden`: it doesn't resample one field."""
    verb = OWN_VERBS[game]["resample_hidden"]

    def resample_hidden(t, g, viewer, seed):
        truth = g[field].copy()
        verb(t, g, viewer, seed)
        g[field] = truth

    return resample_hidden


def seeded_by_the_truth(game, field):
    """A faulty `resample_hidden`: uniform, but its result for a seed depends on the true state."""
    verb = OWN_VERBS[game]["resample_hidden"]
    return lambda t, g, viewer, seed: verb(t, g, viewer, seed ^ np.uint64(int(g[field].sum()) & 0xFFFF))


def fewer_coins(t, g, viewer, seed):
    """A faulty `resample_hidden`: no part ever has the largest possible number of coins."""
    verb = OWN_VERBS["hoard"]["resample_hidden"]
    verb(t, g, viewer, seed)
    parts, mine = g["parts"], int(g["parts"][viewer])
    if int(g["out"].sum()) < int(g["num_players"]) - 1:
        parts[parts == int(t["coins"])] = 1
        parts[viewer] = mine


def too_many_coins(t, g, viewer, seed):
    OWN_VERBS["hoard"]["resample_hidden"](t, g, viewer, seed)
    if int(g["out"].sum()) < int(g["num_players"]) - 1:
        g["parts"][next_player(g, viewer)] = int(t["coins"]) + 1


def highest_bid(t, g, viewer, seed):
    """A faulty `resample_hidden`: every hidden bid is the bidder's highest card."""
    OWN_VERBS["magpies"]["resample_hidden"](t, g, viewer, seed)
    for player in range(int(g["num_players"])):
        if player != viewer and g["bids"][player] >= 0:
            g["bids"][player] = int(g["hands"][player]).bit_length() - 1


def viewer_too(t, g, viewer, seed):
    """A faulty `resample_hidden`: it also resamples the viewer's own hand."""
    OWN_VERBS["magpies"]["resample_hidden"](t, g, next_player(g, viewer), seed)


def knights(g, player):
    return int(g["hands"][player, 4])


BIASES = {
    "magpies: the truth stays, once in 20 times": ("magpies", sometimes("magpies", 20), "the truth shows"),
    "royal: the truth stays, once in 20 times": ("royal", sometimes("royal", 20), "the truth shows"),
    "artus: the truth stays, once in 20 times": ("artus", sometimes("artus", 20), "the truth shows"),
    "magpies: chance stays": ("magpies", keeping("magpies", "chance"), "`chance` of a position"),
    "artus: hands stay": ("artus", keeping("artus", "hands"), "no position|the truth shows"),
    "quest: the pile stays": ("quest", keeping("quest", "quest_pile"), "never resampled"),
    "hoard: the truth is in the seed": ("hoard", seeded_by_the_truth("hoard", "parts"), "the truth shows"),
    "royal: the truth is in the seed": ("royal", seeded_by_the_truth("royal", "pile"), "the truth shows"),
    "hoard: most coins never": ("hoard", fewer_coins, BIASED),
    "hoard: too many coins": ("hoard", too_many_coins, "no position"),
    "magpies: bids are the highest cards": ("magpies", highest_bid, BIASED),
    "magpies: the viewer's hand is another": ("magpies", viewer_too, "sees a difference"),
    "royal: voids are ignored": ("royal", ignoring("royal", "voids"), f"{BIASED}|no position"),
    "quest: exclusions are ignored": ("quest", ignoring("quest", "excluded"), f"{BIASED}|no position"),
    "artus: one card is favoured": (
        "artus", favouring("artus", lambda g, viewer: int(g["hands"][next_player(g, viewer)]) & 1), BIASED,
    ),
    "royal: two knights in a hand are rare": (
        "royal", favouring("royal", lambda g, viewer: knights(g, next_player(g, viewer)) < 2, one_in=1), BIASED,
    ),
    "quest: one starting card is favoured": (
        "quest",
        favouring("quest", lambda g, viewer: int(g["start_cards"][next_player(g, viewer)]) & 15, one_in=1), BIASED,
    ),
    "magpies: low cards are favoured": (
        "magpies", favouring("magpies", lambda g, viewer: int(g["hands"][next_player(g, viewer)]) & 7), BIASED,
    ),
    "hoard: parts are alike": (
        "hoard", favouring("hoard", lambda g, viewer: abs(int(g["parts"][0]) - int(g["parts"][1])) < 4, one_in=1),
        BIASED,
    ),
}  # fmt: skip


@pytest.mark.parametrize("bias", BIASES)
def test_a_bias_is_found(bias):
    game, resample_hidden, message = BIASES[bias]
    with with_faults(game, {"resample_hidden": resample_hidden}) as definition:
        with pytest.raises(AssertionError, match=message) as found:
            check_resampling(definition, plain=["resample_hidden"])
        assert str(found.value).startswith(game)
        assert ", seed 1: " in str(found.value)
