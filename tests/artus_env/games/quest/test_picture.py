"""Pictures of the King's quests as SVG, and sentences about its moves."""

import json
import math
import random
import re
from collections import Counter
from pathlib import Path

import pytest

from artus_env import Game
from artus_env.engine.drawing.svg import BADGES, HEIGHT, WIDTH
from artus_env.games.quest.components import ACTIONS, CARDS, PLACES, QUESTS, STANDARD, VIRTUES, Components, Quest
from artus_env.games.quest.page import browser, sentences, shapes
from artus_env.games.quest.page.deeds import deed, jousters, total, way_between, winners
from artus_env.games.quest.page.picture import picture, spot
from eyes import SEEN_BY, contrast, least_difference
from quest.positions import RING, flat, game_at, joust, lively, points
from svgs import SVG, has_no_ids, having, parsed, texts

PLAYERS = range(2, 5)
NAMES = ["Ann", "Ben", "Cleo", "Dora"]
LARGE = Components(
    copies=(5, 2, 2, 2, 5, 5, 5, 5),
    display=((4,) * 5 + (2,) + (4,) * 5,) * 3,
    choices=(6, 6, 6),
    goals=(99, 99, 99),
    quests=(Quest((2, 2, 2, 2), 99), *STANDARD.quests[1:]),
    rounds=99,
)
SMALL = Components(
    copies=(1, 1, 1, 1, 1, 1, 1, 1),
    display=((1, 0, 0, 1, 1, 2, 1, 0, 2, 0, 0), (2, 0, 0, 1, 1, 2, 1, 1, 2, 0, 0), (2, 0, 1, 1, 1, 2, 1, 1, 3, 0, 0)),
    choices=(3, 2, 2),
    goals=(2, 2, 2),
)


def quest(num_players, seed=1, **options):
    return Game(game="quest", num_players=num_players, seed=seed, **options)


def steps(game, seed=0):
    """Play a game to its end; yield (game before the move, move, game after it) for each move."""
    rng = random.Random(seed)
    while not game.over:
        before, move = game.clone(), lively(game, rng)
        game.play(move)
        yield before, move, game


def full_hand(cards):
    """Known cards of a hand, given as (`start_cards`, `taken`); hidden starting cards, which are a count, are left
    out."""
    start, taken = cards
    return sorted([*([] if isinstance(start, int) else start), *taken], key=CARDS.index)


# --- what is where -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("num_players", PLAYERS)
def test_every_picture_of_a_game_shows_what_the_position_says(num_players):
    for number, (before, move, after) in enumerate(steps(quest(num_players))):
        if number % 7 and not move.startswith("bid"):
            continue
        table = after.to_dict()
        root = parsed(picture(table, before=before.to_dict(), move=move))
        assert root.get("role") == "img"
        assert [root[0].tag, root[1].tag] == [f"{SVG}title", f"{SVG}desc"]
        assert f"{num_players} players" in root[0].text
        assert has_no_ids(root)
        assert [tile.get("data-place") for tile in having(root, place=None)] == table["ring"]
        knights = {int(knight.get("data-knight")): knight.get("data-at") for knight in having(root, knight=None)}
        assert [knights[player] for player in range(num_players)] == table["places"]
        shown = {each.get("data-quest"): each.get("data-holder") for each in having(root, quest=None)}
        holders = {name: str(player) for player, quests in enumerate(table["quests"]) for name in quests}
        assert shown == dict.fromkeys(table["open_quests"], "") | holders
        display = {each.get("data-display"): int(each.get("data-count")) for each in having(root, display=None)}
        assert {name: count for name, count in display.items() if count} == Counter(table["display"])
        piles = {each.get("data-pile"): int(each.get("data-count")) for each in having(root, pile=None)}
        assert piles.pop("quests") == len(table["quest_pile"])
        pile_counts = Counter(f"{virtue}-{value}" for virtue, values in table["piles"].items() for value in values)
        assert piles == {card: pile_counts[card] for card in CARDS}
        assert [int(tent.get("data-tent")) for tent in having(root, tent=None)] == table["tents"]
        for player in range(num_players):
            of_player = {"player": str(player)}
            names = [card.get("data-action") for card in having(root, action=None, **of_player)]
            assert names == table["actions"][player]
            hand = full_hand((table["start_cards"][player], table["taken"][player]))
            assert [card.get("data-card") for card in having(root, card=None, **of_player)] == hand
            assert [each.get("data-tag") for each in having(root, tag=None, **of_player)] == table["quests"][player]
            assert [card.get("data-card") for card in having(root, bid=None, **of_player)] == table["bids"][player]
            excluded = table["excluded"][player] if table["start_cards"][player] else []
            assert {each.get("data-excluded") for each in having(root, excluded=None, **of_player)} == {*excluded}
            shields = texts(having(root, panel=str(player))[0])
            assert str(table["points"][player]) in shields


