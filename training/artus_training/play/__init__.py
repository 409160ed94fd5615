"""Play in the browser: `artus play` serves games between people and agents.

These modules contain no rules. `of_game` reads the optional page content of a game, `words` and `plain` replace what it
lacks. `hosted` holds a running game, `store` keeps it on disk, `sight` selects the data that a seat may see, `thinking`
lets agents move, `forecast` computes hints and reviews, `server` answers the pages in `page`, and `command` is the
command line.
"""
