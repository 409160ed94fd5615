"""Pictures of positions as SVG."""

import itertools
import json
import math
import re

import numpy as np
import pytest

from artus_env import Batch, Card, Components, Game
from artus_env.engine.drawing.svg import BADGES
from artus_env.games.artus.components import CARDS, WHEEL
from artus_env.games.artus.page import shapes
from artus_env.games.artus.page.picture import PANEL_LEFT, PANEL_WIDTH, PANELS, last_move, picture
from engine_play import TINY_BOX, VARIANTS, random_game, random_moves
from eyes import SEEN_BY, contrast, least_difference
from positions import around, position
from svgs import SVG, has_no_ids, having, parsed, texts

variants = pytest.mark.parametrize(("rules", "num_players"), VARIANTS)
MIDDLE = (344, 344)


def position_of(element):
    """Position of a group, from the first `translate` in it: (x, y)."""
    for inner in element.iter():
        if moved := re.match(r"translate\(([-\d.]+) ([-\d.]+)\)", inner.get("transform", "")):
            return float(moved[1]), float(moved[2])
    raise AssertionError("not moved")


def seat_at(x, y):
    """The seat in whose direction a point lies. Seat 0 is at the top, the others follow clockwise."""
    turns = math.atan2(x - MIDDLE[0], MIDDLE[1] - y) / math.tau
    seat = turns * 28
    assert abs(seat - round(seat)) < 0.05, "between two seats"
    return round(seat) % 28


# --- what is where -------------------------------------------------------------------------------------------------


@variants
def test_every_picture_of_a_game_is_one_accessible_element_without_ids(rules, num_players):
    for number, game in enumerate(random_moves(Game(rules, num_players, seed=1), 1)):
        if number % 5:
            continue
        for layout in ("wide", "table"):
            root = parsed(game.svg(layout=layout))
            assert root.tag == f"{SVG}svg"
            assert root.get("role") == "img"
            assert root[0].tag == f"{SVG}title"
            assert root[1].tag == f"{SVG}desc"
            assert f"{num_players} players" in root[0].text
            assert has_no_ids(root)


@variants
def test_figures_sit_where_the_position_says(rules, num_players):
    for seed in range(3):
        game = random_game(rules, num_players, seed, moves=15 + 20 * seed)
        seats = game.to_dict()["seats"]
        drawn = [None] * 28
        for group in having(parsed(game.svg()), figure=None):
            seat = seat_at(*position_of(group))
            assert int(group.get("data-seat")) == seat
            kind = group.get("data-figure")
            if kind == "knight":
                player = int(group.get("data-player"))
                assert texts(group) == ["ABCD"[player]]
                drawn[seat] = {"knight": player}
            else:
                drawn[seat] = {kind: group.get("data-colour"), "rings": int(group.get("data-rings"))}
                rings = [e for e in group.iter(f"{SVG}circle") if "ring" in e.get("class").split()]
                assert len(rings) == drawn[seat]["rings"]
        assert drawn == seats


@pytest.mark.parametrize("king", [0, 1, 9, 27])
def test_the_wheel_turns_with_the_king(king):
    table = position(around("Ks", king, s1=[-8], b1=[-5, -12], A=[10, 8, 7, 6, 5], B=[1, 2, 3, 4, -1]), ["k1-4"])
    plates = having(parsed(picture(table)), plate=None)
    assert len(plates) == 28
    for plate in plates:
        value, kind = int(plate.get("data-value")), plate.get("data-plate")
        text = plate.find(f"{SVG}text")
        if kind == "crown":
            assert text is None
            assert seat_at(*position_of(plate)) == king
            continue
        seat = seat_at(float(text.get("x")), float(text.get("y")) - 0.36 * float(text.get("font-size")))
        assert value == WHEEL[(king - seat) % 28]
        assert kind == ("green" if value > 0 else "red" if value < 0 else "yellow")
        assert text.text == str(value).replace("-", "\u2212")


