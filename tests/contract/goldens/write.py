"""Write the golden games anew: `python tests/contract/goldens/write.py GAME`. Only when rules change on purpose.

The file has one line for each variant: the record of one random game, and the position at its end.
"""

import json
import random
import sys
from pathlib import Path

from artus_env import Game
from artus_env.engine.contract.registry import find_game


def main(name: str) -> None:
    definition = find_game(name)
    lines = []
    for rules in definition.rules:
        for players in range(definition.min_players, definition.max_players + 1):
            choices = random.Random(f"{rules}-{players}")
            game = Game(rules, players, seed=2004, game=name)
            while not game.over:
                game.play(choices.choice(game.moves()))
            golden = {"record": json.loads(game.record()), "end": game.to_dict()}
            lines.append(json.dumps(golden, separators=(",", ":")) + "\n")
    (Path(__file__).parent / f"{name}.jsonl").write_text("".join(lines))


if __name__ == "__main__":
    main(sys.argv[1])
