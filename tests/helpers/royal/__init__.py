"""What tests of the royal card game share."""
