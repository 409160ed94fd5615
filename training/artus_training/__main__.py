"""`python -m artus_training` is `artus`."""

from artus_training.cli import run

run()
