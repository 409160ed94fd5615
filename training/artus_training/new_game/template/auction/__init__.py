"""Auction, a game for artus_env."""
