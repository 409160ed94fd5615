"""`python -m artus_env.testing GAME`: run the checks of an installed game."""

import argparse
import time

from artus_env.testing import check_game, check_no_leaks, check_resampling

parser = argparse.ArgumentParser(prog="python -m artus_env.testing", description="Check an installed game.")
parser.add_argument("game", help="name of the game, such as royal")
parser.add_argument(
    "--states", type=int, default=20_000, help="number of states for check_no_leaks and check_resampling"
)
parser.add_argument("--seed", type=int, default=1, help="seed of all random numbers of these two checks")
options = parser.parse_args()
start = time.monotonic()
for name, check in (
    ("check_game", lambda: check_game(options.game)),
    ("check_no_leaks", lambda: check_no_leaks(options.game, states=options.states, seed=options.seed)),
    ("check_resampling", lambda: check_resampling(options.game, states=options.states, seed=options.seed)),
):
    result = check()
    print(f"{name}: no finding, after {time.monotonic() - start:.0f} s {result or ''}".rstrip(), flush=True)
