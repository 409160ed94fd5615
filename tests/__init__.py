"""Tests, in folders named like what they test. `helpers` is on the path of imports; no folder here is a package, so
that `tests/artus_env` never stands for `artus_env`."""
