"""Play in the browser: `artus play` serves games between people and agents.

None of this knows any game: `of_game` says what one may bring, `words` and `plain` stand in for what it doesn't.
`hosted` holds a running game, `store` keeps it on disk, `sight` says what a seat may see of it, `thinking` lets agents
move and searches for hints, `server` answers the pages in `page`, `command` is the command.
"""
