"""Page of the game: pictures, sentences, hints, a tutorial, and data for its script in the browser."""

from pathlib import Path

from artus_env.pictures import Texts

say = Texts(Path(__file__).parent / "texts")
"""Texts of the folder `texts` in the current language; the page's script reads the same files."""
