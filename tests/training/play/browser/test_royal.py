"""The royal card game in a real browser: a whole game by clicks, chips, a card that can't be played, a phone, the
keyboard. Screenshots are left in `screenshots/`."""

import json
import random
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the extra play isn't installed")
pytest.importorskip("uvicorn", reason="the extra play isn't installed")

from artus_env import Game
from artus_env.games.royal.components import STANDARD
from artus_training.play.command import seats
from artus_training.play.hosted import HostedGame
from artus_training.play.store import Store
from browsing import SMALL_PHONE, TOUCHED, click, link, shoot, step_of, unnamed, wait_for_step
from play_server import serving_at, wait_until

serving = partial(serving_at, "royal")
APOSTROPHE = "\N{RIGHT SINGLE QUOTATION MARK}"
STEPS = ("card", "chip", "swap", "confirm")


def must_follow(position):
    """Whether Ann, player 0, holds cards of the suit that was led, and other cards."""
    hand, trick = position["hands"][0], position["trick"]
    following = [card for card in hand if trick and card.split("-")[0] == trick[0][1].split("-")[0]]
    return position["turn"] == 0 and 1 < len(following) < len(hand) and any(position["voids"])


def play_one(page, hosted, rng, tap=False):
    """Make one decision by clicks: a card in hand or chips on the table, then `Play it`."""
    number = hosted.number
    step = wait_for_step(page, *STEPS)
    while step != "confirm":
        if step == "card":
            cards = page.locator("#hand .playable").evaluate_all("all => all.map(each => each.dataset.card)")
            assert {*cards} == {*hosted.game.moves()}
            click(page, f'#hand .playable[data-card="{rng.choice(cards)}"]', tap)
        elif rng.random() < 0.2 and page.locator("#options button", has_text="Decline").count():
            page.locator("#options button", has_text="Decline").click()
        else:
            halos = page.locator(".halo:not(.chosen)").evaluate_all("all => all.map(each => each.dataset.halo)")
            click(page, f'.halo[data-halo="{rng.choice(halos)}"]', tap)
        step = wait_for_step(page, *STEPS)
    click(page, "#confirm", tap)
    wait_until(lambda: hosted.number > number)


def test_a_whole_game_of_two_people_and_two_agents(tmp_path, open_page):
    """Only with clicks. Neither page ever receives hidden cards, and an illegal card changes nothing."""
    with serving(tmp_path, ["Ann", "Ben"], ["greedy", "greedy"]) as (server, hosted):
        pages = [open_page(link(server, hosted, player), ask=False, forced=True) for player in (0, 1)]
        rng, refused, chips = random.Random(3), 0, 0

        def awaited():
            """Whether a person has to choose: their pages play for them where there is no choice."""
            return hosted.game.over or (hosted.game.player < 2 and len(hosted.game.moves()) > 1)

        while True:
            wait_until(awaited)
            if hosted.game.over:
                break
            page, number = pages[hosted.game.player], hosted.number
            page.wait_for_function("number => document.querySelectorAll('#log li').length === number", arg=number)
            step = step_of(page)
            if step == "card" and refused < 2 and page.locator("#hand .barred").count():
                hand = page.inner_html("#hand")
                click(page, "#hand .barred")
                suit = hosted.game.to_dict()["trick"][0][1].split("-")[0]
                reason = f"{suit.capitalize()} was led, and you hold {suit}."
                assert page.inner_text("#detail") == page.inner_text("#announce") == reason
                assert (step_of(page), hosted.number, page.inner_html("#hand")) == ("card", number, hand)
                refused += 1
                shoot(page, "royal-revoke")
            chips += step in ("chip", "swap")
            if step == "card":
                cards = page.locator("#hand .playable").evaluate_all("all => all.map(each => each.dataset.card)")
                assert {*cards} == {*hosted.game.moves()}
                click(page, f'#hand .playable[data-card="{rng.choice(cards)}"]')
            else:
                click(page, ".halo:not(.chosen)")
                if step == "swap":
                    click(page, ".halo:not(.chosen)")
            wait_until(lambda: hosted.number > number)  # noqa: B023
        assert refused == 2
        assert chips
        for player, page in enumerate(pages):
            page.wait_for_selector("#end table")
            shoot(page, f"royal-end-{'AB'[player]}")
            assert page.locator("#log li").count() == hosted.number
            heard = [json.loads(text) for text in page.evaluate("window.heard")]
            assert len(heard) > 50
            for state in heard:
                position = state["position"]
                assert [type(hand) for hand in position["hands"]] == [list if p == player else int for p in range(4)]
                assert isinstance(position["pile"], int)
                assert "chance" not in position
                own_hand = {*position["hands"][player]}
                for move in state["moves"]:
                    assert move["card"] is None or move["card"] in own_hand
            assert hosted.seats[1 - player].secret not in json.dumps(heard) + page.content()
            fields = page.locator("#end td:nth-child(3)").all_inner_texts()
            assert fields == [str(field) for field in sorted(hosted.game.scores, reverse=True)]
        with pages[0].expect_download() as download:
            pages[0].click("#save")
        assert Game.replay(Path(download.value.path()).read_text()) == hosted.game


