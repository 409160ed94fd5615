"""Self-play PPO: all seats of all games learn at once.

Read the modules in this order: `settings`, advantage estimation (`estimate`), the `gradient` of the policy's loss, the
buffers of decisions (`rollout`), the players of each seat (`seating`), the `trainer`, its `checkpoint`, a whole
training (`train`), and the commands (`command`).
"""
