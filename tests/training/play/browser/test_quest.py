"""The King's quests in a real browser: a whole game by clicks, secret bids, rides, a phone, the keyboard. Screenshots
are left in `screenshots/`."""

import json
import random
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the extra play isn't installed")
pytest.importorskip("uvicorn", reason="the extra play isn't installed")

from artus_env import Game
from artus_env.games.quest.page.deeds import jousters
from browsing import SMALL_PHONE, TOUCHED, click, link, shoot, step_of, unnamed, wait_for_step
from play_server import serving_at, wait_until
from quest.positions import lively

STEPS = ("take", "act", "aim", "horse", "bid", "confirm")
PEOPLE = ["Ann", "Ben", "Cleo", "Dora"]

serving = partial(serving_at, "quest", choose=lively)


def acting(**wanted):
    """A condition: Ann, player 0, is acting and has these numbers of action cards."""

    def holds(position):
        held = position["actions"][0]
        counts = all(held.count(name.replace("_", "-")) >= count for name, count in wanted.items())
        return position["phase"] == "act" and position["turn"] == 0 and counts

    return holds


def jousting(*players):
    """A condition: these players bid, Ann first; she holds at least two cards that can be bid and one that can't."""

    def holds(position):
        due = position["phase"] == "bid" and position["turn"] == 0 and position["bidding"] == [*players]
        if not due or len(jousters(position)) != len(players):
            return False
        kinds = [card[0] in "sl" for card in position["start_cards"][0] + position["taken"][0]]
        return kinds.count(True) >= 2 and False in kinds

    return holds


def click_target(page, target, tap=False):
    """Click on something in the picture; on a place near its corner, away from quests."""
    halo = page.locator(f'#picture [data-halo="{target}"]')
    if tap:
        halo.evaluate("halo => halo.scrollIntoView({ block: 'start' })")  # on a phone the panel covers the rest
    box = halo.bounding_box()
    part = 0.1 if target.startswith("place") else 0.5
    x, y = box["x"] + part * box["width"], box["y"] + part * box["height"]
    page.touchscreen.tap(x, y) if tap else page.mouse.click(x, y)


def target_of(move):
    kind, _, name = move.partition(":")
    if kind == "take":
        return f"display:{name}"
    return f"{'place' if kind.startswith('horse') else 'quest' if kind in ('artus', 'quest') else 'pile'}:{name}"


def choose(page, game, move, in_picture=False):
    """The clicks that make a move, up to the question whether to play it (if the page asks): on buttons, or in the
    picture."""
    kind, _, name = move.partition(":")
    if kind == "bid":
        if name == "nothing":
            click(page, "#hand .nothing")
        for card in dict.fromkeys(name.split("+")) if name != "nothing" else ():
            for nth in range(name.split("+").count(card)):
                page.locator(f'#hand [data-card="{card}"]').nth(nth).click()
        return
    if kind == "done":
        return page.click("#options [data-done]")
    action = name if kind == "take" else f"exercise-{name.split('-')[0]}" if kind == "exercise" else kind
    if in_picture:
        click_target(page, target_of(move))
        if page.locator("#options.horse").count():
            page.click(f'#options [data-action="{action}"]')
        return
    moves = [
        each for each in game.moves() if each.startswith(f"{kind}:") and (kind != "exercise" or action[9:] in each)
    ]
    page.click(f'#options [data-action="{action}"]')
    if kind != "take" and len(moves) > 1:
        option = page.locator("#options button").nth(moves.index(move))
        # Places are listed for the keyboard only.
        option.click() if option.is_visible() else click_target(page, target_of(move))


