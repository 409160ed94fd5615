"""Reasons for the moves of a hint: they are true, and follow from what the player knows."""

import json
import random
import re
from functools import cache

import pytest

from artus_env import Game
from artus_env.engine.contract.registry import find_game
from artus_env.engine.drawing.translations import LANGUAGES, speaking
from artus_env.games.artus.page import hints as of_artus
from artus_env.games.quest.page import hints as of_quest
from artus_env.games.royal.page import hints as of_royal
from artus_env.games.royal.page.tricks import destination

pytest.importorskip("starlette", reason="the extra play isn't installed")

from artus_training.play import view
from artus_training.play.texts import texts_of

NAMES = ["Ann", "Ben", "Cleo"]
GAMES = ["artus", "royal", "quest"]
MOST = {"artus": 60, "royal": 500, "quest": 1000}
"""Number of positions in which every reason occurs at least once."""


def busy(game, rng):
    """A move of quest that brings quests into the hand or leads to their places, if there is one; else any move."""
    position, moves = game.to_dict(), game.moves()
    places = [quest.partition("-")[0] for quest in position["quests"][game.player]]
    useful_moves = [
        move for move in moves if move.startswith(("take:quest", "take:artus", "take:horse", "artus:", "exercise:"))
    ]
    rides = [move for move in moves if move.startswith("horse") and move.partition(":")[2] in places]
    return rng.choice(rides or useful_moves or moves)


def positions(name, count, players=3, rules=None, seed=0, every=3, choose=lambda game, rng: rng.choice(game.moves())):
    """Yield `count` positions of random games."""
    rng, num_found = random.Random(seed), 0
    for deal in range(1000):
        game = Game(rules, players, deal, game=name)
        while not game.over:
            if rng.randrange(every) == 0:
                yield game.clone()
                num_found += 1
                if num_found == count:
                    return
            game.play(choose(game, rng))


def reasons_of(game, move):
    """All reasons for a move, and the positions before and after it as its player knows them."""
    action = game.action(move)
    before, next_game = game.to_dict(game.player), view.foreseen(game, action)
    after = next_game.to_dict(game.player) if next_game else None
    return game.definition.browser.reasons(before, move, after, NAMES, game.components), before, after


