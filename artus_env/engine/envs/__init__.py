"""Games as environments for PettingZoo and Gymnasium."""
