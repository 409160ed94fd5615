"""Write the golden games again, for an intended change of the rules only:
`python tests/artus_env/games/artus/golden/write.py`.

Two games of each variant: one from the deal, one from a crowded table on which every prince has two rings.
"""

import json
import random
import sys
from pathlib import Path

from artus_env import Game

GOLDEN = Path(__file__).parent
sys.path.insert(0, str(GOLDEN.parents[3] / "helpers"))
from positions import position  # noqa: E402 - found among the helpers

CROWNS = {
    2: "A  B  .  A  s2 B  .  | A  .  B  .  A  b2 B  | .  A  .  B  .  .  Ks | b2 .  .  .  .  .  .",
    3: "A  B  C  A  s2 B  C  | A  .  B  C  A  b2 B  | C  A  .  B  C  .  Ks | b2 .  .  .  .  .  .",
    4: "A  B  C  D  s2 .  .  | .  A  B  C  D  b2 .  | .  .  A  B  C  D  Ks | b2 .  .  A  B  C  D",
}


def main() -> None:
    final = {}
    for rules in ("beginner", "advanced"):
        for players in (2, 3, 4):
            name = f"{rules}-{players}"
            choices = random.Random(name)
            crowded = position(CROWNS[players], rules=rules, rounds=0, start=1, turn=1, shuffle=choices)
            games = [Game(rules=rules, num_players=players, seed=2011), Game.from_dict(crowded)]
            for game in games:
                while not game.over:
                    game.play(choices.choice(game.moves()))
            (GOLDEN / f"{name}.jsonl").write_text("".join(game.record(["random"] * players) + "\n" for game in games))
            final[name] = [game.to_dict() for game in games]
    (GOLDEN / "final_positions.json").write_text(json.dumps(final, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
