"""Definition of a game, and the tools for its rules: verbs, components, bits, random numbers."""
