"""Docstrings of a game's environments in Gymnasium's form, generated from its definition."""

from __future__ import annotations

import textwrap

from artus_env.engine.contract.definition import Definition
from artus_env.engine.play.rewards import reward_modes

WIDTH = 100
REWARDS = """\
`"win"`: at the end, w joint winners of n players get (n - w) / (w (n - 1)) each, the others -1 / (n - 1): with two
players +1 and -1, and 0 if all share the win. `"margin"`: at the end, (own {score} - mean of the others) / the scale of
the game. `"{score}"`: the same margin, paid move by move. In each mode the rewards of all players add up to zero."""
VARIANT = """\
* `rules`: {rules}; the first one by default
* `num_players`: {players}
* `reward`: {rewards}
* `components`: a changed box, an instance of `{components}`"""
HISTORY = """\
* v0: first version (rules version {rules_version})"""

AEC = """\
{title}, {players} players, as an AEC environment for PettingZoo.

## Description

{description}

The rules: `help({module})`. The agents are `player_0`, `player_1`, ... in turn order. One step is one decision, so an
agent can act several times in a row.

## Action Space

`Discrete({actions})`, the same ids in every variant. `env.game.move(action)` is the text of a legal action.

## Observation Space

`Dict(observation=Box({features}), action_mask=Box(0, 1, {actions}))`, int8. The observation is what the agent sees,
with the players in turn order from the agent on. The mask is also in the info; it is all zeros for players who aren't
to move and, after the end, for everybody. `state()` is the observations of all players, one after the other.

## Rewards

{reward_text}

## Starting State

`reset(seed=...)` deals as `Game(seed=...)` does. `reset(options={{"start_player": 1}})` names the start player, who is
drawn otherwise; `reset(options={{"position": ...}})` begins at a position (`Game.to_dict`).

## Episode End

The end of the game, for everybody at once (`terminations`); nothing is ever truncated. With `env()` an illegal action
ends the game as well: -1 for the agent that played it, 0 for the others, and `info["illegal_action"]` names it.
`raw_env()` raises `IllegalMoveError` instead, and nothing has changed.

## Arguments

{variant_text}
* `render_mode`: `None`, `"ansi"`, `"rgb_array"` or `"human"` (the last two need the extra `render`)

## Version History

{history}
"""

ENV = """\
One seat of {title}, {players} players, as an environment for Gymnasium; agents play the other seats.

## Description

{description}

The rules: `help({module})`. One step is one decision of the seat. What the opponents do until the seat's next decision
is part of the step.

## Action Space

`Discrete({actions})`, the same ids in every variant. `info["action_mask"]` and `action_masks()` have a 1 for each legal
action, int8, in the form that `action_space.sample` takes.

## Observation Space

`Box({features})`, int8: what the seat sees, with the players in turn order from the seat on. With
`scale_observation=True` float32, small numbers for networks.

## Rewards

The reward of a step is the sum of the seat's rewards until its next decision or the end, so a game that is lost on an
opponent's move pays -1 for the seat's last action. {reward_text}

## Starting State

`reset(seed=...)` deals as `Game(seed=...)` does, and determines the seat, the opponents' decisions and all later
episodes.
Options for one episode: `start_player`, `seat`, and `position` (`Game.to_dict`) to begin at instead of a deal.

## Episode End

The end of the game; nothing is ever truncated. An illegal action ends the episode with a reward of -1, and
`info["illegal_action"]` names it. After the end the mask is all zeros.

## Arguments

{variant_text}
* `seat`: 0 to num_players - 1; `None`: drawn for each episode, see `info["seat"]`
* `opponents`: an agent's name (`"random"`, `"greedy"`, ...), an object with `act(view)`, or a function
  `(observation, action_mask) -> action`: one for all other seats, or a list for the seats that follow in turn order
* `render_mode`: `None`, `"ansi"`, `"rgb_array"` or `"human"` (the last two need the extra `render`)
* `scale_observation`: `True` for float32 observations

## Version History

{history}
"""

VECTOR_ENV = """\
One seat in each of N games of {title}, {players} players, as a vector environment for Gymnasium.

## Description

Game i after `reset(seed=s)` is the game of `{env}` after `reset(seed=s + i)`. Its docstring has the rules of the
spaces, rewards and options. The infos have the form of `gymnasium.vector.SyncVectorEnv`.

## Action Space

`MultiDiscrete`, N times {actions}. `info["action_mask"]` and `action_masks()` have a 1 for each legal action, shape (N,
{actions}), int8; `action_space.sample` takes them as a tuple of rows.

## Observation Space

`Box(N, {features})`, int8; float32 with `scale_observation=True`.

## Rewards

As in `{env}`: shape (N,), float64.

## Starting State

As in `{env}`; options are for all games. `reset(options={{"reset_mask": ...}})` deals only some of them.

## Episode End

Autoreset in three modes. `NextStep` (default): the step after the end deals and ignores the action; the mask before it
is all ones. `SameStep`: the step that ends a game also deals the next one; `info["final_obs"]` and `info["final_info"]`
belong to the end. `Disabled`: call `reset` yourself; its info has the masks of all games. An illegal action ends only
its own game.

## Arguments

* `num_envs`: number of games
* `autoreset_mode`: `"NextStep"`, `"SameStep"` or `"Disabled"`
* `render_mode`: `None`, `"ansi"` or `"rgb_array"` (needs the extra `render`)
* `max_episode_steps`: truncate episodes after this many steps; `None`: never
* all others: as in `{env}`

## Version History

{history}
"""


def docstring(template: str, definition: Definition, module: str, env: str) -> str:
    """Fill in one of the templates above.

    Args:
        module: Full name of the game's module.
        env: Class name of its Gymnasium environment.
    """
    low, high, components = definition.min_players, definition.max_players, definition.standard
    facts = {
        "title": definition.title,
        "score": definition.score,
        "players": f"{low}" if low == high else f"{low} to {high}",
        "rules": ", ".join(f'`"{name}"`' for name in definition.rules),
        "rewards": ", ".join(f'`"{mode}"`' for mode in reward_modes(definition.score)),
        "components": definition.components_type.__name__,
        "rules_version": definition.rules_version,
    }
    text = template.format(
        **facts,
        description=definition.description,
        actions=len(definition.action_table(components)),
        features=len(definition.observation_bounds(components)[0]),
        reward_text=REWARDS.format(**facts),
        variant_text=VARIANT.format(**facts),
        history=HISTORY.format(**facts),
        module=module,
        env=env,
    )
    parts = [part if part.startswith(("* ", "## ")) else textwrap.fill(part, WIDTH) for part in text.split("\n\n")]
    return "\n\n".join(part for part in parts if part)
