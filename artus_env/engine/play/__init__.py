"""Games that are played: one, or a batch of many, with their compiled loops, rewards and records."""
