"""Tests of the King's quests."""