@pytest.mark.parametrize("num_players", PLAYERS)
@pytest.mark.parametrize("box", [STANDARD, LARGE, SMALL], ids=["standard", "large", "small"])
def test_cards_lie_within_the_picture(num_players, box):
    for number, (_, _, after) in enumerate(steps(quest(num_players, components=box))):
        if number > 300:
            break
        if number % 23:
            continue
        root, found = parsed(after.svg()), 0
        for group in root.iter():
            moved = re.fullmatch(r"translate\(([\d.]+) ([\d.]+)\) scale\(([\d.]+)\)", group.get("transform", ""))
            if moved and any(e.get("width") == "44" for e in group):
                x, y, scale = map(float, moved.groups())
                assert 0 < x < x + 44 * scale < WIDTH - 12
                assert 0 < y < y + 62 * scale < HEIGHT - 12
                found += 1
        table = after.to_dict()
        assert found >= len(CARDS) + len(flat(table["taken"])) + len(flat(table["actions"]))


def test_places_lie_in_a_ring_clockwise_from_camelot_at_the_top():
    middles = [spot(nth) for nth in range(len(PLACES))]
    assert middles[0] == pytest.approx((344, 89))
    assert middles[2] == pytest.approx((599, 344))
    assert len({round(math.dist(spot(nth), spot(nth + 1))) for nth in range(len(PLACES))}) == 1
    root = parsed(game_at(ring=[RING[0], *RING[:0:-1]]).svg())
    tiles = having(root, place=None)
    assert [texts(tile) for tile in tiles] == [["Camelot"], *([name] for name in RING[:0:-1])]
    x, y = (float(tiles[1].find(f"{SVG}rect").get(name)) for name in "xy")
    assert (x + 73, y + 63) == pytest.approx(middles[1], abs=0.1)


def test_quests_lead_to_their_places_and_say_what_they_demand():
    root = parsed(game_at(open_quests=["lake-2", "tower-2"], quests={1: ["tower-1"]}).svg())
    mine, other = having(root, quest="tower-1")[0], having(root, quest="tower-2")[0]
    assert mine.find(f"{SVG}title").text == "tower-1: sword-1 + book-1 for 4 points, held by B"
    assert texts(mine) == ["1", "1", "4", "B"]
    assert texts(other) == ["2", "1", "1", "7"]
    assert other.find(f"{SVG}title").text.endswith(", open")


def test_the_way_of_a_ride_is_drawn_the_shorter_way_round():
    ring = RING
    assert way_between(ring, "camelot", "lake") == ["camelot", "forest", "valley", "lake"]
    assert way_between(ring, "forest", "ruin") == ["forest", "camelot", "tower", "ruin"]
    assert len(way_between(ring, "valley", "ruin")) == 5
    game = game_at(actions={0: ["horse-2"]}, places={0: "forest"}, moves=("horse-2:tower",))
    root = parsed(game.svg())
    (way,) = having(root, way="forest-tower")
    start, end = re.match(r"M([\d.]+ [\d.]+)A.* 0 0 0 ([\d.]+ [\d.]+)$", way.get("d")).groups()  # against the clock
    assert tuple(map(float, start.split())) == pytest.approx(spot(1), abs=0.1)
    assert tuple(map(float, end.split())) == pytest.approx(spot(7), abs=0.1)
    assert "A: horse-2:tower" in texts(root)


def test_the_picture_of_the_docs_is_of_this_game():
    game = quest(4, 41)
    for number in range(119):
        moves = game.moves()
        game.play(moves[number % min(5, len(moves))])
    assert game.svg(player=0) == (Path(__file__).parents[4] / "docs/quest.svg").read_text()


