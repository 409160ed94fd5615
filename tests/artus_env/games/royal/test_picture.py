"""Pictures and sentences of the royal card game."""

import itertools
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from artus_env import Game
from artus_env.engine.drawing.svg import BADGES
from artus_env.games.royal.components import STANDARD, Components
from artus_env.games.royal.page import browser, sentences, shapes
from artus_env.games.royal.page.picture import HEIGHT, PANEL_LEFT, picture, tile
from artus_env.games.royal.page.tricks import destination, last_move, playable, winning_index
from artus_env.pictures import WIDTH
from eyes import SEEN_BY, contrast, least_difference
from svgs import SVG, has_no_ids, having, parsed, texts

PLAYERS = range(2, 7)
BOXES = [
    Components(suits=("leaves", "acorns"), values=9, knights=3, shields=3, fields=5, swords=(1, 3), hand=3),
    Components(fields=60, swords=(7, 59), hand=12),
    Components(fields=1, swords=()),
]


def royal(num_players, seed=1, **options):
    return Game(game="royal", num_players=num_players, seed=seed, **options)


def steps(game, seed=0):
    """Play a game at random, and yield (position before, move, position after, game), with nothing hidden."""
    rng = np.random.default_rng(seed)
    while not game.over:
        before, move = game.to_dict(), str(rng.choice(game.moves()))
        game.play(move)
        yield before, move, game.to_dict(), game


def first(num_players, holds, seeds=range(40)):
    """The first step of random games for which `holds(before, move, after)` is true."""
    for seed in seeds:
        for before, move, after, _ in steps(royal(num_players, seed), seed):
            if holds(before, move, after):
                return before, move, after
    raise AssertionError("it doesn't happen")


# --- the picture ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("num_players", PLAYERS)
def test_every_picture_of_a_game_shows_what_the_position_says(num_players):
    for number, (before, move, table, _) in enumerate(steps(royal(num_players))):
        if number % 19 and table["phase"] == "trick":
            continue
        root = parsed(picture(table, before=before, move=move))
        assert root.get("role") == "img"
        assert [root[0].tag, root[1].tag] == [f"{SVG}title", f"{SVG}desc"]
        assert f"{num_players} players" in root[0].text
        assert has_no_ids(root)
        pawns = {int(pawn.get("data-pawn")): int(pawn.get("data-at")) for pawn in having(root, pawn=None)}
        assert [pawns[player] for player in range(num_players)] == table["fields"]
        chips = {int(chip.get("data-place")): chip.get("data-chip") for chip in having(root, chip=None, place=None)}
        assert [chips.get(place + 1) for place in range(6)] == table["trumps"]
        unplaced_chips = [chip.get("data-chip") for chip in having(root, chip=None) if not chip.get("data-place")]
        assert sorted([*unplaced_chips, *chips.values()]) == sorted(STANDARD.suits)
        for player in range(num_players):
            owner = {"player": str(player)}
            assert [card.get("data-card") for card in having(root, card=None, **owner)] == table["hands"][player]
            assert [card.get("data-played") for card in having(root, played=None, **owner)] == table["played"][player]
            assert {void.get("data-void") for void in having(root, void=None, **owner)} == {*table["voids"][player]}
        for kind in ("pile", "discards"):
            assert having(root, pile=kind)[0].get("data-count") == str(len(table[kind]))


@pytest.mark.parametrize("num_players", PLAYERS)
def test_cards_lie_within_the_picture_and_do_not_overlap(num_players):
    game = royal(num_players)
    root = parsed(game.svg())
    boxes = []
    for group in root.iter():
        transform = re.fullmatch(r"translate\(([\d.]+) ([\d.]+)\) scale\(([\d.]+)\)", group.get("transform", ""))
        if transform and any(e.get("width") == "44" for e in group):
            x, y, scale = map(float, transform.groups())
            boxes.append((x, y, x + 44 * scale, y + 62 * scale))
    assert len(boxes) == 8 * num_players + 2  # the hands, the pile and the empty place of the discards
    for x0, y0, x1, y1 in boxes:
        assert 0 < x0 < x1 < WIDTH - 12
        assert 0 < y0 < y1 < HEIGHT - 12
    for a, b in itertools.combinations(boxes, 2):
        assert a[2] < b[0] or b[2] < a[0] or a[3] < b[1] or b[3] < a[1]


