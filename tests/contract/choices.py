"""What a player is told of another one's choice, against what the game itself lets them know of it afterwards.

After a choice, a player knows what they knew before and what `public_action` tells them of it. So each deal that fits
is one that fitted before, in which a choice that looks the same to them was played; a redeal may give no other. If
`public_action` gives a secret bid away, it does: other cards than the one that they were told lie face down.

To compare positions after two choices wouldn't do: two open moves may lead to the same table.
"""

from __future__ import annotations

import numpy as np

from artus_env import Batch, Game
from artus_env.engine.contract import verbs
from artus_env.engine.play import kernels

DEALS = 500
ENOUGH = 60
"""Deals from before that must fit what a player sees afterwards."""
OFTEN = 0.25
"""How often something must be true afterwards, if it was true in none of these: by chance once in 30 million times."""


def tells_too_much(game: Game, action: int, viewer: int, all_of_it: bool = False) -> bool:
    """Whether a viewer is told more of a legal action than the game says they know when it has been played.

    Told is what `public_action` says, or `all_of_it`, which action it was. It isn't found out where an action opens so
    much that few deals from before fit what the viewer sees then.
    """
    before, fits = after_it(game, action, viewer, alike=not all_of_it)
    truth = game.clone()
    truth.play(action)
    seen = concealed(truth.tables, truth.states, viewer)
    before = before[fits & (bits(concealed(truth.tables, before, viewer)) == bits(seen)).all(axis=1)]
    if len(before) < ENOUGH:
        return False
    after = bits(dealt_anew(truth, viewer, DEALS))
    before = bits(before)
    one, zero = after.mean(axis=0), 1 - after.mean(axis=0)
    return bool((((one >= OFTEN) & ~before.any(axis=0)) | ((zero >= OFTEN) & before.all(axis=0))).any())


def opens_something(game: Game, action: int, viewer: int) -> bool:
    """Whether what a viewer sees when a legal action has been played depends on what they didn't know before."""
    after, _ = after_it(game, action, viewer, alike=False)
    seen = bits(concealed(game.tables, after, viewer))
    return bool((seen != seen[0]).any())


def after_it(game: Game, action: int, viewer: int, alike: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Deals that the viewer can't tell from the truth, when this action or one that looks the same has been played.

    Args:
        alike: Take those that look the same, too.

    Returns:
        States, and which of them count: in others no such action is legal. Shapes (DEALS,).
    """
    batch = Batch(
        DEALS, rules=game.rules, num_players=game.num_players, threads=1, autoreset=False, components=game.components,
        game=game.definition,
    )  # fmt: skip
    batch.states[:] = dealt_anew(game, viewer, DEALS)
    batch.refresh()
    look = [verbs.public_action(game.tables[0], game.state, a, viewer) for a in range(batch.num_actions)]
    meant = np.array(look) == look[action] if alike else np.arange(batch.num_actions) == action
    # Drawn among the legal ones; one that is meant comes before all others.
    chosen = (batch.mask * (np.random.default_rng(action).random(batch.mask.shape) + meant)).argmax(axis=1)
    batch.step(chosen)
    return batch.states, meant[chosen]


def dealt_anew(game: Game, viewer: int, count: int) -> np.ndarray:
    """Copies of a game with all that the viewer doesn't know drawn anew: shape (count,)."""
    states = np.repeat(game.states, count)
    kernels.redeal(game.tables, states, np.arange(count).astype(np.uint64), np.full(count, viewer, np.int8), 0, count)
    return states


def concealed(tables: np.ndarray, states: np.ndarray, viewer: int) -> np.ndarray:
    """Copies of states without what the viewer doesn't know."""
    states = states.copy()
    kernels.hide(tables, states, np.full(len(states), viewer, np.int8), 0, len(states))
    return states


def bits(states: np.ndarray) -> np.ndarray:
    """All bits of states: shape (n, bits), bool."""
    return np.unpackbits(np.frombuffer(states.tobytes(), np.uint8).reshape(len(states), -1), axis=1).astype(bool)
