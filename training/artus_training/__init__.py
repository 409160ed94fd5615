"""Training, evaluation and the command line.

One room for each thing that is done with agents: they `learn`, meet in the `arena`, are there to `watch`, `play` with
people, and their speed is measured on the `bench`. `cli` stands on top, and what all rooms share lies beside it.
"""
