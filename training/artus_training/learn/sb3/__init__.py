"""MaskablePPO of sb3-contrib on the same games: what `artus train` is compared with."""
