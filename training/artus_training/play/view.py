"""Data for a seat's page: all that a player may see. No other data of a game leaves the server before it is over.

Positions come from `to_dict(player)`, other players' moves from `seen_move`. Previews of moves, only for the
player to move, are computed from the same data, never from hidden information.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from artus_env import Game
from artus_env.engine.basics.wording import letter_of
from artus_env.engine.drawing.svg import BADGES
from artus_env.engine.drawing.text_picture import text_picture
from artus_env.engine.drawing.translations import language
from artus_training.play import strength, texts
from artus_training.play.forecast import Review
from artus_training.play.hosted import SUBSTITUTE, HostedGame
from artus_training.play.pages import files_of
from artus_training.play.texts import say

MOST_REASONS = 2
"""Maximum number of reasons for a proposed move; more would be too much to read."""


def setup(hosted: HostedGame, player: int) -> dict[str, Any]:
    """Data of a game that never change (players, appearance), and the log."""
    game, definition = hosted.game, hosted.game.definition
    browser_part = definition.browser
    appearance = browser_part.setup(game.rules, game.num_players, game.components) if browser_part else {}
    badges = appearance.pop("badges", None) or [badge(number) for number in range(game.num_players)]
    return {
        **appearance,
        "you": player,
        "game": definition.name,
        "title": texts.title_of(definition),
        "score": texts.score_of(definition),
        "texts": texts.texts_of_script(definition),
        "rules": texts.rules_of(definition, game.rules),
        "script": files.address("page.js") if (files := files_of(definition)) else None,
        "worded": definition.sentences is not None,
        "lessons": hasattr(browser_part, "tutorial"),
        "substitute": SUBSTITUTE,
        "strongest": strength.strongest(definition, game.rules, game.num_players),
        "players": [
            {"name": seat.name, "agent": seat.agent, "badge": badges[number], "colour": BADGES[number].colour}
            for number, seat in enumerate(hosted.seats)
        ],
        "log": [log_entry(hosted, number, player, hosted.number) for number in range(1, len(hosted.steps))],
    }


def badge(player: int) -> str:
    """A player's badge as an `<svg>`, for a game without its own."""
    style = BADGES[player]
    return (
        f'<svg viewBox="-26 -26 52 52"><path d="{style.outline}" fill="{style.colour}" stroke="currentColor" '
        f'stroke-width="1.8" stroke-linejoin="round"/><text y="{style.middle + 8.6:g}" font-size="24" '
        f'font-weight="700" text-anchor="middle" fill="{style.ink}">{letter_of(player)}</text></svg>'
    )


def log_entry(hosted: HostedGame, number: int, player: int, now: int) -> dict[str, Any]:
    """A player's log entry for the move that led to step `number`, as visible after `now` moves."""
    log = hosted.logs.setdefault((player, language()), [])
    for nth in range(len(log) + 1, number + 1):
        log.append(_log_entry(hosted, nth, player, nth))
    entry = log[number - 1]
    return _log_entry(hosted, number, player, now) if entry["move"] is None and now > number else entry


def _log_entry(hosted: HostedGame, number: int, player: int, now: int) -> dict[str, Any]:
    before, step, present = hosted.steps[number - 1].game, hosted.steps[number], hosted.steps[now].game
    seen, points = seen_move(before, step.action, player, present), gains(before, step.game)[step.player]
    sentences = before.definition.sentences
    if sentences is None or seen is None:
        text = plain_sentence(seen, points)
    else:
        player_view = before.to_dict(player), seen, step.game.to_dict(player)
        text = sentences.played(*player_view, player, hosted.names, before.components)
    entry = {"player": step.player, "move": seen, "text": text, "points": points}
    where = getattr(before.definition.browser, "where", None)
    if where is not None and seen is not None:
        entry["where"] = where(before.to_dict(player), seen, step.game.to_dict(player), before.components)
    return entry


