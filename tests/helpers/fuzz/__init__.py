"""Fuzzers: damaged input for everything that reads what others have written. See `fuzz.run`.

Each input follows from a seed, the target's name and a number, so that any of them can be tried again alone.
"""
