"""Expert iteration: a search shows the network what it misses, and the network searches better with what it has learnt.

To be read in this order: `settings`, what self-play hands to the learner (`games`), the self-play of actors
(`selfplay`), the `gradient` of the policy's loss, the `trainer`, its `checkpoint`, a whole training (`train`), and the
`command`.
"""
