"""Positions and recorded games: as text, as a page, as a GIF."""