# --- what moves do -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("num_players", PLAYERS)
def test_deeds_are_read_as_the_rules_play_them(num_players):
    """Payments, bids and prizes of every move of some games are read correctly from what any player sees."""
    seen = Counter()
    for seed in range(4):
        for before, move, after in steps(quest(num_players, seed), seed):
            old, new = before.to_dict(), after.to_dict()
            effect = deed(old, move, new)
            assert effect == deed(before.to_dict(0), move, after.to_dict(0)), "all see the same"
            kind, mover = effect.move.kind, before.player
            seen[kind] += 1
            hand_before = Counter(old["start_cards"][mover] + old["taken"][mover])
            hand_after = Counter(new["start_cards"][mover] + new["taken"][mover])
            if kind in ("court", "quest"):
                assert Counter(effect.paid) == hand_before - hand_after
                assert effect.points == points(before, move) > 0
            if kind == "bid" and effect.ends_round:
                bids = {player: old["bids"][player] for player in jousters(old)} | {mover: [*effect.move.bid]}
                assert effect.bids == bids
                best = max(map(total, bids.values()))
                winning = [player for player, cards in bids.items() if total(cards) == best > 0]
                assert {player for player, prize in effect.prizes.items() if prize} == {*winning}
                seen[f"{len(bids)} joust"] += 1
            if kind == "done":
                assert effect.unused == [card for card in old["actions"][mover] if card != "tournament"]
                assert bool(effect.next_jousters) == (new["phase"] == "bid")
                assert len(effect.new_quests) <= 3
            assert effect.ends_round == (after.over or new["round"] > old["round"])
        assert winners(after.to_dict()) == after.winners
    assert {*seen} == {"take", "exercise", "artus", "court", "quest", "horse", "done", "bid", "1 joust", "2 joust"}


def test_of_equal_points_those_who_reached_the_goal_first_have_won():
    assert winners({"points": [20, 20, 3], "reached": [2, 1, 0]}) == [1]
    assert winners({"points": [20, 20, 21], "reached": [2, 1, 3]}) == [2]
    assert winners({"points": [20, 20, 3], "reached": [1, 1, 0]}) == [0, 1]
    assert winners({"points": [7, 7, 3], "reached": [0, 0, 0]}) == [0, 1]


# --- who may see what ----------------------------------------------------------------------------------------------


def page_data(before, after, move, player):
    """All data about a move that a player's page gets, if the player sees the move."""
    old, new = before.to_dict(player), after.to_dict(player)
    names = NAMES[: before.num_players]
    return (
        picture(new, before=old, move=move),
        sentences.played(old, move, new, player, names),
        picture(new, STANDARD, before=old, move=move, names=names, layout="table"),
        browser.last(old, move, new, STANDARD),
    )


@pytest.mark.slow
@pytest.mark.parametrize("num_players", PLAYERS)
def test_what_a_player_cannot_know_is_in_nothing_that_their_page_gets(num_players):
    """Pictures, sentences and data of the page are the same for all deals that a player can't distinguish, and the
    others' starting cards are drawn as backs."""
    secrets = 0
    for number, (before, move, after) in enumerate(steps(quest(num_players, 2), 2)):
        bidding = after.to_dict()["phase"] == "bid"
        if number % 9 and not bidding:
            continue
        action = before.action(move)
        for player in range(num_players):
            root, table = parsed(after.svg(player)), after.to_dict()
            for other in range(num_players):
                fronts, backs = (having(root, player=str(other), **{kind: None}) for kind in ("card", "back"))
                start, taken = (table[name][other] for name in ("start_cards", "taken"))
                hand = full_hand((start if other == player else 0, taken))
                assert [card.get("data-card") for card in fronts] == hand
                assert len(backs) == (0 if other == player else len(start))
                assert not any(texts(back) for back in backs)
                hidden = bidding and other != player and len(jousters(table)) > 1
                secrets += bool(hidden and table["bids"][other])
                marked = [card.get("data-card") for card in having(root, player=str(other), bid=None)]
                assert marked == ([] if hidden else table["bids"][other])
            if not before.is_seen(action, player, after):
                continue
            for seed in range(2):
                assert page_data(before, after.redeal(player, seed), move, player) == page_data(
                    before, after, move, player
                )
    assert secrets


def test_of_a_secret_bid_nothing_is_drawn_but_that_it_is_made():
    game = joust(taken={0: ["sword-1", "lance-2"], 1: ["lance-1"]}, moves=("bid:sword-1+lance-2",))
    own_svg, others_svg = game.svg(0), game.svg(2)
    assert "bids 3" in own_svg
    assert len(having(parsed(own_svg), bid=None)) == 2
    assert "bid:" not in others_svg
    assert "Last move" not in others_svg
    assert "has bid in secret" in others_svg
    assert "A has bid." in others_svg
    other_bid = joust(taken={0: ["sword-1", "lance-2"], 1: ["lance-1"]}, moves=("bid:nothing",))
    assert other_bid.svg(1) == game.svg(1)
    assert other_bid.svg(2) == others_svg