def test_the_course_goes_clockwise_from_start_to_artus_in_equal_steps():
    root = parsed(royal(4).svg())
    fields = having(root, field=None)
    assert [int(field.get("data-field")) for field in fields] == list(range(28))
    assert [f for f, field in enumerate(fields) if "sword" in field.find(f"{SVG}title").text] == [4, 8, 12, 16, 20, 24]
    assert texts(fields[0]) == ["start", "0"]
    assert texts(fields[27]) == ["27"]
    assert "Artus" in texts(root)
    middles = [tile(field, STANDARD) for field in range(28)]
    for (x0, y0), (x1, y1) in itertools.pairwise([*middles, middles[0]]):
        assert abs(x1 - x0) + abs(y1 - y0) == pytest.approx(83)
    assert middles[7][0] > middles[0][0]  # first to the right
    assert middles[7][1] == middles[0][1]


def test_the_strongest_trump_is_marked_and_alone():
    _, _, table = first(4, lambda before, move, after: after["trumps"].count(None) == 3)
    chips = having(parsed(picture(table)), chip=None, place=None)
    marked = [chip for chip in chips if any("winning" in e.get("class", "") for e in chip.iter())]
    assert [chip.get("data-place") for chip in marked] == ["3"]
    assert "the strongest trump" in marked[0].find(f"{SVG}title").text
    sizes = [float(re.search(r"scale\(([\d.]+)\)", chip[1].get("transform"))[1]) for chip in chips]
    assert sizes == sorted(sizes)
    assert len(set(sizes)) == 3


def test_the_card_that_holds_the_trick_is_marked_and_stays_until_the_next_card_is_led():
    for before, move, after, _ in steps(royal(3, 3)):
        root = parsed(picture(after, before=before, move=move))
        trick_cards = [(int(card.get("data-trick")), card.get("data-card")) for card in having(root, trick=None)]
        marked_players = [
            int(card.get("data-trick"))
            for card in having(root, trick=None)
            if any("winning" in e.get("class", "") for e in card.iter())
        ]
        last = last_move(before, move, after, STANDARD)
        if last.taker is None:
            assert trick_cards == [tuple(entry) for entry in after["trick"]]
            continue
        assert trick_cards == [tuple(entry) for entry in [*before["trick"], [before["turn"], move]]]
        assert marked_players == [last.taker]
        assert f"takes it, to {last.target}" in texts(root)
        assert having(root, way=f"{last.origin}-{last.target}")


def test_playable_cards_stand_out():
    _, _, table = first(
        3,
        lambda before, move, after: (
            after["trick"] and 0 < len(playable(after["hands"][after["turn"]], after["trick"], STANDARD)) < 4
        ),
    )
    turn = table["turn"]
    game = Game.from_dict(table)
    root = parsed(picture(table))
    lifted = [card.get("data-card") for card in having(root, playable=None)]
    assert sorted(lifted) == sorted(game.moves())
    dim = [card.get("data-card") for card in having(root, player=str(turn), card=None) if card.get("class") == "dim"]
    assert sorted([*dim, *lifted]) == sorted(table["hands"][turn])
    assert dim


def test_the_picture_of_the_docs_is_of_this_game():
    game = royal(4, 48)
    for number in range(77):
        moves = game.moves()
        game.play(moves[number % len(moves)])
    assert game.svg(player=0) == (Path(__file__).parents[4] / "docs/royal.svg").read_text()


# --- the rules as plain data ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("num_players", PLAYERS)
def test_tricks_are_read_as_the_rules_play_them(num_players):
    """The winner of a trick, the pawn's field and the playable cards, for every move of some games."""
    for seed in range(2):
        for before, move, after, game in steps(royal(num_players, seed), seed):
            last = last_move(before, move, after, STANDARD)
            if last.taker is not None:
                moved_players = [p for p in range(num_players) if after["fields"][p] != before["fields"][p]]
                assert moved_players == [last.taker]
                assert after["fields"][last.taker] == last.target == destination(before["fields"], last.taker, STANDARD)
                assert last == last_move(before, move, None, STANDARD)
            if after["phase"] == "trick":
                hand = after["hands"][after["turn"]]
                assert playable(hand, after["trick"], STANDARD) == {*game.moves()}


@pytest.mark.parametrize(
    ("cards", "trumps", "taker"),
    [
        (["hearts-1", "hearts-5", "clubs-10", "hearts-6"], [], 3),
        (["hearts-1", "hearts-5", "clubs-10", "hearts-6"], ["clubs"], 2),
        (["hearts-11", "clubs-11", "spades-1", "hearts-2"], ["clubs", "spades"], 2),
        (["hearts-3", "knight", "shield", "knight"], [], 3),
        (["shield", "shield", "hearts-9"], [], 0),
        (["clubs-2", "spades-1", "diamonds-9"], ["hearts", "diamonds", "clubs", "spades"], 1),
        (["clubs-2", "spades-11"], ["clubs"], 0),
        (["flowers-2", "knight", "spades-11", "knight", "shield"], ["spades"], 4),
    ],
)
def test_who_holds_a_trick(cards, trumps, taker):
    trick = [[player, card] for player, card in enumerate(cards)]
    assert winning_index(trick, [*trumps, *[None] * (6 - len(trumps))], STANDARD) == taker


