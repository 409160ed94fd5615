"""MaskablePPO of sb3-contrib on the same games, for comparison with `artus train`."""
