"""Agents learn: self-play PPO in `ppo`, Stable-Baselines3 for comparison in `sb3`, and what both trainers share."""
