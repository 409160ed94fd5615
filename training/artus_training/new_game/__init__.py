"""`artus new-game`: a package with a small game, to be made into another one."""
