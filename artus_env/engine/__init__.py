"""What any turn-based game with hidden hands needs: compiling, random numbers, batches, records, environments.

Nothing in this folder knows the rules of a particular game; a game hands in a `Definition`.
"""
