"""Agents for any game, from random ones to trained networks that search."""

WEIGHTS, CARD = ".safetensors", ".json"
"""File name suffixes of a saved agent. Defined here because `saved` needs torch."""
