"""A browser for these tests, and the pages that people open in it."""

import json

import pytest

from browsing import CHROMIUM, DESKTOP


@pytest.fixture(scope="session")
def chromium():
    """One browser for all tests of a process.

    `tests/conftest.py` sorts the browser tests last: while Playwright's event loop runs, no other asyncio event loop
    can start.
    """
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright isn't installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed (Debian: apt-get install chromium)")
    with playwright.sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium):
    """Opens a page in a browser context of its own, like a separate visitor. After the test it fails if any page had an
    error."""
    contexts, faults = [], []

    def open_(url, pace=0, ask=True, forced=False, **options):
        options = {"viewport": DESKTOP, "reduced_motion": "reduce", **options}
        context = chromium.new_context(**options)
        contexts.append(context)
        context.set_default_timeout(30_000)
        settings = {"play-pace": str(pace), "play-ask": ask, "play-forced": forced}
        context.add_init_script(
            f"const settings = {json.dumps(settings)};"
            """
            for (const [key, value] of Object.entries(settings)) localStorage.setItem(key, JSON.stringify(value));
            window.heard = []; // all that the stream tells
            window.deaf = false; // then only what a test gives to `window.hear`
            window.alive = false; // whether the server has told how often it says that the stream is alive
            const Real = EventSource;
            window.EventSource = class extends Real {
                constructor(url) {
                    super(url);
                    this.addEventListener("alive", () => { window.alive = true; });
                }
                set onmessage(hear) {
                    window.hear = (data) => hear({ data });
                    super.onmessage = ({ data }) => { window.heard.push(data); if (!window.deaf) window.hear(data); };
                }
            };"""
        )
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.outside = []
        page.on("request", lambda request: page.outside.append(request.url))
        page.goto(url)
        page.wait_for_selector("#picture svg")
        return page

    yield open_
    for context in contexts:
        context.close()
    assert not faults


@pytest.fixture
def start(tmp_path, chromium):
    """Opens the start page of an empty folder: (server, page)."""
    from play_server import Serving  # needs the extra `play`

    server, faults = Serving(tmp_path), []
    contexts = []

    def open_(ask=True, **options):
        context = chromium.new_context(reduced_motion="reduce", **options)
        contexts.append(context)
        context.set_default_timeout(30_000)
        context.add_init_script(
            f"localStorage.setItem('play-pace', '\"0\"'); localStorage.setItem('play-ask', '{str(ask).lower()}')"
        )
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(f"{server.base}/host/{server.lobby.host_secret}")
        page.wait_for_selector("#setup:visible", timeout=60_000)
        return server, page

    yield open_
    for context in contexts:
        context.close()
    server.stop()
    assert not faults
