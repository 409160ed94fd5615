"""View positions, recorded games and learning curves."""