def test_a_whole_game_of_two_people_and_an_agent(tmp_path, open_page):
    """Only with clicks. Both people meet in a tournament, and neither page ever receives hidden cards, or a bid before
    it is revealed."""
    with serving(tmp_path, ["Ann", "Ben"], ["greedy"]) as (server, hosted):
        pages = [open_page(link(server, hosted, player), ask=False, forced=True) for player in (0, 1)]
        rng, met = random.Random(3), 0

        def awaited():
            """Whether a person has to choose: their pages play for them where there is no choice."""
            return hosted.game.over or (hosted.game.player < 2 and len(hosted.game.moves()) > 1)

        def move_to_play(game):
            """The move to play: until the two have met in a tournament, they choose tournaments and stay in Camelot."""
            moves = game.moves()
            home = [move for move in moves if not move.startswith("horse")]
            if met or not home:
                return lively(game, rng)
            return "take:tournament" if "take:tournament" in moves else rng.choice(home)

        while True:
            wait_until(awaited)
            if hosted.game.over:
                break
            player, number = hosted.game.player, hosted.number
            page, move, position = pages[player], move_to_play(hosted.game), hosted.game.to_dict()
            page.wait_for_function("number => document.querySelectorAll('#log li').length === number", arg=number)
            wait_for_step(page, *STEPS)
            duel = position["phase"] == "bid" and sorted(jousters(position)) == [0, 1]
            if duel and len(position["bidding"]) == 1:
                first = hosted.steps[number].move
                assert page.locator("#log li").first.inner_text().endswith("chooses something in secret.")
                assert first not in page.content()
                met += 1
            choose(page, hosted.game, move, rng.random() < 0.5)
            if move.startswith("bid") and len(jousters(position)) > 1:
                assert (step_of(page), hosted.number) == ("confirm", number), (
                    "more cards may follow, so the page always asks"
                )
                page.click("#confirm")
            wait_until(lambda: hosted.number > number)  # noqa: B023
            assert hosted.steps[number + 1].move == move
            if duel and len(position["bidding"]) == 1:
                told = pages[1 - player].locator("#log li")
                pages[1 - player].wait_for_function(
                    "number => document.querySelectorAll('#log li').length > number", arg=number
                )
                texts = told.evaluate_all("all => all.map(each => each.textContent)")
                assert not any("in secret" in text for text in texts)
                shoot(page, f"quest-tournament-{met}")
        assert met
        for player, page in enumerate(pages):
            page.wait_for_selector("#end table")
            shoot(page, f"quest-end-{'AB'[player]}")
            check_heard([json.loads(text) for text in page.evaluate("window.heard")], player, hosted)
            assert page.locator("#log li").count() == hosted.number
            rows = page.locator("#end tbody tr").all()
            points = [[int(cell) for cell in row.locator("td").all_inner_texts()[1:]] for row in rows]
            assert [row[0] for row in points] == sorted(hosted.game.scores, reverse=True)
            assert all(total == sum(parts) for total, *parts in points), "quests, court and tournaments"
        with pages[0].expect_download() as download:
            pages[0].click("#save")
        assert Game.replay(Path(download.value.path()).read_text()) == hosted.game


def check_heard(heard, player, hosted):
    """What a page's stream may tell of others: never their starting cards, and of a bid only that it is made, until the
    state that opens it."""
    assert len(heard) > 50
    secret, opened = set(), set()
    for state in heard:
        position, last = state["position"], state["last"]
        kinds = [list if number == player else int for number in range(3)]
        assert [type(cards) for cards in position["start_cards"]] == kinds
        assert isinstance(position["quest_pile"], int)
        assert "chance" not in position
        before = hosted.steps[state["number"] - 1].game.to_dict()
        duel = before["phase"] == "bid" and len(jousters(before)) > 1
        if duel and position["phase"] == "bid" and before["turn"] != player:
            secret.add(state["number"])
            assert position["bids"][before["turn"]] is None
            told = {name: last[name] for name in ("move", "text", "points")}
            assert told == {"move": None, "text": "chooses something in secret.", "points": 0}
            assert set(last) == {"player", "move", "text", "points", "gains", "entry", "opened"}
            assert "Last move" not in state["picture"]
        opened |= {line["number"] for line in last["opened"]}
        for line in last["opened"]:
            assert line["entry"]["move"] == hosted.steps[line["number"]].move
    assert secret
    assert secret == opened
    assert hosted.seats[1 - player].secret not in json.dumps(heard)