def seen_move(game: Game, action: int, viewer: int, now: Game | None = None) -> str | None:
    """The visible part of an action of the player to move, as text for a viewer; None if they only see that a choice
    was made.

    With `now`, the same game at a later point, a move also counts as visible if it has been revealed since. All texts
    and pictures of moves, in the log, in the stream or in a picture, come from here.
    """
    return game.move(action) if game.is_seen(action, viewer, now) else None


def plain_sentence(move: str | None, points: int) -> str:
    """A sentence about a move, without the player's name at its beginning, for a game without sentences of its own.
    `move` is None if the move is hidden."""
    sign = "+" if points > 0 else "\N{MINUS SIGN}"
    gain = say("played.points", points=f"{sign}{abs(points)}") if points else say("played.nothing")
    return say("played.secret", points=gain) if move is None else say("played.move", move=move, points=gain)


def revealed_lines(hosted: HostedGame, player: int, number: int) -> list[dict[str, Any]]:
    """Lines of the log for secret choices that step `number` has revealed."""
    lines = []
    for nth in range(1, number):
        entry = log_entry(hosted, nth, player, number)
        if entry["move"] is not None and log_entry(hosted, nth, player, number - 1)["move"] is None:
            lines.append({"number": nth, "entry": entry})
    return lines


def gains(before: Game, after: Game) -> list[int]:
    """Points that each player has gained between two positions."""
    return [new - old for old, new in zip(before.scores, after.scores, strict=True)]


def seen(hosted: HostedGame, player: int, number: int | None = None) -> dict[str, Any]:
    """The position after `number` moves (None: now) as a player sees it.

    Legal moves are included only for the current position, and only for the player to move.
    """
    number = hosted.number if number is None else number
    game = hosted.steps[number].game
    browser_part = game.definition.browser
    before = hosted.steps[number - 1].game if number else None
    move, last = None, None
    if before is not None:
        entry = log_entry(hosted, number, player, number)
        move, detail = entry["move"], {}
        if browser_part and move is not None:
            detail = browser_part.last(before.to_dict(player), move, game.to_dict(player), game.components)
        effects = {"gains": gains(before, game), "entry": entry, "opened": revealed_lines(hosted, player, number)}
        last = {**detail, **entry, **effects}
    now = number == hosted.number
    over = hosted.over if now else game.over
    return {
        "number": number,
        "now": hosted.number,
        "turn": None if over else game.player,
        "scores": game.scores,
        "position": game.to_dict(player) if browser_part else None,
        "picture": picture(game, player, hosted.names, before, move),
        "last": last,
        "moves": moves(game, hosted.names) if now and not over and game.player == player in hosted.playing else [],
        "trouble": hosted.trouble if now and not over else "",
        "over": summary(hosted) if over else None,
        "resigned": [*hosted.resigned],
        "next": bool(hosted.next) if now else False,
        "taken": hosted.taken_back,
        "undo": undo(hosted, player) if now else None,
    }


def undo(hosted: HostedGame, player: int) -> dict[str, Any] | None:
    """State of a request to take back the last move: whether the seat may ask, who asks, whether the seat has agreed;
    None if it doesn't concern the seat."""
    if not hosted.last_can_be_taken_back or player not in hosted.playing:
        return None
    mover = hosted.steps[-1].player
    asks = mover if hosted.agreed else None
    return {"may": player == mover and asks is None, "asks": asks, "agreed": player in hosted.agreed}


def picture(game: Game, player: int, names: Sequence[str], before: Game | None = None, move: str | None = None) -> str:
    """A game as a player sees it, as SVG: the game's own picture, or its text.

    Args:
        game: The game.
        player: The viewer.
        names: Names of the players.
        before: The game before the last move, None if there was none.
        move: The last move as the player sees it, None if it is hidden.
    """
    draw = game.definition.picture
    if draw is None:
        text_before = None if before is None else before.render(player, names)
        return text_picture(game.render(player, names), text_before, texts.title_of(game.definition))
    position_before = None if before is None or move is None else before.to_dict(player)
    layout = "wide" if game.definition.browser is None else "table"  # the game's own page shows the rest
    return draw(game.to_dict(player), game.components, before=position_before, move=move, names=names, layout=layout)


