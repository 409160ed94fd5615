"""Fuzzers: damaged input for all code that reads files, requests or answers of others. See `fuzz.run`.

Each input follows from a seed, the target's name and a number, so any input can be repeated alone.
"""
