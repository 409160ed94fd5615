"""Observations compared with a second implementation that reads the known position."""

import random

from artus_env import Game


def flags(size, *numbers):
    """Flags that are 1 at these indices."""
    return [int(number in numbers) for number in range(size)]


def check_observations(definition, rules, num_players, expected):
    """Play four random games, and compare each feature as one or two players see it with `expected(position, viewer)`,
    the blocks by name. Return the phases of the positions."""
    choices = random.Random(num_players)
    low, high = definition.observation_bounds(definition.standard)
    phases = set()
    for seed in range(4):
        game = Game(rules, num_players, seed, game=definition)
        while True:
            phases.add(game.to_dict()["phase"])
            for viewer in {game.player, choices.randrange(num_players)}:
                observation = game.observation(viewer)
                blocks = expected(game.to_dict(viewer), viewer)
                start = 0
                for block in definition.layout(definition.standard).features:
                    seen = observation[start : start + block.size].tolist()
                    assert seen == blocks[block.name], f"{block.name}: {seen}, expected {blocks[block.name]}"
                    start += block.size
                assert start == len(observation)
                assert ((low <= observation) & (observation <= high)).all()
            if game.over:
                break
            game.play(choices.choice(game.legal_actions()))
    return phases
