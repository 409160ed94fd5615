"""Play in the browser: `artus play` serves games between people and agents.

None of this knows any game: what has to be known of one, `of_game` asks its definition, and `words` and `plain` stand
in for what that doesn't have. `table` holds a running game, `store` keeps it on disk, `sight` says what a seat may see
of it, `thinking` lets agents move and searches for hints, `server` answers the pages in `page`, `command` is the
command.
"""
