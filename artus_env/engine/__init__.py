"""Engine for turn-based games with hidden hands: compiling, random numbers, batches, records, environments.

Nothing in this folder knows the rules of a particular game; each game supplies a `Definition`.
"""
