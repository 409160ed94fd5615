"""Players of any game, from random to trained networks that search."""

WEIGHTS, CARD = ".safetensors", ".json"
"""How the names of a saved agent's files end (see `saved`, which needs torch: these don't)."""