def test_a_bid_is_put_together_of_cards(tmp_path, open_page):
    """Also without the setting to ask before moves are played; cards can be removed from the bid again."""
    with serving(tmp_path, PEOPLE[:3], until=jousting(0, 1)) as (server, hosted):
        page, number = open_page(link(server, hosted), ask=False), hosted.number
        assert wait_for_step(page, "bid")
        assert page.inner_text("#prompt") == "Bid in secret against Ben"
        cards = page.locator("#hand .playable")
        names = cards.evaluate_all("all => all.map(each => each.dataset.card)")
        pressed = lambda: cards.evaluate_all("all => all.map(each => each.ariaPressed === 'true')")  # noqa: E731
        barred = page.locator('#hand .card[aria-disabled="true"]').first
        barred.click(force=True)
        assert page.inner_text("#detail") == "Only swords and lances are bid."
        cards.nth(0).click()
        assert page.inner_text("#prompt").startswith(f"Bid {names[0].replace('-', ' ')}: ")
        cards.nth(1).click()
        assert pressed()[:2] == [True, True]
        total = int(names[0][-1]) + int(names[1][-1])
        assert page.inner_text("#prompt").endswith(f": {total} in all?")
        shoot(page, "quest-bid")
        cards.nth(0).click()
        assert pressed().count(True) == 1
        click(page, "#hand .nothing")
        assert page.inner_text("#prompt") == "Bid nothing?"
        assert True not in pressed()
        cards.nth(1).click()
        page.keyboard.press("Escape")
        assert (step_of(page), pressed().count(True)) == ("bid", 0)
        page.keyboard.press("1")
        page.keyboard.press("2")
        assert pressed()[:2] == [True, True]
        assert hosted.number == number
        page.click("#confirm")
        wait_until(lambda: hosted.number > number)
        assert hosted.steps[number + 1].move == f"bid:{'+'.join(names[:2])}"
        page.wait_for_function("() => /bids \\d/.test(document.querySelector('[data-player=\"0\"] .tent').textContent)")
        assert page.locator('.player[data-player="1"] .tent').inner_text().endswith("has still to bid")


def test_who_jousts_alone_lays_back_one_card(tmp_path, open_page):
    with serving(tmp_path, PEOPLE[:3], until=jousting(0)) as (server, hosted):
        page, number = open_page(link(server, hosted)), hosted.number
        assert page.inner_text("#prompt") == "You joust alone: lay back one sword or lance"
        assert page.locator("#hand .nothing").count() == 0
        card = page.locator("#hand .playable").nth(1)
        name = card.get_attribute("data-card")
        for _ in range(2):
            page.locator("#hand .playable").first.click()
            assert wait_for_step(page, "confirm")
            page.locator("#hand .playable").first.click()
            assert wait_for_step(page, "bid")
        card.click()
        assert page.inner_text("#prompt").endswith(": you joust alone, for 2 points?")
        assert page.locator('#hand .playable[aria-pressed="true"]').count() == 1
        page.click("#confirm")
        wait_until(lambda: hosted.number > number)
        assert hosted.steps[number + 1].move == f"bid:{name}"
        assert hosted.game.scores[0] == hosted.steps[number].game.scores[0] + 2


