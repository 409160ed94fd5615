"""A recorded game as a film: a GIF, or one HTML page to step through. Pictures come from `Game.svg`."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from artus_env import Game
from artus_env.engine.basics.reading import printable
from artus_env.engine.basics.wording import signed
from artus_env.engine.basics.writing import check_writable, write_atomically
from artus_env.engine.drawing.render import image
from artus_env.engine.drawing.svg import shortened
from artus_env.engine.drawing.translations import Texts, language
from artus_env.engine.play import records
from artus_training.templates import templates_in

say = Texts(Path(__file__).parent / "texts")
TEMPLATES = templates_in(Path(__file__).parent)

GIF_WIDTH = 800
"""In pixels. All frames are in memory at once."""
FPS = 3.0
"""Moves per second."""
LAST_FRAME_SECONDS = 4.0
LONGEST_NAME = 40
COLOURS = 160
"""Colours of the GIF, shared by all frames. Some of the 256 must stay free, for unchanged pixels."""
PALETTE_FRAMES = 8
"""Number of frames from which the palette is computed."""
NEAR = 10
"""Difference in each colour channel up to which two colours count as close."""
EDGE = 5
"""Pixels from the upper edge of a frame to its background."""


def pictures(line: str | bytes, player: int | None = None, theme: str = "auto", layout: str = "wide") -> Iterator[str]:
    """The pictures (SVG) of a recorded game, from its first position on; with `player`, as that player saw it."""
    record = records.read(line)
    names = record.players and list(map(printable, record.players))
    full_game = Game.replay(line)
    game, last = full_game.first(), len(full_game.actions_played)
    for count in range(last + 1):
        if count:
            game.play(full_game.actions_played[count - 1])
        yield game.svg(player, names=names, note=say("note", number=count, all=last), theme=theme, layout=layout)


def write_gif(path: Path, line: str | bytes, player: int | None = None) -> int:
    """Write a recorded game as an endless GIF with light colours. Returns the number of frames.

    Raises:
        DependencyNotInstalled: Without the extra `render`.
        ValueError: If the file name doesn't end in `.gif`.
        OSError: If it can't be written.
    """
    if path.suffix.lower() != ".gif":
        raise ValueError(f"the name of a film must end in .gif, got {path.name}")
    check_writable(path)
    svgs = list(pictures(line, player, "light"))
    palette = _palette(svgs, Game.replay(line).definition.colours("light"))
    from PIL.Image import Dither  # Pillow is installed: images have been made

    frames = [image(svg, GIF_WIDTH).quantize(palette=palette, dither=Dither.NONE) for svg in svgs]
    frames = [_padded(frame, max(frame.height for frame in frames)) for frame in frames]
    times = [round(1000 / FPS)] * (len(frames) - 1) + [round(1000 * LAST_FRAME_SECONDS)]
    content = io.BytesIO()
    frames[0].save(content, "GIF", save_all=True, append_images=frames[1:], duration=times, loop=0, optimize=True)
    write_atomically(path, content.getbuffer())
    return len(frames)


def _padded(frame: Any, height: int) -> Any:
    """An image of this height, padded below with the background colour: text pictures grow during a game."""
    if frame.height == height:
        return frame
    padded = frame.resize((frame.width, height))  # same mode and palette
    padded.paste(frame.getpixel((frame.width // 2, EDGE)), (0, 0, frame.width, height))
    padded.paste(frame, (0, 0))
    return padded


def _palette(svgs: list[str], colours: Sequence[str]) -> Any:
    """An image with a palette for all frames: the given colours (`#rrggbb`) unchanged, and blended colours such as
    those at edges of shapes and letters."""
    samples = [image(svg, GIF_WIDTH) for svg in svgs[:: max(1, len(svgs) // PALETTE_FRAMES)]]
    tallest = max(frame.height for frame in samples)
    sheet = samples[0].resize((GIF_WIDTH, tallest * len(samples)))
    for nth, frame in enumerate(samples):
        sheet.paste(frame.resize((GIF_WIDTH, tallest)), (0, nth * tallest))
    game_colours = [tuple(bytes.fromhex(colour[1:])) for colour in colours]
    palette = sheet.quantize(COLOURS - len(game_colours))
    channels = palette.getpalette() or []
    sheet_colours = zip(channels[::3], channels[1::3], channels[2::3], strict=True)
    # Drop colours close to one of the game's: Pillow's nearest-colour search is approximate and could pick them.
    other_colours = [
        colour
        for colour in sheet_colours
        if all(max(abs(a - b) for a, b in zip(colour, kept, strict=True)) > NEAR for kept in game_colours)
    ]
    palette.putpalette([channel for colour in (*game_colours, *other_colours) for channel in colour])
    return palette


def write_html(path: Path, line: str | bytes, player: int | None = None) -> int:
    """Write a recorded game as a self-contained page, with mouse and keyboard controls to step, jump and play.

    Returns:
        The number of positions.

    Raises:
        OSError: If it can't be written.
    """
    check_writable(path)
    write_atomically(path, page_of(line, player).encode())
    return len(records.read(line).moves) + 1


def page_of(line: str | bytes, player: int | None = None, check: Callable[[], object] = lambda: None) -> str:
    """A recorded game as a page, see `write_html`; in the current language. Its title doesn't reveal the result.
    `check` is called after each picture: an exception in it ends the work."""
    record, game = records.read(line), Game.replay(line)
    svgs: dict[str, list[str]] = {"wide": [], "table": []}
    for layout, layout_svgs in svgs.items():
        for svg in pictures(line, player, layout=layout):
            check()
            layout_svgs.append(svg)
    names = player_names(record)
    rules = _game_text(game, f"rules.{game.rules}", game.rules) if len(game.definition.rules) > 1 else ""
    title = say(
        "title.rules" if rules else "title", title=_game_text(game, "title", game.definition.title), rules=rules,
        names=", ".join(names),
    )  # fmt: skip
    data = {
        **packed([*svgs["wide"], *svgs["table"]]),
        "moves": moves_in_words(line, player),
        "names": _short(names),
        "scores": _scores(game),
    }
    texts = {key: say.catalogue()[key] for key in ("play", "pause", "before", "at")}
    return TEMPLATES.get_template("replay.html").render(
        say=say, language=language(), title=title, texts=embedded(texts), data=embedded(data)
    )


def player_names(record: records.Record) -> list[str]:
    """Names of the players, safe to display."""
    if record.players:
        return list(map(printable, record.players))
    return [say("player", number=number) for number in range(len(record.scores))]


def _short(names: list[str]) -> list[str]:
    """Shortened names for the list of moves."""
    return [shortened(name, LONGEST_NAME) for name in names]


def _game_text(game: Game, key: str, default: str) -> str:
    """A game's text in the current language, or `default` if its catalogues don't have it."""
    texts = Texts(game.definition.page / "texts") if game.definition.page else None
    return texts(key) if texts and key in texts else default


def _scores(full_game: Game) -> list[list[int]]:
    """All players' points, before the first move and after each."""
    game = full_game.first()
    scores = [list(game.scores)]
    for action in full_game.actions_played:
        game.play(action)
        scores.append(list(game.scores))
    return scores


