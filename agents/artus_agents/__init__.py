"""Players of Artus: random and greedy."""