def test_a_card_can_be_taken_back_and_what_it_comes_to_is_said(tmp_path, open_page):
    with serving(tmp_path, ["Ann", "Ben", "Cleo"], until=must_follow) as (server, hosted):
        page, number = open_page(link(server, hosted)), hosted.number
        suit = hosted.game.to_dict()["trick"][0][1].split("-")[0]
        assert page.inner_text("#prompt") == f"Follow {suit}"
        card = page.locator("#hand .playable").first
        for take_back in (lambda: page.keyboard.press("Escape"), lambda: page.click("#back"), card.click):
            card.click()
            assert wait_for_step(page, "confirm")
            assert card.get_attribute("aria-pressed") == "true"
            assert page.inner_text("#prompt").startswith("Play the ")
            assert "the trick" in page.inner_text("#detail")
            take_back()
            assert wait_for_step(page, "card")
            assert card.get_attribute("aria-pressed") == "false"
        assert hosted.number == number


def test_tricks_of_the_deal_can_be_looked_back_at(tmp_path, open_page):
    """Tricks from before the page was opened, and tricks played while it is open; the list of tricks stays open."""

    def second_trick(position):
        return position["turn"] == 0 and not position["trick"] and len(position["played"][0]) == 2

    names = ["Ann", "Ben", "Cleo"]
    with serving(tmp_path, names, until=second_trick) as (server, hosted):
        page, rng = open_page(link(server, hosted)), random.Random(1)
        page.click(".tricks summary")
        for num_tricks in (2, 3, 4):
            while len(hosted.game.to_dict()["played"][0]) < num_tricks or hosted.game.to_dict()["trick"]:
                body = {"number": hosted.number, "move": rng.choice(hosted.game.moves())}
                assert server.ask(f"/api/{hosted.seats[hosted.game.player].secret}/move", body)[0] == 200
            page.wait_for_function("count => document.querySelectorAll('.tricks li').length === count", arg=num_tricks)
        told = page.locator(".tricks li .unseen").all_text_contents()[::-1]
        position = hosted.game.to_dict()
        for nth, line in enumerate(told):
            for player, name in enumerate(names):
                card = position["played"][player][nth]
                title = card if "-" not in card else f"{card.split('-')[1]} of {card.split('-')[0]}"
                assert f"{name}: {title}" in line
        takers = [line.split(". ")[1].split(" ")[0] for line in told]
        leaders = [line.split(": ")[1].split(":")[0] for line in told]
        assert takers[:-1] == leaders[1:]
        assert takers[-1] == hosted.names[position["turn"]]
        assert page.locator(".tricks").get_attribute("open") is not None
        shoot(page, "royal-tricks")