def test_an_open_tournament_shows_both_bids_to_all():
    game = joust(taken={0: ["sword-1", "lance-2"], 1: ["lance-1"]}, moves=("bid:sword-1+lance-2", "bid:lance-1"))
    for viewer in (None, 0, 1, 2):
        root = parsed(game.svg(viewer))
        assert "A bid 3, B bid 1 · A +2" in texts(root)
        assert "A bid 3: sword-1, lance-2. B bid 1: lance-1." in root[1].text


@pytest.mark.parametrize("num_players", PLAYERS)
def test_choices_are_described_without_what_is_hidden(num_players):
    """The effect of a bid or of the end of a turn isn't foreseen: the round may end with it, and quests are opened."""
    for number, (_, _, after) in enumerate(steps(quest(num_players, 4), 4)):
        if after.over or (number % 6 and after.to_dict()["phase"] != "bid"):
            continue
        player = after.player
        views = [each.to_dict(player) for each in (after, after.redeal(player, 1), after.redeal(player, 2))]
        for move in after.moves():
            assert browser.foreseeable(move) == (not move.startswith(("bid", "done")))
            data = [
                (sentences.choice(view, move, None, NAMES), browser.choice(view, move, None, NAMES, STANDARD))
                for view in views
            ]
            assert data[0] == data[1] == data[2]
            json.dumps(data)


# --- words ---------------------------------------------------------------------------------------------------------

CARD = "(sword|lance|dragon|book) [12]"


def test_moves_are_told_in_sentences():
    sentences_seen = set()
    for num_players in PLAYERS:
        for seed in range(4):
            for before, move, after in steps(quest(num_players, seed), seed):
                sentence = sentences.played(before.to_dict(0), move, after.to_dict(0), 0, NAMES)
                assert re.fullmatch(r"[a-z].*\.", sentence)
                assert not re.search(r"\s\s|None|\.\.", sentence)
                sentence = re.sub(rf"{CARD}((, {CARD})* and {CARD})?", "CARDS", sentence)
                sentences_seen.add(
                    re.sub(r"\d+|Ann|Ben|Cleo|Dora|forest|valley|lake|moor|ford|ruin|tower", "…", sentence)
                )
    assert {
        "takes the card horse ….",
        "takes the card sword exercise.",
        "takes the card tournament.",
        "exercises and takes CARDS.",
        "lays CARDS back at court: … points.",
        "does the quest … … with CARDS: … points.",
        "rides to the … with horse ….",
        "rides to Camelot with horse ….",
        "is done.",
        "is done. … and … joust.",
        "is done. … jousts alone.",
        "is done. Round … begins: … has the first tent.",
        "jousts alone with CARDS: … points. Round … begins: … has the first tent.",
        "bids CARDS: … in all.",
        "bids nothing.",
        "bids CARDS: … in all. … wins the tournament (… …, … …): … points. Round … begins: … has the first tent.",
    } <= sentences_seen
    assert any(sentence.startswith("is done: court and horse … go back unused.") for sentence in sentences_seen)
    assert any(sentence.endswith(" The game is over.") for sentence in sentences_seen)
    assert any(sentence.startswith("asks Artus for … … (") for sentence in sentences_seen)


@pytest.mark.parametrize(
    ("first", "second", "result"),
    [
        (("sword-2",), ("lance-1",), "Ann wins the tournament (Ann 2, Ben 1): 2 points."),
        (("sword-2",), ("lance-1", "lance-1", "sword-1"), "Ben wins the tournament (Ann 2, Ben 3): 2 points."),
        (("sword-2",), ("lance-2",), "The tournament is drawn (Ann 2, Ben 2): 1 point each."),
        ((), (), "Nobody wins the tournament."),
    ],
)
def test_how_a_tournament_ends(first, second, result):
    bids = [f"bid:{'+'.join(sorted(cards, key=CARDS.index)) or 'nothing'}" for cards in (first, second)]
    game = joust(taken={0: first, 1: second}, moves=(bids[0],))
    before = game.to_dict(2)
    game.play(bids[1])
    assert f" {result} Round 2" in sentences.played(before, bids[1], game.to_dict(2), 2, NAMES)


