"""Helpers for the tests of By order of the King."""
