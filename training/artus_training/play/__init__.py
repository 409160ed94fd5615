"""Play in the browser: `artus play` serves games between people and agents.

These modules contain no rules. `hosted` holds a running game, `store` keeps it on disk, `view` selects the data that a
seat may see, `texts` has the texts of the pages, `agent_moves` lets agents move, `forecast` computes hints and reviews,
`server` answers the pages in `page`, and `command` is the command line.
"""
