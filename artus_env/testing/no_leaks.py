"""`check_no_leaks`: check that nothing shown to a player depends on what they don't know."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from artus_env.engine.contract import verbs
from artus_env.engine.contract.definition import Definition
from artus_env.engine.drawing.render import draw
from artus_env.testing import loops
from artus_env.testing.statistics import SignTest, worst
from artus_env.testing.variants import Variant, expect, fail, run, variants_of
from artus_env.testing.walk import Round, Walk, as_bits, as_bytes, has_secrets

STATES = 20_000
"""Default number of states per game."""
TEXTS, PICTURES = 1_000, 50
"""Default numbers of states whose texts and pictures are compared."""
ERROR_RATE = 1e-6
"""Probability that a correct `public_action` is reported as a leak."""
DEALS = 200
"""Number of deals drawn to find out whether an action shows its viewers something hidden."""
MOVES = 4
"""Number of legal moves per state whose texts about consequences are compared."""


class NoLeaks(NamedTuple):
    """Result of `check_no_leaks` without a finding."""

    states: int
    texts: int
    """States whose texts were compared as well."""
    changed: int
    """States with anything hidden: those whose resampled copy differed."""


def check_no_leaks(
    game: str | Definition,
    *,
    states: int = STATES,
    texts: int = TEXTS,
    pictures: int = PICTURES,
    seed: int = 1,
    plain: Collection[str] = (),
) -> NoLeaks:
    """Check that states which differ only in what a player doesn't know look the same to that player.

    Each state of a random game is compared with a copy resampled by `resample_hidden`, as a random player sees them:

    - observation, player to move, scores, whether the game is over, ranking keys, the state after `hide`;
    - if the player is to move: legal actions, with `points_of` and `greedy_value` of each;
    - if another player is to move: `public_action` of each legal action;
    - for a part of the states: the position as plain data, text and picture, the texts of legal moves and of the move
      that the player sees, and the game's `sentences` about moves, if any.

    It also checks that `public_action` and `is_revealed` give no more information than the state does afterwards: by a
    sign test, as in `artus_env.testing.resampling`, with an error rate of 1e-6. This finds games with secret choices
    that `public_action` doesn't hide. And actions with the same `public_action` must lead to states that look the same,
    unless they show something hidden.

    Args:
        game: Name or definition of the game; only its standard box is checked.
        states: Number of states to compare, spread over all variants and the length of games.
        texts, pictures: Number of these states whose texts and pictures are compared as well; both are Python and
            slower.
        seed: Seed of all random numbers; the same seed gives the same result.
        plain: Names of verbs that are plain Python; loops that call them aren't compiled.

    Raises:
        AssertionError: Names variant, seed, player and what differs, with both positions as JSON.
    """
    variants = variants_of(game)
    shares = tuple(max(1, number // len(variants)) for number in (states, texts, pictures))

    def no_leaks(variant: Variant, seed: int) -> NoLeaks:
        return _Check(Walk(variant, seed, plain), shares, ERROR_RATE / len(variants)).run()

    results = [run(no_leaks, variant, seed) for variant in variants]
    return NoLeaks(*(sum(numbers) for numbers in zip(*results, strict=True)))


class _Check:
    """Checks of one variant."""

    def __init__(self, walk: Walk, shares: tuple[int, ...], error_rate: float) -> None:
        self.walk, self.error_rate = walk, error_rate
        self.states, self.texts, self.pictures = shares
        self.closeness_test = SignTest(one_sided=True)
        self.names = [f"player {player}" for player in range(walk.variant.num_players)]

    def run(self) -> NoLeaks:
        walk, has_secret_choices = self.walk, has_secrets(self.walk)
        num_compared = num_texts = num_changed = num_pictures = 0
        for decisions in walk.rounds(self.states):
            if num_compared >= self.states:
                break
            copies = walk.resampled(decisions.before, decisions.viewers)
            num_compared += len(copies)
            num_changed += int((as_bytes(copies) != as_bytes(decisions.before)).any(axis=1).sum())
            self.compare_states(decisions, copies)
            self.compare_actions(decisions, copies)
            if has_secret_choices:
                self.compare_secrets(decisions)
            self.count_closer(decisions, copies)
            num_due = min(len(copies), -(-self.texts * num_compared // self.states) - num_texts)
            for i in walk.random_numbers(max(0, num_due), len(copies)):
                self.compare_texts(decisions, copies, int(i))
                if num_pictures < -(-self.pictures * num_compared // self.states):
                    self.compare_pictures(decisions, copies, int(i))
                    num_pictures += 1
                num_texts += 1
        p, _, (bit,), first_greater, second_greater = worst({"closer": self.closeness_test})
        expect(
            p >= self.error_rate,
            "`public_action` or `is_revealed` tells more than the state does afterwards: deals that fit what was "
            f"told have bit {bit} of the true state {first_greater} times where resampled ones don't, and "
            f"{second_greater} times the other way round (p < {p:.1g})",
        )
        return NoLeaks(num_compared, num_texts, num_changed)

    def compare_states(self, decisions: Round, copies: np.ndarray) -> None:
        walk, states, viewers = self.walk, decisions.before, decisions.viewers
        for name in ("player", "num_players", "rule_set", "scores"):
            self.expect_same(f"`{name}` depends", decisions, copies, states[name], copies[name])
        parts = {
            "the observation depends": lambda games: walk.observations(games, viewers),
            "whether the game is over depends": walk.over,
            "what `hide` leaves depends": lambda games: walk.without_hidden(games, viewers),
            "what ranks the players depends": walk.ranks,
        }
        for what, part_of in parts.items():
            self.expect_same(what, decisions, copies, part_of(states), part_of(copies))

    def compare_actions(self, decisions: Round, copies: np.ndarray) -> None:
        walk, count = self.walk, len(copies)
        is_to_move = (decisions.before["player"] == decisions.viewers)[:, None]
        self.expect_same(
            "legal actions depend", decisions, copies, decisions.legal * is_to_move, walk.legal(copies) * is_to_move
        )
        names = ("public_action", "points_of", "greedy_value")
        differences = np.zeros((len(names), count), np.int64)
        walk.run(loops.first_differences, decisions.before, copies, decisions.viewers, decisions.legal, *differences)
        for name, differing_actions in zip(names, differences, strict=True):
            for i in np.flatnonzero(differing_actions >= 0)[:1].tolist():
                self.fail(f"`{name}` of {walk.action_name(int(differing_actions[i]))} depends", decisions, copies, i)

    def compare_secrets(self, decisions: Round) -> None:
        """Check that two actions that look the same to the viewer lead to states that look the same."""
        walk, viewers = self.walk, decisions.viewers
        copies, played_actions = walk.played_alike(decisions, decisions.before)
        is_different = (walk.without_hidden(decisions.after, viewers) != walk.without_hidden(copies, viewers)).any(
            axis=1
        )
        is_different &= (played_actions != decisions.actions) & (played_actions >= 0)
        is_different &= (decisions.after["scores"] == copies["scores"]).all(axis=1)
        is_different &= ~walk.over(decisions.after)
        for i in np.flatnonzero(is_different)[:MOVES]:
            if not self.shows_hidden(decisions, int(i)):
                action, other_action = (walk.action_name(int(a)) for a in (decisions.actions[i], played_actions[i]))
                fail(
                    f"`public_action` hides what everybody sees: {action} and {other_action} look the same to player "
                    f"{viewers[i]}, but the states that follow don't"
                    f"{walk.positions_text(decisions.after[i], copies[i])}"
                )

    def shows_hidden(self, decisions: Round, i: int) -> bool:
        """Whether the viewer's view after an action depends on what they didn't know before."""
        walk, viewers = self.walk, np.full(DEALS, decisions.viewers[i])
        states = walk.resampled(np.repeat(decisions.before[i : i + 1], DEALS), viewers)
        actions = np.full(DEALS, decisions.actions[i])
        word, bit = divmod(int(decisions.actions[i]), 64)
        legal = walk.legal(states)[:, word] >> np.uint64(bit) & np.uint64(1) == 1
        seen = walk.without_hidden(walk.played(states[legal], actions[legal]), viewers[legal])
        return bool((seen != seen[:1]).any())

    def count_closer(self, decisions: Round, copies: np.ndarray) -> None:
        """Count which states match the true state better: those in which the player has seen the same action, or the
        same states resampled. Both are drawn from what the player knows."""
        walk = self.walk
        copies, played_actions = walk.played_alike(decisions, copies)
        is_kept = (played_actions >= 0) & ~decisions.reveals_secret & (decisions.before["player"] != decisions.viewers)
        alike_states, truths, viewers = copies[is_kept], decisions.after[is_kept], decisions.viewers[is_kept]
        if not len(alike_states):
            return
        truth, first, second = (
            as_bits(states) for states in (truths, alike_states, walk.resampled(alike_states, viewers))
        )
        self.closeness_test.add(first == truth, second == truth)

    # --- texts: one state at a time ---

    def compare_texts(self, decisions: Round, copies: np.ndarray, i: int) -> None:
        walk, viewer = self.walk, int(decisions.viewers[i])
        definition, components = walk.definition, walk.components
        states, copied_states = decisions.before[i : i + 1], copies[i : i + 1]

        def same_text(what: str, text: Callable[[np.ndarray], Any]) -> Any:
            text_of_state = text(states)
            if text(copied_states) != text_of_state:
                self.fail(f"{what} depends", decisions, copies, i)
            return text_of_state

        position = same_text("`to_dict(player)`", lambda states: definition.to_dict(states[0], components, viewer))
        expect(json.loads(json.dumps(position)) == position, "`to_dict(player)` is no plain data")
        same_text("the text of the position", lambda states: definition.render(states, components, viewer, None))
        taken_action = int(decisions.actions[i])
        if taken_action < 0:
            return
        if int(states[0]["player"]) != viewer:
            word, bit = divmod(taken_action, 64)
            is_legal_in_copy = int(walk.legal(copied_states)[0, word]) >> bit & 1
            is_seen = verbs.is_seen(walk.tables[0], states[0], taken_action, viewer, walk.num_actions)
            if is_seen and is_legal_in_copy:
                move = same_text("the text of a move that they see", partial(self.move, taken_action))
                self.compare_played(decisions, copies, i, move)
            return
        legal = [a for a in range(walk.num_actions) if int(decisions.legal[i, a // 64]) >> a % 64 & 1]
        moves = {a: same_text(f"the text of {walk.action_name(a)}", partial(self.move, a)) for a in legal}
        start = taken_action % len(legal)
        for action in (legal[start:] + legal[:start])[:MOVES]:
            self.compare_choice(same_text, position, action, moves[action])

    def move(self, action: int, states: np.ndarray) -> str:
        return self.walk.definition.move_text(action, states, self.walk.components, self.walk.tables)

    def compare_choice(self, same_text: Callable[..., Any], position: Any, action: int, move: str) -> None:
        """Compare texts about a legal move, written for its player before it is played."""
        walk, definition = self.walk, self.walk.definition
        foreseen_position = None
        if definition.browser is not None and definition.browser.foreseeable(move):

            def position_after(states: np.ndarray) -> Any:
                state = walk.played(states, np.array([action]))[0]
                return definition.to_dict(state, walk.components, int(states[0]["player"]))

            foreseen_position = same_text(f"what is foreseen of {move}", position_after)
        if (sentences := definition.sentences) is not None:

            def choice(states: np.ndarray) -> Any:
                known_position = foreseen_position and position_after(states)
                return sentences.choice(position, move, known_position, self.names, walk.components)

            same_text(f"the sentence about {move}", choice)

    def compare_played(self, decisions: Round, copies: np.ndarray, i: int, move: str) -> None:
        """Compare sentences about another player's move, if the viewer sees the same result in both states."""
        walk, viewer, definition = self.walk, int(decisions.viewers[i]), self.walk.definition
        if definition.sentences is None:
            return
        action = decisions.actions[i : i + 1]
        results = []
        for states in (decisions.before[i : i + 1], copies[i : i + 1]):
            before = definition.to_dict(states[0], walk.components, viewer)
            after = definition.to_dict(walk.played(states, action)[0], walk.components, viewer)
            results.append(
                (after, definition.sentences.played(before, move, after, viewer, self.names, walk.components))
            )
        if results[0][0] == results[1][0] and results[0][1] != results[1][1]:
            self.fail(f"the sentence about {move} depends", decisions, copies, i)

    def compare_pictures(self, decisions: Round, copies: np.ndarray, i: int) -> None:
        walk, viewer = self.walk, int(decisions.viewers[i])
        picture, picture_of_copy = (
            draw(walk.definition, states[i : i + 1], walk.components, viewer) for states in (decisions.before, copies)
        )
        if picture != picture_of_copy:
            self.fail("the picture depends", decisions, copies, i)

    # --- findings ---

    def expect_same(
        self, what: str, decisions: Round, copies: np.ndarray, values: np.ndarray, copied_values: np.ndarray
    ) -> None:
        is_different = (values != copied_values).reshape(len(values), -1).any(axis=1)
        if is_different.any():
            self.fail(what, decisions, copies, int(np.flatnonzero(is_different)[0]))

    def fail(self, what: str, decisions: Round, copies: np.ndarray, i: int) -> None:
        fail(
            f"{what} on what player {decisions.viewers[i]} doesn't know: it differs in two states that should look the "
            f"same to them{self.walk.positions_text(decisions.before[i], copies[i])}"
        )
