"""What tests of the King's quests share."""
