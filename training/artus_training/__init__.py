"""Training, evaluation and the command line.

One subpackage for each task: `learn` trains agents; `arena` lets them play each other and rates them, with `workers` to
divide the games among processes; `report` writes the report of a tournament, `people` rates people, `replays` shows
recorded games; `play` lets people play with agents, and `bench` measures speed. `cli` is the entry point, `games` has
the commands about installed games; several subpackages use the other modules here.
"""
