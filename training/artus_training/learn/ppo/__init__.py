"""Self-play PPO: all seats of all games learn at once."""