@pytest.mark.parametrize("kind", ["chip", "swap"])
def test_chips_are_chosen_on_the_table_of_a_small_phone(tmp_path, open_page, kind):
    def at_a_sword(position):
        empty = position["trumps"].count(None)
        return position["phase"] == "sword" and position["turn"] == 0 and (empty == 0 if kind == "swap" else empty == 3)

    people = ["Ann", "Ben", "Cleo", "Dora", "Emil", "Fay"]
    with serving(tmp_path, people, until=at_a_sword) as (server, hosted):
        page, number = open_page(link(server, hosted), **TOUCHED), hosted.number
        assert page.evaluate("document.documentElement.scrollWidth") <= SMALL_PHONE["width"]
        assert step_of(page) == kind
        trumps = hosted.game.to_dict()["trumps"]
        waiting = [suit for suit in STANDARD.suits if suit not in trumps]
        halos = page.locator(".halo").evaluate_all("all => all.map(each => each.dataset.halo)")
        assert halos == (waiting if kind == "chip" else list("123456"))
        shoot(page, f"royal-phone-{kind}")
        if kind == "chip":
            page.touchscreen.tap(*middle(page, '[data-chip][data-place="1"]'))
            assert "is placed already" in page.inner_text("#detail")
            page.touchscreen.tap(*middle(page, f'[data-chip="{waiting[1]}"]'))
            move = f"trump:{waiting[1]}"
        else:
            page.touchscreen.tap(*middle(page, '[data-place="5"]'))
            assert page.inner_text("#prompt") == f"Swap {trumps[4]} with which chip?"
            page.touchscreen.tap(*middle(page, '[data-place="5"]'))
            assert page.inner_text("#prompt") == "Swap two trump chips"
            page.touchscreen.tap(*middle(page, '[data-place="5"]'))
            page.touchscreen.tap(*middle(page, '[data-place="2"]'))
            move = "swap:2:5"
        page.wait_for_selector("#picture.preview")
        assert step_of(page) == "confirm"
        shoot(page, f"royal-phone-{kind}-preview")
        page.tap("#confirm")
        wait_until(lambda: hosted.number > number)
        assert hosted.steps[number + 1].move == move


def middle(page, selector):
    box = page.locator(f"#picture {selector} circle").first.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.mark.parametrize("players", [4, 6])
def test_a_small_phone_shows_it_all_and_is_played_with_a_thumb(tmp_path, open_page, players):
    def full_hand(position):
        return (
            position["turn"] == 0 and len(position["hands"][0]) == 8 and position["trick"] and any(position["fields"])
        )

    people = ["Ann", "Benedict the Younger", "Cleo", "Dora", "Emil", "Wilhelmina of Orange"][:players]
    with serving(tmp_path, people, until=full_hand) as (server, hosted):
        page = open_page(link(server, hosted), **TOUCHED)
        shoot(page, f"royal-phone-{players}")
        assert page.evaluate("document.documentElement.scrollWidth") <= SMALL_PHONE["width"]
        for each in page.locator("#hand .card, #actions button:visible").all():
            box = each.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= SMALL_PHONE["width"]
            assert min(box["width"], box["height"]) >= 40
            assert box["y"] + box["height"] <= SMALL_PHONE["height"], "without scrolling"
        laid = page.locator("#picture [data-trick]").first.bounding_box()
        assert laid["y"] < page.locator("#turn").bounding_box()["y"], "the trick is visible, too"
        play_one(page, hosted, random.Random(2), tap=True)


def test_it_is_played_with_the_keyboard_and_read_aloud(tmp_path, open_page):
    with serving(tmp_path, ["Ann", "Ben", "Cleo"], until=must_follow) as (server, hosted):
        page, number = open_page(link(server, hosted)), hosted.number
        hand, moves = hosted.game.to_dict()["hands"][0], hosted.game.moves()
        barred = next(card for card in hand if card not in moves)
        page.keyboard.press(str(hand.index(barred) + 1))
        assert "was led, and you hold" in page.inner_text("#announce")
        labels = page.locator("#hand .card").evaluate_all("all => all.map(each => each.ariaLabel)")
        for card, text in zip(hand, labels, strict=True):
            assert (f"can{APOSTROPHE}t be played: " in text) == (card not in moves)
        described = page.locator("#picture svg desc").text_content()
        for player, card in hosted.game.to_dict()["trick"]:
            assert f"{'ABC'[player]} {card}" in described
        assert page.get_by_role("img", name="no ").count() >= 1, "voids"
        assert unnamed(page) == []
        reached = set()
        page.focus("body")
        for _ in range(30):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("document.activeElement.dataset.card || document.activeElement.id"))
        assert {*hand, "hint", "log"} <= reached
        page.focus(f'#hand [data-card="{moves[0]}"]')
        page.keyboard.press("Enter")
        assert wait_for_step(page, "confirm")
        page.wait_for_function("() => document.activeElement.id === 'confirm'")
        page.keyboard.press("Enter")
        wait_until(lambda: hosted.number > number)
        assert hosted.steps[number + 1].move == moves[0]


