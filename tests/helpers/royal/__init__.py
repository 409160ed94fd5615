"""Helpers for the tests of the royal card game."""
