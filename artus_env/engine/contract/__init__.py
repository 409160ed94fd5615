"""What a game is, and what its rules are written with: the definition, verbs, components, bits, random numbers."""
