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
        self.closer = SignTest(one_sided=True)
        self.names = [f"player {player}" for player in range(walk.variant.num_players)]

    def run(self) -> NoLeaks:
        walk, secret = self.walk, has_secrets(self.walk)
        compared = written = changed = drawn = 0
        for now in walk.rounds(self.states):
            if compared >= self.states:
                break
            others = walk.resampled(now.before, now.viewers)
            compared += len(others)
            changed += int((as_bytes(others) != as_bytes(now.before)).any(axis=1).sum())
            self.compare_states(now, others)
            self.compare_actions(now, others)
            if secret:
                self.compare_secrets(now)
            self.count_closer(now, others)
            due = min(len(others), -(-self.texts * compared // self.states) - written)
            for i in walk.numbers(max(0, due), len(others)):
                self.compare_texts(now, others, int(i))
                if drawn < -(-self.pictures * compared // self.states):
                    self.compare_pictures(now, others, int(i))
                    drawn += 1
                written += 1
        p, _, (bit,), more, less = worst({"closer": self.closer})
        expect(
            p >= self.error_rate,
            "`public_action` or `is_revealed` tells more than the state does afterwards: deals that fit what was "
            f"told have bit {bit} of the true state {more} times where resampled ones don't, and {less} times the "
            f"other way round (p < {p:.1g})",
        )
        return NoLeaks(compared, written, changed)

    def compare_states(self, now: Round, others: np.ndarray) -> None:
        walk, states, viewers = self.walk, now.before, now.viewers
        for name in ("player", "num_players", "rule_set", "scores"):
            self.same(f"`{name}` depends", now, others, states[name], others[name])
        self.same(
            "the observation depends", now, others, walk.observed(states, viewers), walk.observed(others, viewers)
        )
        self.same("whether the game is over depends", now, others, walk.over(states), walk.over(others))
        self.same("what `hide` leaves depends", now, others, walk.hidden(states, viewers), walk.hidden(others, viewers))
        self.same("what ranks the players depends", now, others, walk.ranks(states), walk.ranks(others))

    def compare_actions(self, now: Round, others: np.ndarray) -> None:
        walk, count = self.walk, len(others)
        moves = (now.before["player"] == now.viewers)[:, None]
        self.same("legal actions depend", now, others, now.legal * moves, walk.legal(others) * moves)
        names = ("public_action", "points_of", "greedy_value")
        differences = np.zeros((len(names), count), np.int64)
        walk.run(loops.first_differences, now.before, others, now.viewers, now.legal, *differences)
        for name, found in zip(names, differences, strict=True):
            which = np.flatnonzero(found >= 0)
            if len(which):
                self.fail(f"`{name}` of {walk.named(int(found[which[0]]))} depends", now, others, int(which[0]))

    def compare_secrets(self, now: Round) -> None:
        """Check that two actions that look the same to the viewer lead to states that look the same."""
        walk, viewers = self.walk, now.viewers
        others, played = walk.played_alike(now, now.before)
        differ = (walk.hidden(now.after, viewers) != walk.hidden(others, viewers)).any(axis=1)
        differ &= (played != now.actions) & (played >= 0) & (now.after["scores"] == others["scores"]).all(axis=1)
        differ &= ~walk.over(now.after)
        for i in np.flatnonzero(differ)[:MOVES]:
            if not self.shows_hidden(now, int(i)):
                one, other = walk.named(int(now.actions[i])), walk.named(int(played[i]))
                fail(
                    f"`public_action` hides what everybody sees: {one} and {other} look the same to player "
                    f"{viewers[i]}, but the states that follow don't{walk.described(now.after[i], others[i])}"
                )

    def shows_hidden(self, now: Round, i: int) -> bool:
        """Whether the viewer's view after an action depends on what they didn't know before."""
        walk, viewers = self.walk, np.full(DEALS, now.viewers[i])
        states = walk.resampled(np.repeat(now.before[i : i + 1], DEALS), viewers)
        actions = np.full(DEALS, now.actions[i])
        word, bit = divmod(int(now.actions[i]), 64)
        legal = walk.legal(states)[:, word] >> np.uint64(bit) & np.uint64(1) == 1
        seen = walk.hidden(walk.played(states[legal], actions[legal]), viewers[legal])
        return bool((seen != seen[:1]).any())

    def count_closer(self, now: Round, others: np.ndarray) -> None:
        """Count which deals match the true state better: deals in which the player has seen the same action, or the
        same deals resampled. Both are drawn from what the player knows."""
        walk = self.walk
        others, played = walk.played_alike(now, others)
        kept = (played >= 0) & ~now.opened & (now.before["player"] != now.viewers)
        alike, truths, viewers = others[kept], now.after[kept], now.viewers[kept]
        if not len(alike):
            return
        truth, first, second = (as_bits(states) for states in (truths, alike, walk.resampled(alike, viewers)))
        self.closer.add(first == truth, second == truth)

    # --- texts: one state at a time ---

    def compare_texts(self, now: Round, others: np.ndarray, i: int) -> None:
        walk, viewer = self.walk, int(now.viewers[i])
        definition, components = walk.definition, walk.components
        one, other = now.before[i : i + 1], others[i : i + 1]

        def same(what: str, text: Callable[[np.ndarray], Any]) -> Any:
            written = text(one)
            if text(other) != written:
                self.fail(f"{what} depends", now, others, i)
            return written

        position = same("`to_dict(player)`", lambda states: definition.to_dict(states[0], components, viewer))
        expect(json.loads(json.dumps(position)) == position, "`to_dict(player)` is no plain data")
        same("the text of the position", lambda states: definition.render(states, components, viewer, None))
        taken = int(now.actions[i])
        if taken < 0:
            return
        if int(one[0]["player"]) != viewer:
            word, bit = divmod(taken, 64)
            in_other = int(walk.legal(other)[0, word]) >> bit & 1
            seen = verbs.is_seen(walk.tables[0], one[0], taken, viewer, walk.num_actions)
            if seen and in_other:
                move = same("the text of a move that they see", partial(self.move, taken))
                self.compare_played(now, others, i, move)
            return
        legal = [a for a in range(walk.num_actions) if int(now.legal[i, a // 64]) >> a % 64 & 1]
        moves = {a: same(f"the text of {walk.named(a)}", partial(self.move, a)) for a in legal}
        start = taken % len(legal)
        for action in (legal[start:] + legal[:start])[:MOVES]:
            self.compare_choice(same, position, action, moves[action])

    def move(self, action: int, states: np.ndarray) -> str:
        return self.walk.definition.move_text(action, states, self.walk.components, self.walk.tables)

    def compare_choice(self, same: Callable[..., Any], position: Any, action: int, move: str) -> None:
        """Compare texts about a legal move, written for its player before it is played."""
        walk, definition = self.walk, self.walk.definition
        foreseen = None
        if definition.browser is not None and definition.browser.foreseeable(move):

            def after(states: np.ndarray) -> Any:
                state = walk.played(states, np.array([action]))[0]
                return definition.to_dict(state, walk.components, int(states[0]["player"]))

            foreseen = same(f"what is foreseen of {move}", after)
        if (sentences := definition.sentences) is not None:

            def choice(states: np.ndarray) -> Any:
                known = foreseen and after(states)
                return sentences.choice(position, move, known, self.names, walk.components)

            same(f"the sentence about {move}", choice)

    def compare_played(self, now: Round, others: np.ndarray, i: int, move: str) -> None:
        """Compare sentences about another player's move, if the viewer sees the same result in both states."""
        walk, viewer, definition = self.walk, int(now.viewers[i]), self.walk.definition
        if definition.sentences is None:
            return
        action = now.actions[i : i + 1]
        results = []
        for states in (now.before[i : i + 1], others[i : i + 1]):
            before = definition.to_dict(states[0], walk.components, viewer)
            after = definition.to_dict(walk.played(states, action)[0], walk.components, viewer)
            results.append(
                (after, definition.sentences.played(before, move, after, viewer, self.names, walk.components))
            )
        if results[0][0] == results[1][0] and results[0][1] != results[1][1]:
            self.fail(f"the sentence about {move} depends", now, others, i)

    def compare_pictures(self, now: Round, others: np.ndarray, i: int) -> None:
        walk, viewer = self.walk, int(now.viewers[i])
        one, other = (
            draw(walk.definition, states[i : i + 1], walk.components, viewer) for states in (now.before, others)
        )
        if one != other:
            self.fail("the picture depends", now, others, i)

    # --- findings ---

    def same(self, what: str, now: Round, others: np.ndarray, one: np.ndarray, other: np.ndarray) -> None:
        different = (one != other).reshape(len(one), -1).any(axis=1)
        if different.any():
            self.fail(what, now, others, int(np.flatnonzero(different)[0]))

    def fail(self, what: str, now: Round, others: np.ndarray, i: int) -> None:
        fail(
            f"{what} on what player {now.viewers[i]} doesn't know: it differs in two states that should look the same "
            f"to them{self.walk.described(now.before[i], others[i])}"
        )
