"""What the play page says, in every language: the catalogues in `texts`, which its scripts read as well."""

from pathlib import Path

from artus_env.engine.drawing.translations import Texts

say = Texts(Path(__file__).parent / "texts")