@cache
def patterns(name):
    """(key, pattern) of each English text of a reason, those with the longest fixed text first."""
    with speaking("en"):
        catalogue = texts_of(find_game(name)).catalogue()
    texts = [
        (key, text)
        for key, entry in catalogue.items()
        if key.startswith("reason.")
        for text in ([entry] if isinstance(entry, str) else entry.values())
    ]
    texts.sort(key=lambda each: -len(re.sub(r"\{\w+\}", "", each[1])))
    return [(key, re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+)", re.escape(text)))) for key, text in texts]


def keys_of(name, words):
    """Key of the English text that a reason is made from, and its values."""
    for key, pattern in patterns(name):
        match = pattern.fullmatch(words)
        if match:
            return key, match.groupdict()
    raise AssertionError(f"no such text: {words}")


# --- for all games ---


@pytest.mark.parametrize("name", GAMES)
def test_reasons_depend_on_nothing_hidden(name):
    """Reasons are the same for all deals that the player to move can't tell apart."""
    num_reasons = 0
    for game in positions(name, 25, seed=4):
        moves = game.moves()
        reasons = [view.reasons(game, game.action(move), NAMES) for move in moves]
        for seed in range(3):
            other = game.redeal(game.player, seed)
            assert [view.reasons(other, other.action(move), NAMES) for move in moves] == reasons
        num_reasons += sum(map(len, reasons))
    assert num_reasons > 20


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", GAMES)
def test_every_reason_is_said_in_every_language_and_all_of_them_occur(name, language):
    found_keys = set()
    with speaking(language):
        for game in positions(
            name, MOST[name], players=2 if name == "artus" else 3, rules="advanced" if name == "artus" else None
        ):
            for move in game.moves():
                for words in reasons_of(game, move)[0]:
                    assert words
                    assert "{" not in words
                    if language == "en":
                        found_keys.add(keys_of(name, words)[0])
        catalogue = texts_of(game.definition).catalogue()
    if language == "en":
        assert {key for key in catalogue if key.startswith("reason.")} - found_keys == set(), (
            "these reasons never occur"
        )


def test_a_hint_has_two_reasons_at_most_and_a_game_that_brings_none_has_none():
    for game in positions("artus", 40):
        assert all(len(view.reasons(game, action, NAMES)) <= view.MOST_REASONS for action in game.legal_actions())
    magpies = Game(game="magpies", num_players=3, seed=1)
    assert view.reasons(magpies, magpies.legal_actions()[0], NAMES) == []
    json.dumps(view.reasons(game, game.legal_actions()[0], NAMES))


# --- Artus ---


def knights(position, player):
    return [seat for seat, figure in enumerate(position["seats"]) if figure and figure.get("knight") == player]


@pytest.mark.parametrize("rules", ["beginner", "advanced"])
def test_what_is_said_of_moves_of_artus_is_true(rules):
    """The numbers are recomputed from the rules: the value of a seat is what a figure scores that leaves it."""
    checked = 0
    for game in positions("artus", 60, rules=rules, seed=9):
        player = game.player
        for move in game.moves():
            reasons, before, after = reasons_of(game, move)
            if after is None:
                assert reasons == []
                continue
            king, new_king = (next(s for s, f in enumerate(p["seats"]) if f and "king" in f) for p in (before, after))
            wheel = game.components.wheel
            old_values = [0 if seat == king else wheel[(king - seat) % 28] for seat in range(28)]
            new_values = [0 if seat == new_king else wheel[(new_king - seat) % 28] for seat in range(28)]
            for words in reasons:
                key, values = keys_of("artus", words)
                number = {
                    name: int(text.replace("\N{MINUS SIGN}", "-"))
                    for name, text in values.items()
                    if name not in ("name", "figure")
                }
                if key.startswith("reason.turned"):
                    owner = player if ".own." in key else NAMES.index(values["name"])
                    value_before = sum(old_values[seat] for seat in knights(before, owner))
                    change = sum(new_values[seat] for seat in knights(after, owner)) - value_before
                    assert change == number["points"] * (1 if key.endswith("more") else -1)
                    assert king != new_king
                elif key.startswith("reason.goes"):
                    assert "seat" not in number or number["seat"] in knights(after, player)
                    target = int(move.split(">")[1])
                    assert target in knights(after, player)
                    assert new_values[target] == number.get("value", 0)
                elif key.startswith("reason.keeps"):
                    kept_seats = set(knights(before, player)) & set(knights(after, player))
                    assert max(new_values[seat] for seat in kept_seats) == number["value"]
                    if key == "reason.keeps.right":
                        assert (new_king - 1) % 28 in kept_seats
                        assert number["value"] == 10
                    else:
                        assert number["seat"] in kept_seats
                else:
                    assert key == ("reason.drives" if number["new"] < number["old"] else "reason.helps")
                    target = int(move.split(">")[1])
                    assert old_values[target] == number["old"]
                    assert "knight" in before["seats"][target]
                    origin = int(move.partition(":")[2].partition(">")[0])
                    stayed = {seat for seat, figure in enumerate(before["seats"]) if figure} - {origin}
                    (refuge,) = {seat for seat, figure in enumerate(after["seats"]) if figure} - stayed
                    assert new_values[refuge] == number["new"]
                checked += 1
    assert checked > 300


def test_the_kings_right_is_where_knights_are_worth_most():
    """The King on seat 0, at the top, looks down: his right is seat 27, where a knight is worth 10."""
    game = Game("beginner", 2, 1)
    first = game.to_dict()["start_player"]
    while game.to_dict()["phase"] != "play":
        game.play(
            "@27" if game.player == first and "@27" in game.moves() else next(m for m in game.moves() if m != "@27")
        )
    assert game.player == first
    sentences = {words for move in game.moves() for words in reasons_of(game, move)[0]}
    assert "keeps your knight at the King's right, worth 10" in sentences


# --- the royal card game ---


def test_what_is_said_of_cards_of_royal_is_true():
    """Tricks are played to their end with redealt hands of the others."""
    rng, checked = random.Random(3), {}
    for game in positions("royal", 200, seed=2):
        player, number = game.player, len(game.actions_played)
        for move in game.moves():
            reasons, before, _ = reasons_of(game, move)
            keys = {keys_of("royal", words)[0]: keys_of("royal", words)[1] for words in reasons}
            hand = [*before["hands"][player]]
            if move in hand:
                hand.remove(move)
            for key, values in keys.items():
                checked[key] = checked.get(key, 0) + 1
                if key == "reason.unbeaten":
                    for seed in range(3):
                        other = game.redeal(player, seed)
                        fields = other.to_dict()["fields"]
                        other.play(move)
                        while other.to_dict()["trick"]:
                            other.play(rng.choice(other.moves()))
                        assert other.to_dict()["fields"][player] > fields[player], (number, move)
                elif key in ("reason.keeps", "reason.costs"):
                    super_trumps = sum(card in ("knight", "shield") for card in hand)
                    assert super_trumps == int(values.get("n", 1)) or "n" not in values
                elif key == "reason.keeps.suit":
                    assert any(card.endswith(f"-{values['value']}") for card in hand)
                elif key == "reason.void":
                    assert not [card for card in hand if card.partition("-")[0] == values["suit"]]
                elif key in ("reason.sword", "reason.gives"):
                    after = game.clone()
                    after.play(move)
                    winner = player if key == "reason.sword" else NAMES.index(values["name"])
                    assert after.to_dict()["fields"][winner] in game.components.swords
                elif key == "reason.prevents":
                    rival = NAMES.index(values["name"])
                    goal = destination(before["fields"], rival, game.components)
                    assert str(goal) in values["goal"] or goal == game.components.fields
    assert set(checked) >= {"reason.unbeaten", "reason.keeps", "reason.void", "reason.prevents"}


# --- by order of the King ---


def test_quests_are_known_to_be_within_reach_just_when_the_rules_allow_them():
    """Checked for players with a quest card at the place of their quest."""
    checked = 0
    for game in positions("quest", 4000, seed=5, every=1, choose=busy):
        before, player = game.to_dict(game.player), game.player
        if before["phase"] != "act" or "quest" not in before["actions"][player]:
            continue
        cards = of_quest.cards_of(before, player)
        for quest in before["quests"][player]:
            if quest.partition("-")[0] == before["places"][player]:
                ready = not of_quest.lacking(cards, quest, game.components)
                assert ready == (f"quest:{quest}" in game.moves())
                checked += 1
    assert checked > 20


def test_what_is_said_of_moves_of_quest_is_true():
    checked = {}
    for game in positions("quest", 400, seed=6):
        player = game.player
        for move in game.moves():
            reasons, before, after = reasons_of(game, move)
            for words in reasons:
                key, values = keys_of("quest", words)
                checked[key] = checked.get(key, 0) + 1
                if key == "reason.last":
                    assert before["display"].count(move.partition(":")[2]) == 1
                elif key in ("reason.joins", "reason.leaves"):
                    takes = "tournament" in after["actions"][player] and after["places"][player] == "camelot"
                    assert takes == (key == "reason.joins")
                elif key == "reason.there":
                    assert after["places"][player] != before["places"][player]
                    assert after["places"][player] in values["quests"]
                elif key == "reason.forestalls":
                    other = NAMES.index(values["name"])
                    assert not of_quest.lacking(before["taken"][other], move.partition(":")[2], game.components)
                    assert other != player
    assert set(checked) >= {"reason.last", "reason.joins", "reason.leaves"}
    assert of_artus.WELL == 5
    assert of_royal.unseen
