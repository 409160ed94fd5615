"""What people see of the game: pictures, sentences, hints, a tutorial, and what its script in the browser gets."""

from pathlib import Path

from artus_env.pictures import Texts

say = Texts(Path(__file__).parent / "texts")
"""The texts of the folder `texts`, in the language that is spoken; the page's script reads the same files."""
