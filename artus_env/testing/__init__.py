"""Checks for games, including your own; they don't need pytest.

    from artus_env.testing import check_game, check_no_leaks, check_resampling

    def test_the_contract():
        check_game(MY_GAME)  # a Definition, or the name of an installed game

- `check_game` plays random games through all interfaces and checks rules, texts, positions, records and environments.
  It ends with short runs of the other two.
- `check_no_leaks` compares states that differ only in what a player doesn't know: everything shown to this player must
  be the same.
- `check_resampling` checks that `resample_hidden` is consistent with what the player knows, uniform, and never draws
  the true state more often than chance, by exact sign tests with a stated error rate.

Each raises an AssertionError with variant, seed, player and reason, and positions as JSON for `Game.from_dict`. The
same seed gives the same result. A million states take about a minute of one core for `check_no_leaks` and
`check_resampling` together, or longer if more texts are compared:

    python -m artus_env.testing royal --states 1000000
"""

from artus_env.testing.contract import check_game
from artus_env.testing.no_leaks import check_no_leaks
from artus_env.testing.resampling import check_resampling

__all__ = ["check_game", "check_no_leaks", "check_resampling"]
