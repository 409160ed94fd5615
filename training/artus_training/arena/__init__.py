"""Agents play each other: evaluations, tournaments, ratings."""
