"""Play in the browser: `artus play` serves games between people and agents.

`table` holds a running game, `store` keeps it on disk, `sight` says what a seat may see of it, `words` puts it in plain
language, `thinking` lets agents move and search for hints, `server` answers the pages in `page`, `command` is the
command.
"""
