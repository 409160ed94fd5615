"""Tests of the royal card game alone. A package, because its files are named like those of other games."""