# --- hidden information --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("num_players", PLAYERS)
def test_a_page_gets_nothing_that_its_player_cannot_know(num_players):
    """Pictures, sentences and data of the page are the same for all deals that a player can't distinguish, and other
    hands are drawn as card backs."""
    names = ["Ann", "Ben", "Cleo", "Dora", "Emil", "Fay"][:num_players]
    rng, game = np.random.default_rng(2), royal(num_players, 2)

    def page_data(games, player, move):
        before, after = (copy.to_dict(player) for copy in games)
        return (
            picture(after, before=before, move=move),
            sentences.played(before, move, after, player, names),
            picture(after, STANDARD, before=before, move=move, names=names, layout="table"),
            browser.last(before, move, after, STANDARD),
        )

    for number in range(90):
        if game.over:
            break
        before, move = game.clone(), str(rng.choice(game.moves()))
        game.play(move)
        if number % 9:
            continue
        for player in range(num_players):
            root = parsed(game.svg(player))
            for other in range(num_players):
                fronts, backs = (having(root, player=str(other), **{kind: None}) for kind in ("card", "back"))
                hand = game.to_dict()["hands"][other]
                assert [card.get("data-card") for card in fronts] == (hand if other == player else [])
                assert len(backs) == (0 if other == player else len(hand))
                assert not any(texts(back) for back in backs)
            for seed in range(2):
                redealt = game.redeal(player, seed)
                assert page_data((before, redealt), player, move) == page_data((before, game), player, move)


@pytest.mark.parametrize("num_players", [2, 5])
def test_choices_are_described_without_hidden_information(num_players):
    """Effects of a card aren't foreseeable, because the last card of a deal brings new hands; those of chips are."""
    names = ["Ann", "Ben", "Cleo", "Dora", "Emil"][:num_players]
    for number, (_, _, _, game) in enumerate(steps(royal(num_players, 4), 4)):
        if game.over or (number % 5 and game.to_dict()["phase"] == "trick"):
            continue
        player = game.player
        views = [copy.to_dict(player) for copy in (game, game.redeal(player, 1), game.redeal(player, 2))]
        for move in game.moves():
            assert browser.foreseeable(move) == (move not in STANDARD.cards)
            descriptions = [
                (sentences.choice(view, move, None, names), browser.choice(view, move, None, names, STANDARD))
                for view in views
            ]
            assert descriptions[0] == descriptions[1] == descriptions[2]


# --- texts ---------------------------------------------------------------------------------------------------------


def test_sentences_about_moves():
    names = ["Ann", "Ben", "Cleo", "Dora"]
    patterns = set()
    for seed in range(3):
        for before, move, after, _ in steps(royal(4, seed), seed):
            sentence = sentences.played(before, move, after, 0, names)
            patterns.add(re.sub(r"\d+|hearts|diamonds|clubs|spades|flowers|chalices|Ann|Ben|Cleo|Dora", "…", sentence))
            assert sentence.endswith(".")
    takes_trick = ". That takes the trick, and the pawn goes to field …, a sword."
    assert {
        "leads the … of ….",
        "plays the … of ….",
        "plays a shield.",
        "has no … and plays the … of ….",
        "has no … and plays a knight.",
        f"plays the … of …{takes_trick}",
        "plays the … of …. … takes the trick and goes to field ….",
        "plays the … of …. … takes the trick and goes to field …. New hands are dealt.",
        "plays the … of …. … takes the trick and goes to field …. All cards are shuffled and dealt anew.",
        "plays the … of …. … takes the trick and goes to Artus and wins.",
        "places the … chip on place …: the strongest trump now.",
        "declines: no chip is placed.",
    } <= patterns


def test_the_sentence_about_a_swap_names_both_chips():
    before, move, after = first(6, lambda before, move, after: move.startswith("swap"), range(60))
    _, first_place, second_place = move.split(":")
    sentence = sentences.played(before, move, after, 0, list("ABCDEF"))
    first_suit, second_suit = after["trumps"][int(first_place) - 1], after["trumps"][int(second_place) - 1]
    expected = f"swaps two chips: {first_suit} is on place {first_place} now, {second_suit} on place {second_place}."
    assert sentence == expected
    choice = sentences.choice(before, move, after, list("ABCDEF"))
    assert choice == f"swap {second_suit} (place {first_place}) and {first_suit} (place {second_place})"


