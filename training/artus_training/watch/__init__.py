"""Positions, recorded games and learning curves to look at."""
