"""Self-play PPO: all seats of all games learn at once.

To be read in this order: `settings`, how good each decision was (`estimate`), the `gradient` of the policy's loss,
what is collected (`rollout`), who holds which seat (`seating`), the `trainer`, its `checkpoint`, a whole training
(`train`), and the commands (`command`).
"""
