"""Players of any game, from random to trained networks that search."""

import artus_env  # noqa: F401  # before torch: it says how OpenMP's threads wait, which torch reads when it is imported

WEIGHTS, CARD = ".safetensors", ".json"
"""How the names of a saved agent's files end (see `saved`, which needs torch: these don't)."""
