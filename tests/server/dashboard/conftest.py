"""One service and one browser for all tests of a module."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from dashboard_kit import FLAGS, PATIENCE, Site, chromium, serving


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = chromium()
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield running
        running.close()


@pytest.fixture(scope="module")
def site(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The browser comes first: without it nothing is started."""
    with serving(tmp_path_factory.mktemp("service")) as running:
        yield running


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Pages of windows of their own; an error of a script, or a request to elsewhere, fails the test."""
    contexts: list[BrowserContext] = []
    wrong: list[str] = []

    def opened(
        address: str, width: int = 1440, height: int = 1000, scheme: Literal["light", "dark"] = "light"
    ) -> Page:
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if "Content Security" in said.text else None)
        page.on("request", lambda each: None if "127.0.0.1" in each.url else wrong.append(each.url))
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []
