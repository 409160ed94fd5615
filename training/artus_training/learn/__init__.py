"""Training of agents: self-play PPO in `ppo`, Stable-Baselines3 for comparison in `sb3`, and code that both use."""
