"""What a seat may see of a table, as data for its page. Nothing else of a game ever leaves the server before it is
over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from artus_env import Game
from artus_env.games.artus import shapes
from artus_env.games.artus.actions import ALL, BEST, CARPET, COLORS, DRAW, EFFECTS, REDS, REVERSED, action_table
from artus_env.games.artus.components import PILES, Components
from artus_env.games.artus.picture import LastMove, last_move, picture
from artus_training.play import words
from artus_training.play.table import Step, Table

SCORING = (ALL, REVERSED, COLORS, CARPET, REDS)


def setup(table: Table, player: int) -> dict[str, Any]:
    """What doesn't change during a game: who plays, what the cards are, how things look."""
    game = table.game
    decks = [card for card in game.components.cards if game.rules == "advanced" or card.pile != "scoring"]
    return {
        "you": player,
        "rules": game.rules,
        "players": [
            {"name": seat.name, "agent": seat.agent, "letter": shapes.LETTERS[number], "shield": shapes.KNIGHTS[number]}
            for number, seat in enumerate(table.seats)
        ],
        "cards": {
            card.name: {
                "title": words.card_title(card),
                "text": words.card_text(card),
                "pile": card.pile,
                "face": shapes.card_front(card),
            }
            for card in decks
        },
        "backs": {pile: shapes.card_back(pile) for pile in PILES},
        "log": [log_entry(table, step, player) for step in table.steps[1:]],
    }


def log_entry(table: Table, step: Step, player: int) -> dict[str, Any]:
    """A line of the log as this player may read it."""
    last = step.last
    assert last is not None
    text = step.text
    if step.drawn is not None and last.player == player:
        by_name = {card.name: card for card in step.game.components.cards}
        text += f" {words.drawn_words(by_name[step.drawn])}"
    return {"player": last.player, "text": text, "points": last.points}


def seen(table: Table, player: int, number: int | None = None) -> dict[str, Any]:
    """The table after `number` moves (None: now) as a player sees it.

    What he may do is there only if that is the present position and he is to move.
    """
    number = table.number if number is None else number
    step, game = table.steps[number], table.steps[number].game
    position = game.to_dict(player)
    last: dict[str, Any] | None = None
    drawn: dict[str, Any] = {}
    if step.last is not None:
        before = table.steps[number - 1].game.to_dict(player)
        drawn = {"before": before, "move": step.last.text}
        last = {
            **step.last._asdict(), "king_before": words.king_of(before), "king_after": words.king_of(position),
            "entry": log_entry(table, step, player), "drawn": step.drawn if step.last.player == player else None,
        }  # fmt: skip
    now = number == table.number
    return {
        "number": number,
        "now": table.number,
        "position": position,
        "picture": picture(position, game.components, names=table.names, layout="table", **drawn),
        "last": last,
        "moves": moves(game, table.names) if now and not game.over and game.player == player else [],
        "trouble": table.trouble if now else "",
        "over": summary(table) if game.over else None,
        "next": bool(table.next) if now else False,
    }


def moves(game: Game, names: Sequence[str]) -> list[dict[str, Any]]:
    """All that the player to move may do, and what each would bring. None of it depends on what he doesn't know."""
    before = game.to_dict(game.player)
    return [described(game, action, names, before) for action in game.legal_actions()]


def described(game: Game, action: int, names: Sequence[str], before: dict[str, Any] | None = None) -> dict[str, Any]:
    """A legal action as the page needs it: which card, figure and seat, what it brings, and in words."""
    what, move, player = action_table(game.components)[action], game.move(action), game.player
    before = before or game.to_dict(player)
    if what.effect == DRAW:  # nobody knows what comes
        last = LastMove(move, player, 0)
    else:
        last = last_move(before, move, after(game, action).to_dict(player), game.components)
    return {
        "move": move,
        "kind": "best" if what.effect == BEST else "score" if what.effect in SCORING else EFFECTS[what.effect],
        "card": game.components.cards[what.card].name if what.card >= 0 else None,
        "pile": PILES[what.slot] if what.effect == DRAW else None,
        "origin": last.origin,
        "target": last.target,
        "points": last.points,
        "refuge": last.refuge,
        **words.option_words(before, last, names, player, game.components)._asdict(),
    }


def preview(game: Game, move: str, names: Sequence[str]) -> dict[str, Any]:
    """A legal move, and what the table would look like to its player after it; null if he can't know."""
    action, drawing = game.action(move), None
    if not move.startswith("draw:"):
        before, position = game.to_dict(game.player), after(game, action).to_dict(game.player)
        drawing = picture(position, game.components, before=before, move=move, names=names, layout="table")
    return {**described(game, action, names), "picture": drawing}


def after(game: Game, action: int) -> Game:
    """The game after a legal action."""
    copy = game.clone()
    copy.play(action)
    return copy


def summary(table: Table) -> dict[str, Any]:
    """How a finished game has gone, the best first."""
    game = table.game
    by_pile: list[Counter[str]] = [Counter() for _ in table.seats]
    piles = pile_by_card(game.components)
    for step in table.steps[1:]:
        if step.last is not None and step.last.text.partition(":")[0] in piles:
            by_pile[step.last.player][piles[step.last.text.partition(":")[0]]] += step.last.points
    scores = game.scores
    order = sorted(range(game.num_players), key=lambda player: (-scores[player], player))
    rows = [
        {
            "player": player,
            "rank": 1 + sum(score > scores[player] for score in scores),
            "points": scores[player],
            **{pile: by_pile[player][pile] for pile in PILES},
        }
        for player in order
    ]
    return {"rows": rows, "winners": game.winners, "share": table.share}


def pile_by_card(components: Components) -> dict[str, str]:
    """The back of each card by its name."""
    return {card.name: card.pile for card in components.cards}
