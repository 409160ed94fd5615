"""Actions of people on the play page, for tests in a browser."""

import math
import random
import shutil
from pathlib import Path

from artus_training.play.command import seats
from artus_training.play.hosted import HostedGame
from artus_training.play.store import Store

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SHOTS = Path(__file__).parents[2] / "screenshots"
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
SMALL_PHONE = {"width": 360, "height": 640}
TOUCHED = {"viewport": SMALL_PHONE, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}


def link(server, hosted, player=0):
    return f"{server.base}/seat/{hosted.seats[player].secret}"


def step_of(page):
    return page.get_attribute("body", "data-step")


def shoot(page, name):
    SHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SHOTS / f"{name}.png")


def click(page, selector, tap=False):
    """Click or tap in the middle of an element, even if the page says that it is disabled."""
    box = page.locator(selector).first.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.touchscreen.tap(x, y) if tap else page.mouse.click(x, y)


def unnamed(page):
    """HTML of the visible controls and images that have no name for screen readers."""
    return page.evaluate(
        """() => [...document.querySelectorAll("button, a, select, input, summary, [role=img], svg[role=img]")]
        .filter(element => element.checkVisibility() && !element.closest("[aria-hidden=true]"))
        .filter(element => !(element.ariaLabel || element.labels?.length || element.textContent.trim()))
        .map(element => element.outerHTML.slice(0, 100))"""
    )


def wait_for_step(page, *steps):
    page.wait_for_function("steps => steps.includes(document.body.dataset.step)", arg=list(steps))
    return step_of(page)


def click_seat(page, seat, tap=False):
    """Click or tap on a seat in the picture."""
    box = page.locator("#picture svg").bounding_box()
    angle = math.tau * seat / 28
    radius = 242 / 616 * box["width"]
    x, y = (
        box["x"] + box["width"] / 2 + radius * math.sin(angle),
        box["y"] + box["height"] / 2 - radius * math.cos(angle),
    )
    page.touchscreen.tap(x, y) if tap else page.mouse.click(x, y)


def marked_seats(page):
    return [
        int(halo)
        for halo in page.eval_on_selector_all(".halo:not(.chosen)", "halos => halos.map(halo => halo.dataset.seat)")
    ]


def press_one(page, hosted, rng, tap=False):
    """Make one decision with buttons: choose a random move, then confirm it."""
    from play_server import wait_until  # needs the extra `play`

    number = hosted.number
    if wait_for_step(page, "choose", "confirm") == "choose":
        options = page.locator("#options button")
        assert options.count() == len(hosted.game.moves()) > 1
        option = options.nth(rng.randrange(options.count()))
        option.tap() if tap else option.click()
    page.wait_for_selector("#confirm:visible")
    page.tap("#confirm") if tap else page.click("#confirm")
    wait_until(lambda: hosted.number > number)
    page.wait_for_function("number => document.querySelectorAll('#log li').length > number", arg=number)


def at(folder, game, moves, people=("Ann", "Ben"), agents=(), seed=5):
    """A hosted game after some random moves."""
    hosted = HostedGame.deal(Store(folder), None if game != "artus" else "advanced", seats(people, agents), seed, game)
    rng = random.Random(2)
    while hosted.number < moves and not hosted.game.over:
        hosted.play(hosted.game.player, hosted.number, rng.choice(hosted.game.moves()))
    return hosted