def embedded(data: Any) -> str:
    """Data as JSON for a script element, with escapes so that nothing in it can end the element or begin a comment."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    return text.replace("</", "<\\/").replace("<!--", "\\u003c!--")


def packed(svgs: list[str]) -> dict[str, Any]:
    """Compress pictures with few differences.

    Returns:
        `lines`: all different lines of the pictures; `frames`: for each picture its lines as runs of consecutive
        `lines`, `[first, count, first, count, ...]`.
    """
    line_numbers: dict[str, int] = {}
    frames = []
    for svg in svgs:
        indices = [line_numbers.setdefault(line, len(line_numbers)) for line in svg.split("\n")]
        starts = [0, *(n for n, (one, other) in enumerate(pairwise(indices), 1) if other != one + 1), len(indices)]
        frames.append([number for start, end in pairwise(starts) for number in (indices[start], end - start)])
    return {"lines": list(line_numbers), "frames": frames}


def moves_in_words(line: str | bytes, viewer: int | None) -> list[str]:
    """Each move in words for the list next to the pictures, as on the play page, with the viewer's knowledge at the end
    of the game. Without a viewer, each move is described with its player's knowledge."""
    record, full_game = records.read(line), Game.replay(line)
    names, words = _short(player_names(record)), full_game.definition.sentences
    game, moves = full_game.first(), []
    for action, text in zip(full_game.actions_played, record.moves, strict=True):
        player = game.player
        reader = player if viewer is None else viewer
        seen = viewer is None or game.is_seen(action, viewer, full_game)
        before = game.to_dict(reader)
        points = game.play(action)
        if not seen:
            moves.append(say("secret", name=names[player]))
        elif words is None:
            gain = f" {'+' if points > 0 else ''}{signed(points)}" if points else ""
            moves.append(say("plain", name=names[player], move=text, points=gain))
        else:
            sentence = words.played(before, text, game.to_dict(reader), reader, names, game.components)
            moves.append(say("line", name=names[player], text=sentence))
    return moves
