"""People's games, and their ratings on the scale of the agents."""
