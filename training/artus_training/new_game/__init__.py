"""`artus new-game`: a package with a small game, as the start of another game."""
