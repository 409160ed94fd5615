"""What is said of the game, in every language: the catalogues in `texts`, which its script reads as well."""

from pathlib import Path

from artus_env.pictures import Texts

say = Texts(Path(__file__).parent / "texts")