def test_cards_chips_and_pawns_move(tmp_path, open_page):
    """The card that completes a trick, and the pawn of its taker."""

    def last_to_play(position):
        return position["turn"] == 0 and len(position["trick"]) == 2

    with serving(tmp_path, ["Ann", "Ben", "Cleo"], until=last_to_play) as (server, hosted):
        page = open_page(link(server, hosted), pace=1000, reduced_motion="no-preference")
        page.evaluate(
            """() => {
            window.animated = [];
            const real = Element.prototype.animate;
            Element.prototype.animate = function (...all) {
                const { trick, pawn } = this.dataset;
                window.animated.push(trick ? `card ${trick}` : pawn ? `pawn ${pawn}` : "other");
                return real.apply(this, all);
            };
            }"""
        )
        before = hosted.game.scores
        play_one(page, hosted, random.Random(0))
        taker = next(player for player in range(3) if hosted.game.scores[player] != before[player])
        page.wait_for_function("() => window.animated.length >= 2")
        page.wait_for_timeout(600)
        shoot(page, "royal-animation")
        assert {"card 0", f"pawn {taker}"} <= {*page.evaluate("window.animated")}


def test_a_card_is_taken_back_when_the_other_person_agrees(tmp_path, open_page):
    """The card can be taken back because playing it has revealed nothing but the card itself."""

    def follows(position):
        return must_follow({**position, "voids": [["hearts"]]})

    with serving(tmp_path, ["Ann", "Ben"], until=follows) as (server, hosted):
        page, other = (open_page(link(server, hosted, player)) for player in (0, 1))
        number, hand = hosted.number, page.locator("#hand .card").evaluate_all("all => all.map(e => e.dataset.card)")
        assert page.locator("#undo").is_hidden() or hosted.steps[-1].player == 0
        play_one(page, hosted, random.Random(1))
        page.wait_for_selector("#undo:visible")
        other.wait_for_selector("#undo", state="hidden")
        page.click("#undo")
        other.wait_for_selector("#asked:visible")
        assert other.inner_text("#asked span") == "Ann would like to take back the last move."
        assert page.inner_text("#asked span") == "The others are asked whether they agree."
        other.click("#asked button")
        wait_until(lambda: hosted.number == number)
        for each in (page, other):
            each.wait_for_function("number => document.querySelectorAll('#log li').length === number", arg=number)
        assert page.locator("#hand .card").evaluate_all("all => all.map(each => each.dataset.card)") == hand
        assert wait_for_step(page, "card")
        play_one(page, hosted, random.Random(2))


def test_the_last_card_of_a_deal_stays_for_it_has_brought_new_hands(tmp_path):
    rng, stays, goes = random.Random(3), 0, 0
    hosted = HostedGame.deal(Store(tmp_path), None, seats(["Ann", "Ben"], []), 3, "royal")
    while not hosted.game.over:
        before = hosted.game.to_dict()
        hosted.play(hosted.game.player, hosted.number, rng.choice(hosted.game.moves()))
        dealt = sum(map(len, hosted.game.to_dict()["hands"])) > sum(map(len, before["hands"]))
        if not hosted.game.over:
            assert hosted.last_can_be_taken_back is not dealt
            stays, goes = stays + dealt, goes + (not dealt)
    assert stays >= 1
    assert goes > 10