def test_seats_have_numbers_and_say_what_they_are():
    for rules, carpet in (("beginner", []), ("advanced", [0, 1, 2, 14, 15, 16])):  # only scoring cards count the carpet
        drawn = parsed(Game(rules, seed=0).svg())
        seats = [e for e in having(drawn, seat=None) if "data-figure" not in e.attrib]
        assert [texts(seat) for seat in seats] == [[str(number)] for number in range(28)]
        titles = [seat.find(f"{SVG}title").text for seat in seats]
        assert [n for n, title in enumerate(titles) if "crown seat" in title] == [0, 7, 14, 21]
        assert [n for n, title in enumerate(titles) if "on the carpet" in title] == carpet
    assert "King" in titles[0]


@pytest.mark.parametrize(
    ("score", "field", "tiles"),
    [
        (0, 0, []),
        (49, 49, []),
        (123, 23, [50, 50]),
        (-1, 49, [-50]),
        (-27, 23, [-50]),
        (-120, 30, [-50] * 3),
        (260, 10, [50]),
    ],
)
def test_prestige_is_a_field_of_the_track_and_tiles(score, field, tiles):
    root = parsed(picture(Game(seed=0).to_dict() | {"scores": [score, 5]}))
    (marker,) = having(root, marker="0")
    x, y = position_of(marker)
    turns = math.atan2(x - MIDDLE[0], MIDDLE[1] - y) / math.tau * 50
    assert min(abs(turns - field), abs(turns + 50 - field)) < 0.05
    panel = having(root, panel="0")[0]
    assert [int(tile.get("data-tile")) for tile in having(panel, tile=None)] == tiles
    assert str(score).replace("-", "\u2212") in texts(panel)


def test_markers_that_share_a_field_stand_beside_each_other():
    root = parsed(picture(Game("beginner", 4, seed=0).to_dict() | {"scores": [23, 73, -27, 23]}))
    places = {position_of(marker) for marker in having(root, marker=None)}
    assert all(math.dist(one, other) > 15 for one, other in itertools.combinations(places, 2))
    assert len(places) == 4


@variants
def test_cards_piles_and_the_last_card_played_are_shown(rules, num_players):
    game = random_game(rules, num_players, 4, moves=70)
    table = game.to_dict()
    root = parsed(game.svg())
    for player in range(num_players):
        cards = having(root, player=str(player), card=None)
        assert [card.get("data-card") for card in cards] == table["hands"][player]
        for pile, left in table["piles"][player].items():
            shown = having(root, player=str(player), pile=pile)
            if pile == "scoring" and rules == "beginner":
                assert not shown
                continue
            assert shown[0].get("data-count") == str(len(left))
            assert texts(shown[0]) == [str(len(left))]
        played = having(root, player=str(player), pile="played")[0]
        assert played.get("data-count") == str(len(table["played"][player]))


@variants
def test_nothing_lies_upon_anything_in_the_panels(rules, num_players):
    """Cards and piles of each player, as boxes, with the name above them."""
    root = parsed(random_game(rules, num_players, 0, moves=1).svg())
    top = 12
    for player in range(num_players):
        boxes = []
        for group in having(root, panel=str(player))[0].iter():
            moved = re.fullmatch(r"translate\(([\d.]+) ([\d.]+)\) scale\(([\d.]+)\)", group.get("transform", ""))
            if moved and any(e.get("width") == "44" for e in group):
                x, y, scale = map(float, moved.groups())
                boxes.append((x, y, x + 44 * scale, y + 62 * scale))
        assert len(boxes) == (4 + 3 if rules == "beginner" else 6 + 4)
        for x0, y0, x1, y1 in boxes:
            assert PANEL_LEFT < x0 < x1 < PANEL_LEFT + PANEL_WIDTH
            assert top + 50 < y0 < y1 < top + PANELS[num_players].height
        for one, other in itertools.combinations(boxes, 2):
            assert one[2] < other[0] or other[2] < one[0] or one[3] < other[1] or other[3] < one[1]
        top += PANELS[num_players].height + 10


# --- who may see what ----------------------------------------------------------------------------------------------


