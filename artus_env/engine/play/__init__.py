"""Playing of games: one, or a batch of many, with their compiled loops, rewards and records."""
