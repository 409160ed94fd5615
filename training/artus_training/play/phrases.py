"""Texts of the play page in every language: the catalogues in `texts`, which its scripts use as well."""

from pathlib import Path

from artus_env.engine.drawing.translations import Texts

say = Texts(Path(__file__).parent / "texts")
