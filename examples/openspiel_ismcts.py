"""OpenSpiel's ISMCTS plays against random moves: `python examples/openspiel_ismcts.py --game royal --minutes 2`.

`artus_env.openspiel.load` makes any game an OpenSpiel game. The search needs possible hidden states: `resampler`
redraws everything that the player to move doesn't know.
"""

import argparse
import time

import numpy as np
from open_spiel.python.algorithms.ismcts import ISMCTSBot

from artus_env import openspiel


class Playouts:
    """Evaluates a position by random play on `Game`, which is faster than on OpenSpiel's states."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def evaluate(self, state):
        end = state.clone()
        while not end.game.over:
            legal = end.game.legal_actions()
            end.game.play(legal[self.rng.integers(len(legal))])
        return end.returns()

    def prior(self, state):
        legal = state.legal_actions()
        return [(action, 1 / len(legal)) for action in legal]


def make_bot(game, simulations, seed):
    bot = ISMCTSBot(
        game, Playouts(seed), uct_c=1.5, max_simulations=simulations, random_state=np.random.RandomState(seed)
    )
    # Without a resampler the search would call OpenSpiel's `resample_from_infostate`, which games in Python can't have.
    # OpenSpiel's C++ bot takes no resampler in Python.
    bot.set_resampler(openspiel.resampler(seed))
    return bot


def play(game, bots):
    """Play one game: `bots` choose for their seats, all others at random. Returns the reward of each seat."""
    rng = np.random.default_rng(game.rng.integers(2**53))
    state = game.new_initial_state()
    state.apply_action(0)  # the deal
    while not state.is_terminal():
        bot = bots.get(state.current_player())
        state.apply_action(int(bot.step(state) if bot else rng.choice(state.legal_actions())))
    return state.returns()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--game", default="artus", help="artus, royal, quest or any other that is installed")
    parser.add_argument("--minutes", type=float, default=3.0, help="how long it plays")
    parser.add_argument("--simulations", type=int, default=100, help="trials for each decision")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    game = openspiel.load(options.game, seed=options.seed)
    bot = make_bot(game, options.simulations, options.seed)
    started, rewards = time.monotonic(), []
    while time.monotonic() - started < 60 * options.minutes:
        for seat in (0, 1):
            rewards.append(play(game, {seat: bot})[seat])
        print(f"{len(rewards)} games, {np.mean(rewards):+.2f} paid on average", flush=True)
    won, drawn = np.mean(np.array(rewards) > 0), np.mean(np.array(rewards) == 0)
    per_game = (time.monotonic() - started) / len(rewards)
    print(f"won {won:.1%} of {len(rewards)} games against random (drawn {drawn:.1%}), {per_game:.1f} s a game")


if __name__ == "__main__":
    main()