@variants
def test_what_a_player_cannot_know_is_not_in_his_picture(rules, num_players):
    game = random_game(rules, num_players, 2, moves=60)
    for player in range(num_players):
        svg = picture(game.to_dict(player))
        for seed in range(3):  # other hands and piles that fit what the player knows
            assert picture(game.redeal(player, seed).to_dict(player)) == svg
        root = parsed(game.svg(player))
        for other in range(num_players):
            fronts, backs = having(root, player=str(other), card=None), having(root, player=str(other), back=None)
            hand = game.to_dict()["hands"][other]
            assert [card.get("data-card") for card in fronts] == (hand if other == player else [])
            assert len(backs) == (0 if other == player else len(hand))
            assert not any(texts(back) for back in backs)


def test_the_picture_of_a_whole_position_hides_piles_too():
    game = Game("advanced", 2, seed=3)
    table = game.to_dict()
    table["piles"][0]["knight"].reverse()
    assert picture(table) == picture(game.to_dict())


# --- the last move -------------------------------------------------------------------------------------------------


def moved(table, move):
    game = Game.from_dict(table)
    game.play(move)
    return last_move(table, move, game.to_dict()), game


def test_the_last_move_is_drawn_with_the_figure_it_displaced():
    seats = around("Ks", 10, s1=[7], b1=[-5, -12], A=[5, 4, 3, 2, 1], B=[10, 8, -1, -2, -3])
    table = position(seats, ["k3-6"])
    last, game = moved(table, "k3-6:5>9")
    assert (last.player, last.points, last.origin, last.target, last.forward) == (0, 5, 5, 9, True)
    assert last.refuge == 6  # 8 and 7 are taken
    svg = game.svg()
    root = parsed(svg)
    assert having(root, move="k3-6:5>9")
    (displaced,) = having(root, displaced=None)
    assert displaced.get("data-displaced") == "6"
    circles = list(displaced.iter(f"{SVG}circle"))
    assert [seat_at(float(e.get("cx")), float(e.get("cy"))) for e in circles] == [6]
    assert "A: k3-6:5>9  +5" in texts(root)
    assert "Last move: A k3-6:5>9." in root[1].text


def test_a_move_backward_is_drawn_backward():
    seats = around("Ks", 10, s1=[7], b1=[-5, -12], A=[5, 4, 3, 2, 1], B=[10, 8, -1, -2, -3])
    last, game = moved(position(seats, ["k1-5b"]), "k1-5b:5>0")
    assert (last.origin, last.target, last.forward, last.refuge) == (5, 0, False, 25)
    arcs = [
        re.search(r"A[\d.]+ [\d.]+ 0 0 (\d)", e.get("d"))[1]
        for e in having(parsed(game.svg()), move=None)[0].iter()
        if "A" in e.get("d", "")
    ]
    assert arcs == ["0", "0"]  # both counter-clockwise


@variants
def test_refuges_are_where_the_displaced_figures_went(rules, num_players):
    game, count = Game(rules, num_players, seed=5), 0
    rng = np.random.default_rng(5)
    while not game.over:
        before, move = game.to_dict(), str(rng.choice(game.moves()))
        game.play(move)
        after = game.to_dict()
        last = last_move(before, move, after)
        assert last.points == after["scores"][last.player] - before["scores"][last.player]
        if last.origin is not None:
            assert after["seats"][last.target] == before["seats"][last.origin]
        if last.refuge is not None:
            count += 1
            assert after["seats"][last.refuge] == before["seats"][last.target]
        parsed(picture(after, before=before, move=move))
    assert count > 3


@pytest.mark.parametrize(
    ("move", "target"), [("ring-any:21", 21), ("choice:ring:7", 7), ("@12", 12), ("all", None), ("draw:king", None)]
)
def test_moves_without_a_way(move, target):
    table = Game(seed=0).to_dict()
    last = last_move(table, move, table)
    assert (last.origin, last.target, last.refuge) == (None, target, None)


# --- looks ---------------------------------------------------------------------------------------------------------