def moves(game: Game, names: Sequence[str]) -> list[dict[str, Any]]:
    """All legal moves of the player to move and their effects, from this player's own information."""
    before = game.to_dict(game.player)
    return [described(game, action, names, before) for action in game.legal_actions()]


def described(game: Game, action: int, names: Sequence[str], before: dict[str, Any] | None = None) -> dict[str, Any]:
    """A legal action in words, with data for the game's own script."""
    move, definition = game.move(action), game.definition
    browser_part, sentences = definition.browser, definition.sentences
    if browser_part is None and sentences is None:
        return {"move": move, "label": move}
    before = before or game.to_dict(game.player)
    next_game = foreseen(game, action)
    after = next_game.to_dict(game.player) if next_game else None
    detail = browser_part.choice(before, move, after, names, game.components) if browser_part else {}
    label = sentences.choice(before, move, after, names, game.components) if sentences else move
    return {**detail, "move": move, "label": label}


def reasons(game: Game, action: int, names: Sequence[str]) -> list[str]:
    """Reasons for or against a legal action in words, from its player's own information; empty if the game has none."""
    say_why = getattr(game.definition.browser, "reasons", None)
    if say_why is None:
        return []
    next_game = foreseen(game, action)
    after = next_game.to_dict(game.player) if next_game else None
    sentences = say_why(game.to_dict(game.player), game.move(action), after, names, game.components)
    return list(sentences)[:MOST_REASONS]


def preview(game: Game, action: int, names: Sequence[str]) -> dict[str, Any]:
    """A legal action in words, with a picture of the position after it, None if its player can't know that position."""
    next_game = foreseen(game, action)
    drawing = picture(next_game, game.player, names, game, game.move(action)) if next_game else None
    return {**described(game, action, names), "picture": drawing}


def foreseen(game: Game, action: int) -> Game | None:
    """The game after a legal action, None unless the game guarantees that its player knows all its effects."""
    browser_part = game.definition.browser
    if browser_part is None or not browser_part.foreseeable(game.move(action)):
        return None
    copy = game.clone()
    copy.play(action)
    return copy


def review(hosted: HostedGame, player: int, analysis: Review) -> dict[str, Any]:
    """The review of a finished game for one of its players: everyone's scores and chances, and their own lapse."""
    lapse, lapse_data = analysis.lapses[hosted.people.index(player)], None
    if lapse:
        game = hosted.steps[lapse.number].game
        labels = [
            described(game, game.action(prospect.move), hosted.names)["label"]
            for prospect in (lapse.played, lapse.better)
        ]
        lapse_data = {
            "number": lapse.number,
            "played": labels[0],
            "better": labels[1],
            "was": lapse.played.wins,
            "other": lapse.better.wins,
        }
    scores = [step.game.scores for step in hosted.steps]
    return {"scores": scores, "numbers": analysis.numbers, "chances": analysis.chances, "lost": lapse_data}


def summary(hosted: HostedGame) -> dict[str, Any]:
    """Result of a finished game, best first: places, points, and their sources if the game defines these."""
    game = hosted.game
    browser_part = game.definition.browser
    sources = list(browser_part.sources(game.rules)) if browser_part else []
    by_source: list[Counter[str | None]] = [Counter() for _ in hosted.seats]
    if browser_part and sources:
        for before, step in zip(hosted.steps, hosted.steps[1:], strict=False):
            source = browser_part.source(step.move, game.components)
            for player, points in enumerate(gains(before.game, step.game)):  # a move may bring others points, too
                by_source[player][source] += points
    places = hosted.places
    rows = [
        {
            "player": player,
            "rank": places[player],
            "points": game.scores[player],
            "parts": [by_source[player][source] for source in sources],
            "resigned": player in hosted.resigned,
        }
        for player in sorted(range(game.num_players), key=lambda player: (places[player], player))
    ]
    winners = [player for player, place in enumerate(places) if place == 1]
    return {"rows": rows, "sources": sources, "winners": winners, "record": hosted.record_secret}
