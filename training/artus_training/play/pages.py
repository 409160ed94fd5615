"""The pages as they are sent: templates with texts in the reader's language."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path

from artus_env.engine.texts import LANGUAGES, language
from artus_training.play.phrases import say

PAGE = Path(__file__).parent / "page"
BY_THE_SERVER = ("error.", "placing.", "trouble.")
"""Beginnings of the keys of texts that no script says: pages are loaded without them."""
ELSEWHERE = {
    "seat.html": (*BY_THE_SERVER, "front.", "host.", "level.", "played.", "start."),
    "host.html": (*BY_THE_SERVER, "front.", "played."),
}
"""What else a page's scripts don't say."""


def page(name: str) -> str:
    """A page in the language that is spoken now: `{{key}}` becomes a text, `{{texts}}` those that its scripts say."""
    texts = say.without(*ELSEWHERE.get(name, BY_THE_SERVER))
    parts = {"language": language(), "texts": embedded(texts), "languages": _languages()}
    template = (PAGE / name).read_text(encoding="utf-8")
    return re.sub(r"\{\{([\w.-]+)\}\}", lambda place: parts.get(place[1]) or escape(say(place[1])), template)


def embedded(data: object) -> str:
    """Data as JSON for a script element, with escapes so that nothing in it can end the element."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


def _languages() -> str:
    """A choice of languages, each called by its own name."""
    options = [
        f'<option value="{name}" lang="{name}"{" selected" if name == language() else ""}>{title}</option>'
        for name, title in LANGUAGES.items()
    ]
    return f'<select id="language" aria-label="{escape(say("language.choose"))}">{"".join(options)}</select>'