def test_pictures_of_different_themes_can_share_a_page():
    """Every rule of a style sheet applies only to its own theme, and all pictures of a theme have the same style
    sheet."""
    game = Game(seed=0)
    for theme in ("auto", "light", "dark"):
        root = parsed(game.svg(theme=theme))
        assert root.get("class") == f"artus-{theme}"
        sheet = root.find(f"{SVG}style").text
        assert sheet == parsed(Game("advanced", 4, seed=1).svg(theme=theme)).find(f"{SVG}style").text
        assert ("prefers-color-scheme:dark" in sheet) == (theme == "auto")
        selectors = re.findall(r"([^{}]+)\{", re.sub(r"@media[^{]*\{", "", sheet))
        assert len(selectors) > 40
        assert all(selector.strip().startswith(f".artus-{theme} ") for selector in selectors)


def test_every_class_has_a_rule():
    sheet = shapes.style("light")
    used = set()
    for rules, num_players in VARIANTS:
        for layout in ("wide", "table"):
            root = parsed(random_game(rules, num_players, 1, moves=60).svg(layout=layout, theme="light"))
            used |= {name for e in root.iter() for name in e.get("class", "").split() if e is not root}
    assert all(f".{name}{{" in sheet for name in used), used


@pytest.mark.parametrize("eyes", SEEN_BY)
def test_knights_differ_for_all_eyes(eyes):
    assert least_difference([badge.colour for badge in BADGES[:4]], eyes) > 30
    assert len({badge.outline for badge in BADGES}) == len(BADGES)


LETTERS_ON = {
    "plate": ("green", "yellow", "gold"),
    "pale": ("red",),
    "ink": ("page", "panel", "hub", "chair", "track"),
    "mute": ("panel", "hub", "track"),
    "print": ("face",),
}


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_letters_stand_out(theme):
    """Contrasts are at least 4.5 : 1, as WCAG 2 requires for text."""
    pairs = [
        (shapes.COLOURS[text][theme], shapes.COLOURS[ground][theme])
        for text, grounds in LETTERS_ON.items()
        for ground in grounds
    ]
    pairs += [(badge.ink, badge.colour) for badge in BADGES]
    for text, ground in pairs:
        assert contrast(text, ground) >= 4.5, (text, ground)


# --- other boxes, odd names, wrong arguments -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "box",
    [
        TINY_BOX,
        Components(wheel=(0, *range(13, -14, -1)), crown_seats=(3, 9, 15, 22)),
        Components(
            cards=(*CARDS[:15], Card("<&\"'", "scoring", "all"), *CARDS[16:20], Card("four", "scoring", "choice", 4, 4))
        ),
    ],
    ids=["tiny", "wheel", "names"],
)
def test_changed_boxes_are_drawn(box):
    for rules in ("beginner", "advanced"):
        for game in random_moves(Game(rules, 3, seed=1, components=box), 1):
            root = parsed(game.svg())
        assert len(having(root, plate=None)) == 28


def test_drawing_changes_nothing():
    game = random_game("advanced", 3, 1, moves=40)
    before, table = game.record(), json.dumps(game.to_dict())
    first = game.svg()
    assert game.svg() == first
    assert (game.record(), json.dumps(game.to_dict())) == (before, table)


# --- notebooks -----------------------------------------------------------------------------------------------------


def test_notebooks_show_a_game():
    game = random_game("beginner", 2, 1, moves=20)
    assert game._repr_html_() == game.svg()


@pytest.mark.parametrize(
    ("num_games", "num_shown", "note"), [(1, 1, None), (12, 12, None), (4096, 12, "4084 more games")]
)
def test_notebooks_show_some_games_of_a_batch(num_games, num_shown, note):
    batch = Batch(num_games, rules="advanced", num_players=3, seed=0)
    html = batch._repr_html_()
    assert html.count("<svg") == html.count("</svg>") == num_shown
    assert ("more games" in html) == (note is not None)
    assert note is None or note in html
    assert picture(Game("advanced", 3, seed=int(batch.seeds[0])).to_dict(), layout="table") in html
    assert len(html) < 500_000
