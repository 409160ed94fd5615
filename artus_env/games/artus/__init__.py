"""Artus itself: the box, the rules, what players see. Everything that knows this game's rules lives in this folder."""
