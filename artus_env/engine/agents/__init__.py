"""How agents see games, how they are found by name, and how they play each other."""
