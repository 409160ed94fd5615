"""Agents: their view of games, their names, and matches between them."""
