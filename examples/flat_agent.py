"""An agent that plays possible deals to the end at random: `python examples/flat_agent.py`."""

import numpy as np

from artus_env import Batch
from artus_training.arena.evaluate import evaluate


class Flat:
    """Plays each legal action in some possible deals, then at random to the end, and takes what wins most."""

    deals = 4

    def act(self, view):
        return np.array([self.choose(view.part(np.array([game]))) for game in range(len(view))])

    def choose(self, view):  # a view of one game
        legal = np.flatnonzero(view.mask[0])
        if len(legal) == 1:
            return legal[0]
        seeds = view.keys[0] + np.arange(self.deals, dtype=np.uint64)
        states = np.concatenate([view.redeal(seeds[[deal]]) for deal in range(self.deals)])
        batch = Batch(
            self.deals * len(legal), rules=view.rules, num_players=view.num_players, seed=int(view.keys[0]),
            threads=1, autoreset=False, components=view.components, game=view.definition,
        )  # fmt: skip
        batch.states[:] = np.repeat(states, len(legal))  # each deal once for each action
        batch.refresh()
        rewards = np.zeros(len(batch))
        actions = np.tile(legal, self.deals)
        while not batch.done.all():
            reward, _ = batch.step(actions)
            rewards += reward[:, view.player[0]]
            actions = batch.sample()
        return legal[rewards.reshape(self.deals, -1).sum(axis=0).argmax()]


result = evaluate([Flat(), "random"], games=10)
print(result)
assert result.win_rate > 0.7
