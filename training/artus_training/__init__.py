"""Training, evaluation and the command line.

One subpackage for each task: `learn` trains agents, `arena` rates them, `watch` shows games and curves, `play` lets
people play with agents, `bench` measures speed. `cli` is the entry point; the other modules here are shared.
"""
