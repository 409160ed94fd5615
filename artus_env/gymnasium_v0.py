"""Artus for Gymnasium: `gymnasium.make("artus_env:Artus-v0")` and
`gymnasium.make_vec("artus_env:Artus-v0", num_envs=64)`."""

from __future__ import annotations

from artus_env.default import Batch
from artus_env.engine.envs.gym_env import GameEnv
from artus_env.engine.envs.vector_env import GameVectorEnv


class ArtusEnv(GameEnv):
    """One seat at the board game Artus; agents play the others.

    ## Description

    Knights and princes sit at a round table that turns with the King: what a seat is worth depends on how far behind
    the King it is, and a move pays the value of the seat that is left. Each player plays the same 22 cards (16 in the
    beginner game): move a knight, move a prince or the King, give a ring, or, in the advanced game, score knights where
    they are. Most prestige wins. Hands and piles are hidden.

    One step is one decision of the seat (place a knight, play a card with all its choices, draw from a pile); what the
    opponents do until its next decision happens within the step.

    ## Action Space

    `Discrete(NUM_ACTIONS)`, the same ids in every variant. An action names a card, a figure by its place behind the
    King and a number of steps. The legal ones: `info["action_mask"]` or `action_masks()`, int8, as
    `action_space.sample` takes them.

    ## Observation Space

    `Box(OBSERVATION_SIZE)`, int8, seen from the seat: players in turn order from it, seats by their distance behind the
    King. With `scale_observation=True` it is times `OBSERVATION_SCALE`, in small float32 numbers, as networks want it.

    ## Rewards

    The seat's own, for all that happened until its next decision or the end, so that a game lost on an opponent's move
    brings its -1 to the seat's last action. `"win"`: at the end, w joint winners of n players get
    (n - w) / (w (n - 1)) each, the others -1 / (n - 1); with two players +1 and -1, all tied 0. `"margin"`: at the end,
    (own prestige - mean of the others) / 100. `"prestige"`: the same margin, paid move by move.

    ## Starting State

    A random deal: the start player is drawn, the piles are shuffled, no knight is placed yet. `reset(seed=...)` gives
    the deal of `Game(seed=...)` and settles the seat, the opponents' decisions and all later episodes as well. Options
    for
    one episode: `start_player`, `seat`, and `position` (`Game.to_dict`) to begin at instead of a deal.

    ## Episode End

    When all hands are played; nothing is ever truncated. An illegal action ends the episode too, with a reward of -1,
    and `info["illegal_action"]` names it. After the end the mask is all zeros.

    ## Arguments

    * `rules`: `"beginner"` or `"advanced"`
    * `num_players`: 2 to 4
    * `seat`: 0 to num_players - 1, or `None`: drawn for each episode; `info["seat"]` tells which
    * `opponents`: an agent's name (`"random"`, `"greedy"`, ...), an object with `act(view)`, or a function
      `(observation, action_mask) -> action`: one for all other seats, or a list for those clockwise from the seat
    * `reward`: `"win"`, `"margin"` or `"prestige"`, which is also called `"points"`
    * `components`: a changed box, see `Components`
    * `render_mode`: `None`, `"ansi"`, `"rgb_array"` or `"human"` (the last two need the extra `render`)
    * `scale_observation`: `True` for float32 observations

    ## Version History

    * v0: first version
    """

    batch_class = Batch
    metadata = {"render_modes": ["human", "rgb_array", "ansi"], "render_fps": 2}


class ArtusVectorEnv(GameVectorEnv):
    """One seat in each of many games of Artus: what `ArtusEnv` says holds for each of them.

    ## Description

    Game i of `reset(seed=s)` is the game of `ArtusEnv` after `reset(seed=s + i)`. The infos have the form of
    `gymnasium.vector.SyncVectorEnv`.

    ## Action Space

    `MultiDiscrete`, N times `NUM_ACTIONS`. The legal ones: `info["action_mask"]` or `action_masks()`, shape
    (N, NUM_ACTIONS), int8; `action_space.sample` takes them as a tuple of rows.

    ## Observation Space

    `Box(N, OBSERVATION_SIZE)`, int8, or float32 with `scale_observation=True`.

    ## Rewards

    As in `ArtusEnv`: shape (N,), float64.

    ## Starting State

    As in `ArtusEnv`; options hold for all games. `reset(options={"reset_mask": ...})` deals only some anew.

    ## Episode End

    Autoreset in three modes. `NextStep` (default): the step after the end deals anew and ignores the action; the mask
    before it is all ones. `SameStep`: the step that ends a game deals anew at once; `info["final_obs"]` and
    `info["final_info"]` tell of the end. `Disabled`: call `reset` yourself; its info has the masks of all games. An
    illegal action ends only its own game.

    ## Arguments

    * `num_envs`: how many games
    * `autoreset_mode`: `"NextStep"`, `"SameStep"` or `"Disabled"`
    * `render_mode`: `None`, `"ansi"` or `"rgb_array"` (needs the extra `render`)
    * `max_episode_steps`: truncate episodes after this many steps; `None`: never
    * all others: as in `ArtusEnv`

    ## Version History

    * v0: first version
    """

    batch_class = Batch
    metadata = {"render_modes": ["rgb_array", "ansi"], "render_fps": 2}