@pytest.mark.parametrize(
    ("move", "expected"),
    [
        ("horse-3:lake", "ride to the lake with horse 3"),
        ("horse-3:camelot", "ride to Camelot with horse 3"),
        ("quest:forest-2", "do the quest forest 2 with sword 2 and dragon 2: 5 points"),
        ("court:book-1", "lay book 1 back at court for 2 points"),
        ("done", "be done: court, quest and horse 3 go back unused"),
    ],
)
def test_choices_are_told_with_what_they_bring(move, expected):
    game = game_at(
        4, actions={0: ["court", "quest", "horse-3"]}, places={0: "forest"}, quests={0: ["forest-2"]},
        start_cards={0: ["sword-2", "book-1"]}, taken={0: ["dragon-2"]},
    )  # fmt: skip
    before = game.to_dict(0)
    game.play(move)
    assert sentences.choice(before, move, game.to_dict(0), NAMES) == expected


# --- looks ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("eyes", SEEN_BY)
def test_virtues_and_players_differ_for_all_eyes(eyes):
    """Differences are measured in CIELAB, where 2 or 3 can just be seen. Signs and outlines differ, too."""
    assert least_difference(shapes.VIRTUE_COLOURS, eyes) > 30
    assert least_difference([badge.colour for badge in BADGES[:4]], eyes) > 10
    assert len(set(shapes.SIGNS)) == len(shapes.VIRTUE_COLOURS) == len(VIRTUES)
    assert len(set(shapes.EMBLEMS.values())) == len(PLACES)


LETTERS_ON = {
    "ink": ("page", "panel", "place", "camelot"),
    "mute": ("page", "panel"),
    "print": ("face", "canvas"),
    "plate": ("gold",),
    "pale": ("deed",),
}


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_letters_and_signs_stand_out(theme):
    """Contrasts are 4.5 : 1 for letters and 3 : 1 for signs, as WCAG 2 requires. Signs of virtues may have less,
    because they have a dark rim."""
    for text, grounds in LETTERS_ON.items():
        for ground in grounds:
            assert contrast(shapes.COLOURS[text][theme], shapes.COLOURS[ground][theme]) >= 4.5, (text, ground)
    face = shapes.COLOURS["face"][theme]
    assert contrast(shapes.STROKES["thin-rim"][theme], face) >= 4.5
    assert sorted(contrast(colour, face) >= 2.7 for colour in shapes.VIRTUE_COLOURS) == [False, *[True] * 3]


def test_pictures_of_different_themes_can_share_a_page():
    for theme in ("auto", "light", "dark"):
        root = parsed(quest(3).svg(theme=theme))
        assert root.get("class") == f"quest-{theme}"
        sheet = root.find(f"{SVG}style").text
        assert sheet == parsed(quest(4).svg(theme=theme)).find(f"{SVG}style").text
        selectors = re.findall(r"([^{}]+)\{", re.sub(r"@media[^{]*\{", "", sheet))
        assert all(selector.strip().startswith(f".quest-{theme} ") for selector in selectors)


def test_every_class_has_a_rule():
    sheet, used = shapes.style("light"), set()
    for number, (before, move, after) in enumerate(steps(quest(4))):
        if number % 9 == 0 or move.startswith(("bid", "quest")):
            for layout in ("wide", "table"):
                svg = picture(after.to_dict(), before=before.to_dict(), move=move, layout=layout, theme="light")
                root = parsed(svg)
                used |= {name for e in root.iter() for name in e.get("class", "").split() if e is not root}
    assert len(used) > 25
    assert all(f".{name}{{" in sheet for name in used), used


# --- other boxes, odd names, wrong arguments -----------------------------------------------------------------------


@pytest.mark.parametrize("box", [LARGE, SMALL], ids=["large", "small"])
@pytest.mark.parametrize("num_players", PLAYERS)
def test_changed_boxes_are_drawn(box, num_players):
    for number, (before, move, after) in enumerate(steps(quest(num_players, components=box))):
        if number > 400:
            break
        if number % 10 == 0:
            root = parsed(after.svg())
            assert len(having(root, place=None)) == len(PLACES)
            assert sentences.played(before.to_dict(), move, after.to_dict(), 0, NAMES, box)
    setup = browser.setup("standard", num_players, box)
    assert {*setup["virtues"]} == {*CARDS}
    assert {*setup["actions"]} == {*ACTIONS}
    assert {*setup["quests"]} == {*QUESTS}