def test_knights_ride_by_taps_on_places(tmp_path, open_page):
    """If two horses can reach a place, the page asks which one to use."""
    with serving(tmp_path, PEOPLE[:3], until=acting(horse_2=1, horse_3=1)) as (server, hosted):
        page, number = open_page(link(server, hosted), **TOUCHED), hosted.number
        assert wait_for_step(page, "act")
        near = [move[8:] for move in hosted.game.moves() if move.startswith("horse-2:")]
        far = [move[8:] for move in hosted.game.moves() if move.startswith("horse-3:") and move[8:] not in near]
        click_target(page, f"place:{near[0]}", tap=True)
        assert wait_for_step(page, "horse")
        assert page.locator("#options button").count() == 2
        page.tap("#back")
        assert wait_for_step(page, "act")
        click_target(page, f"place:{far[0]}", tap=True)
        page.wait_for_selector("#picture.preview")
        assert page.inner_text("#prompt").endswith("with horse 3?")
        knight = page.locator('#picture [data-knight="0"]')
        assert knight.get_attribute("data-at") == far[0]
        shoot(page, "quest-phone-ride")
        page.tap("#back")
        assert wait_for_step(page, "act")
        assert knight.get_attribute("data-at") == hosted.game.to_dict()["places"][0]
        page.tap('#options [data-action="horse-2"]')
        assert wait_for_step(page, "aim")
        assert page.locator(".halo").count() == len(near)
        click_target(page, f"place:{near[-1]}", tap=True)
        page.wait_for_selector("#picture.preview")
        page.tap("#confirm")
        wait_until(lambda: hosted.number > number)
        assert hosted.steps[number + 1].move == f"horse-2:{near[-1]}"


def test_quests_are_asked_for_and_paid_in_the_picture(tmp_path, open_page):
    def can(kind):
        return lambda position: (
            acting()(position) and any(move.startswith(kind) for move in Game.from_dict(position).moves())
        )

    for kind, prompt in (("artus", "Ask Artus for "), ("quest", "Do the quest ")):
        with serving(tmp_path / kind, PEOPLE[:3], until=can(kind)) as (server, hosted):
            page, number = open_page(link(server, hosted)), hosted.number
            assert wait_for_step(page, "act")
            move = next(move for move in hosted.game.moves() if move.startswith(kind))
            click_target(page, target_of(move))
            page.wait_for_selector("#picture.preview")
            assert page.inner_text("#prompt").startswith(prompt)
            shoot(page, f"quest-{kind}")
            page.click("#confirm")
            wait_until(lambda: hosted.number > number)  # noqa: B023
            assert hosted.steps[number + 1].move == move


def test_an_action_card_that_is_of_no_use_says_why(tmp_path, open_page):
    def outside_camelot(position):
        return acting(tournament=1)(position) and any(
            card.startswith("exercise") and position["places"][0] != "camelot" for card in position["actions"][0]
        )

    with serving(tmp_path, PEOPLE[:4], until=outside_camelot) as (server, hosted):
        page, number = open_page(link(server, hosted)), hosted.number
        useless = page.locator('#options [data-action^="exercise"]').first
        useless.click(force=True)
        assert page.inner_text("#detail") == page.inner_text("#announce") == "You can exercise only in Camelot."
        assert useless.get_attribute("aria-label").endswith(" You can exercise only in Camelot.")
        assert useless.get_attribute("aria-disabled") == "true"
        page.locator('#options [data-action="tournament"]').click(force=True)
        assert page.inner_text("#detail").startswith("The tournament comes when all are done")
        assert (step_of(page), hosted.number) == ("act", number)


@pytest.mark.parametrize("step", ["take", "act", "bid"])
def test_a_small_phone_shows_it_all_and_is_played_with_a_thumb(tmp_path, open_page, step):
    def in_a_late_round(position):
        if step == "bid":
            return jousting(0, 1)(position)
        phase = {"take": "choose", "act": "act"}[step]
        reached = position["phase"] == phase and position["turn"] == 0 and position["round"] > 2
        return reached and any(position["quests"]) and len(Game.from_dict(position).moves()) > 3

    people = ["Ann", "Benedict the Younger", "Cleo", "Wilhelmina of Orange"]
    with serving(tmp_path, people, until=in_a_late_round) as (server, hosted):
        page, number = open_page(link(server, hosted), **TOUCHED), hosted.number
        shoot(page, f"quest-phone-{step}")
        assert step_of(page) == step
        assert page.evaluate("document.documentElement.scrollWidth") <= SMALL_PHONE["width"]
        for each in page.locator("#options button, #hand .card, #actions button:visible").all():
            box = each.bounding_box()
            assert min(box["width"], box["height"]) >= 38
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= SMALL_PHONE["width"]
            assert box["y"] + box["height"] <= SMALL_PHONE["height"], "without scrolling"
        if step == "bid":
            page.locator("#hand .playable").first.tap()
        elif step == "take":
            page.locator("#options button").first.tap()
        else:
            page.tap("#options [data-done]")
        page.wait_for_selector("#confirm:visible")
        page.tap("#confirm")
        wait_until(lambda: hosted.number > number)