@pytest.mark.parametrize(
    ("trick", "move", "outlook"),
    [
        ([], "hearts-7", ""),
        ([[0, "hearts-3"]], "hearts-7", "it holds the trick so far"),
        ([[0, "hearts-9"]], "hearts-7", "Ann's 9 of hearts holds the trick so far"),
        ([[0, "hearts-3"], [1, "hearts-4"]], "hearts-7", "it takes the trick: your pawn goes to field 4, a sword"),
        ([[0, "knight"], [1, "hearts-4"]], "hearts-7", "Ann's knight takes the trick, to Artus and wins"),
    ],
)
def test_the_outlook_of_a_card_that_could_be_played(trick, move, outlook):
    position = {"num_players": 3, "turn": 2, "trick": trick, "trumps": [None] * 6, "fields": [26, 3, 2]}
    last = last_move(position, move, None, STANDARD)
    names = ["Ann", "Ben", "Cleo"]
    assert sentences.outlook(position, last, names) == outlook
    assert sentences.choice(position, move, None, names) == "play the 7 of hearts" + (f": {outlook}" if outlook else "")


# --- colours and style ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("eyes", SEEN_BY)
def test_suits_and_players_differ_for_all_eyes(eyes):
    """Distances are in CIELAB, where 2 or 3 can just be seen. The signs and outlines differ, too."""
    assert least_difference(shapes.SUIT_COLOURS, eyes) > 30
    assert least_difference([badge.colour for badge in BADGES], eyes) > 10
    assert len(set(shapes.SIGNS)) == len(shapes.SUIT_COLOURS) == 6


LETTERS_ON = {
    "ink": ("page", "panel", "table", "field", "sworded"),
    "mute": ("panel", "table"),
    "print": ("face",),
    "plate": ("goal",),
    "trophy": ("super",),
}


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_letters_and_signs_stand_out(theme):
    """WCAG 2 requires a contrast of 4.5 for letters and 3 for signs. Signs of suits also have a dark rim."""
    for letters, backgrounds in LETTERS_ON.items():
        for background in backgrounds:
            ratio = contrast(shapes.COLOURS[letters][theme], shapes.COLOURS[background][theme])
            assert ratio >= 4.5, (letters, background)
    face = shapes.COLOURS["face"][theme]
    assert contrast(shapes.STROKES["thin-rim"][theme], face) >= 4.5
    assert contrast(shapes.COLOURS["steel"][theme], shapes.COLOURS["sworded"][theme]) >= 3
    assert sorted(contrast(colour, face) >= 2.7 for colour in shapes.SUIT_COLOURS) == [False, *[True] * 5]


def test_pictures_of_different_themes_can_share_a_page():
    for theme in ("auto", "light", "dark"):
        root = parsed(royal(3).svg(theme=theme))
        assert root.get("class") == f"royal-{theme}"
        sheet = root.find(f"{SVG}style").text
        assert sheet == parsed(royal(6).svg(theme=theme)).find(f"{SVG}style").text
        selectors = re.findall(r"([^{}]+)\{", re.sub(r"@media[^{]*\{", "", sheet))
        assert all(selector.strip().startswith(f".royal-{theme} ") for selector in selectors)


def test_every_class_has_a_rule():
    sheet, used = shapes.style("light"), set()
    for number, (before, move, table, _) in enumerate(steps(royal(6))):
        if number % 20 == 0 or table["phase"] != "trick":
            for layout in ("wide", "table"):
                root = parsed(picture(table, before=before, move=move, layout=layout, theme="light"))
                used |= {name for e in root.iter() for name in e.get("class", "").split() if e is not root}
    assert len(used) > 25
    assert all(f".{name}{{" in sheet for name in used), used


# --- other boxes, odd names, wrong arguments -----------------------------------------------------------------------


@pytest.mark.parametrize("box", BOXES, ids=["tiny", "large", "one-field"])
@pytest.mark.parametrize("num_players", [2, 6])
def test_changed_boxes_are_drawn(box, num_players):
    for number, (before, move, table, _) in enumerate(steps(royal(num_players, components=box))):
        if number % 10 == 0 or table["phase"] != "trick":
            root = parsed(picture(table, box, before=before, move=move))
            assert len(having(root, field=None)) == box.fields + 1
            assert sentences.played(before, move, table, 0, list("ABCDEF"), box)
            for e in having(root, playable=None):
                assert float(re.search(r"translate\(([\d.]+)", ET.tostring(e).decode())[1]) > PANEL_LEFT
    assert set(browser.setup("standard", num_players, box)["voids"]) == {*box.suits}