def test_it_is_played_with_the_keyboard_and_read_aloud(tmp_path, open_page):
    with serving(tmp_path, PEOPLE[:3], until=lambda position: position["round"] == 3 and position["turn"] == 0) as (
        server,
        hosted,
    ):
        page, number = open_page(link(server, hosted)), hosted.number
        described = page.locator("#picture svg desc").text_content()
        position = hosted.game.to_dict()
        for player, place in enumerate(position["places"]):
            assert f"{'ABC'[player]} {place}" in described
        for quest in position["open_quests"]:
            assert quest in described.partition("Open quests: ")[2]
        assert unnamed(page) == []
        labels = page.locator("#options button").evaluate_all("all => all.map(each => each.ariaLabel)")
        assert all(": " in label for label in labels), "the purpose of each action card"
        for panel in page.locator(".player").all():
            held = panel.locator("[role=img]").evaluate_all("all => all.map(each => each.ariaLabel)")
            assert [text.partition(":")[0] for text in held] == ["actions", "virtues", "quests"]
        reached = set()
        page.focus("body")
        for _ in range(40):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("document.activeElement.dataset.action || document.activeElement.id"))
        assert {move.partition(":")[2] for move in hosted.game.moves()} | {"hint", "log"} <= reached
        page.keyboard.press("2")
        assert wait_for_step(page, "confirm")
        page.wait_for_function("() => document.activeElement.id === 'confirm'")
        page.keyboard.press("Enter")
        wait_until(lambda: hosted.number > number)
        assert hosted.steps[number + 1].move == hosted.steps[number].game.moves()[1]


def test_knights_move(tmp_path, open_page):
    with serving(tmp_path, PEOPLE[:3], until=acting(horse_3=1)) as (server, hosted):
        page, number = open_page(link(server, hosted), pace=1000, reduced_motion="no-preference"), hosted.number
        page.evaluate(
            """() => {
            window.animated = [];
            const real = Element.prototype.animate;
            Element.prototype.animate = function (frames, ...rest) {
                window.animated.push([this.dataset.knight ?? "other", frames.length]);
                return real.call(this, frames, ...rest);
            };
            }"""
        )
        move = next(move for move in hosted.game.moves()[::-1] if move.startswith("horse-3:"))
        choose(page, hosted.game, move)
        page.click("#confirm")
        wait_until(lambda: hosted.number > number)
        page.wait_for_function("() => window.animated.length")
        (knight, frames), *_ = page.evaluate("window.animated")
        assert knight == "0"
        assert 2 <= frames <= 4, "the places of the way"


def test_a_hint_leads_to_its_move(tmp_path, open_page):
    with serving(tmp_path, PEOPLE[:2], until=jousting(0, 1)) as (server, hosted):
        page = open_page(link(server, hosted))
        page.click("#hint")
        page.wait_for_selector("#advice li button", timeout=180_000)  # the search has to be compiled first
        moves = page.locator("#advice li button").evaluate_all("all => all.map(each => each.dataset.move)")
        assert {*moves} <= {*hosted.game.moves()}
        page.locator("#advice li button").first.click()
        assert wait_for_step(page, "confirm")
        chosen = page.locator('#hand [aria-pressed="true"]').evaluate_all("all => all.map(each => each.dataset.card)")
        assert moves[0] == f"bid:{'+'.join(filter(None, chosen)) or 'nothing'}"
