"""The dashboard as its readers meet it: in Chromium, over a real service.

The tests run in order over one service, as a day's work does: what the first registers, the later ones find.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from dashboard_kit import TOKEN, Site, editor, keep, option, options, rows, write
from shared import ROOT

pytestmark = [pytest.mark.network, pytest.mark.timeout(600)]

STREAM = "http://example.org/badges"
BASE = 1_700_000_000_000
"""The time of the first message, ms; far from the present, so that only messages move event time."""

QUERIES = {
    "rspql": f"""PREFIX : <http://example.org/>
REGISTER RSTREAM <tumbling> AS
SELECT ?who ?room
FROM NAMED WINDOW <w> ON <{STREAM}> [RANGE PT2S STEP PT2S]
WHERE {{ WINDOW <w> {{ ?who :in ?room }} }}""",
    "cqels": f"""PREFIX : <http://example.org/>
SELECT ?who ?room
WHERE {{ STREAM <{STREAM}> [NOW] {{ ?who :in ?room }} }}""",
    "csparql": f"""REGISTER QUERY counted AS
PREFIX : <http://example.org/>
SELECT ?room (COUNT(*) AS ?people)
FROM STREAM <{STREAM}> [RANGE 2s STEP 2s]
WHERE {{ ?who :in ?room }}
GROUP BY ?room""",
    "sparqlstream": f"""PREFIX : <http://example.org/>
CONSTRUCT ISTREAM {{ ?room :holds ?who }}
FROM NAMED STREAM <{STREAM}> [NOW - 2 S TO NOW SLIDE 2 S]
WHERE {{ ?who :in ?room }}""",
}
NAMES = {"rspql": "tumbling", "cqels": "present", "csparql": "counted", "sparqlstream": "holders"}
HALL, SCRIPT = "<http://example.org/hall>", '"<img src=x onerror=alert(1)>"'


def message(after: int, who: str, room: str) -> str:
    return f"{BASE + after}\t<http://example.org/{who}> <http://example.org/in> {room} ."


MESSAGES = [
    message(0, "anna", HALL),
    message(1000, "ben", HALL),
    message(1000, "ben", SCRIPT),
    message(10_000, "cleo", HALL),
]


def test_a_query_in_each_dialect_gets_its_results(site: Site, open_page: Callable[..., Page]) -> None:
    page = open_page(site.open)
    write(page, QUERIES["rspql"], "rspql")
    page.get_by_role("button", name="Add the stream").click()
    expect(page.locator("#streams .item-name")).to_have_text("badges")
    for dialect, text in QUERIES.items():
        write(page, text, dialect)
        if "REGISTER" not in text:
            page.get_by_label("Name of the query").fill(NAMES[dialect])
        page.get_by_role("button", name="Run", exact=True).click()
        expect(option(page, NAMES[dialect])).to_be_visible()
    expect(options(page)).to_have_count(4)

    page.get_by_text("Push messages").click()
    page.get_by_label("Message", exact=True).fill("\n".join(MESSAGES))
    page.get_by_role("button", name="Push", exact=True).click()
    expect(page.locator("#notices")).to_contain_text("3 pushed to")

    option(page, "tumbling").click()
    expect(rows(page)).to_have_count(3)
    expect(rows(page).filter(has_text=":anna")).to_contain_text(":hall")
    expect(rows(page).filter(has_text="<img src=x onerror=alert(1)>")).to_contain_text(":ben")
    assert page.locator("#results img").count() == 0
    option(page, "present").click()
    expect(rows(page).locator(".op-I")).to_have_count(3)
    option(page, "counted").click()
    expect(rows(page).filter(has_text=":hall").locator(".numeric")).to_have_text("2")
    expect(page.locator("#chart svg path.series")).to_have_count(2)
    option(page, "holders").click()
    expect(rows(page).filter(has_text=":hall :holds :anna")).to_have_count(1)
    keep(page, "dialects")


def test_a_syntax_error_is_shown_at_its_place(site: Site, open_page: Callable[..., Page]) -> None:
    page = open_page(site.open)
    write(page, QUERIES["rspql"].replace("STEP PT2S", "STEP"))
    told = page.locator("#editor-message")
    expect(told).to_contain_text("Line 4, column")
    expect(told).to_contain_text("expected a duration")
    mark = page.locator(".editor-copy .squiggle")
    expect(mark).to_have_text("]")
    number = page.locator(".editor-gutter .bad")
    expect(number).to_have_text("4")
    place, line = mark.bounding_box(), number.bounding_box()
    assert place and line and abs(place["y"] - line["y"]) < 6
    expect(editor(page)).to_have_attribute("aria-invalid", "true")
    keep(page, "error")
    page.get_by_role("button", name="Line 4").click()
    caret = page.evaluate("document.querySelector('.editor-text').selectionStart")
    assert editor(page).input_value()[caret] == "]"
    write(page, QUERIES["rspql"])
    expect(told).to_have_text("Reads as RSP-QL.")
    expect(mark).to_have_count(0)


def test_what_is_dropped_is_gone_and_the_rest_is_still_there(
    site: Site, open_page: Callable[..., Page]
) -> None:
    page = open_page(f"{site.open}/?query=present")
    expect(page.locator("#results-title")).to_have_text("present")
    page.get_by_role("button", name="Drop the query").click()
    page.get_by_role("button", name="Keep").click()
    expect(option(page, "present")).to_be_visible()
    page.get_by_role("button", name="Drop the query").click()
    page.get_by_role("button", name="Drop", exact=True).click()
    expect(option(page, "present")).to_have_count(0)
    page.reload()
    expect(options(page)).to_have_count(3)
    option(page, "tumbling").click()
    expect(rows(page)).to_have_count(3)


def test_results_go_on_where_the_connection_broke(site: Site, open_page: Callable[..., Page]) -> None:
    page = open_page(f"{site.open}/?query=tumbling")
    expect(rows(page)).to_have_count(3)
    site.disconnect("tumbling")
    expect(page.locator("#results-state")).to_have_text("reconnecting…")
    site.push(STREAM, message(20_000, "dora", HALL), message(30_000, "emil", HALL))
    expect(rows(page)).to_have_count(5)
    assert [rows(page).nth(i).locator("td").nth(2).inner_text() for i in (0, 1)] == [":dora", ":cleo"]
    assert page.locator("#results .note").count() == 0


def test_an_example_runs_in_one_click(site: Site, open_page: Callable[..., Page]) -> None:
    page = open_page(site.open, height=1240)
    page.get_by_role("button", name="Examples").click()
    page.get_by_role("button", name="Run Room climate").click()
    expect(page.locator("#results-title")).to_have_text("climate")
    picture = bool(os.environ.get("WEIR_SCREENSHOT"))
    expect(rows(page).nth(60 if picture else 17)).to_be_attached()
    expect(page.locator("#chart svg path.series")).to_have_count(3)
    expect(page.locator("#timeline .band")).to_have_count(1)
    expect(page.locator("#timeline .dot.inside").nth(5)).to_be_attached()
    expect(page.locator("#timeline .tick").nth(3)).to_be_attached()
    expect(page.locator("#plan .node .rows", has_text="rows").first).to_be_attached()
    expect(page.locator("#plan .routing")).to_contain_text("interval")
    flow = page.locator("#streams .stream", has_text="climate")
    expect(flow.locator(".rate")).not_to_have_text("0/s")
    expect(flow.locator(".item-facts")).to_contain_text("lag")
    kept = keep(page, "light")
    page.get_by_role("button", name="Light or dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    keep(page, "dark")
    if picture:
        shutil.copy(kept, ROOT / "docs" / "images" / "dashboard.png")
    page.get_by_role("button", name="Hold").click()
    held = rows(page).first.inner_text()
    expect(page.locator("#results-state")).to_contain_text("new")
    assert rows(page).first.inner_text() == held
    page.get_by_role("button", name="Follow").click()
    expect(page.locator("#results-state")).to_have_text("live")
    page.get_by_role("button", name="Stop the sample on climate").click()
    page.get_by_role("button", name="Pause the query").click()
    expect(option(page, "climate")).to_contain_text("paused")


def test_a_number_of_thirty_digits_does_not_stop_the_page(site: Site, open_page: Callable[..., Page]) -> None:
    stream = "http://example.org/huge"
    site.service.add_stream(stream)
    text = f"SELECT ?s ?v WHERE {{ STREAM <{stream}> [NOW] {{ ?s <http://example.org/v> ?v }} }}"
    site.service.register(text, "huge", "cqels", "auto")
    page = open_page(f"{site.open}/?query=huge")
    value = '"123456789012345678901234567890.5"^^<http://www.w3.org/2001/XMLSchema#decimal>'
    for after in (0, 1000, 2000):  # The last one waits for a later one.
        site.push(stream, f"{BASE + after}\t<http://example.org/s> <http://example.org/v> {value} .")
    expect(rows(page)).to_have_count(2)
    expect(page.locator("#chart svg path.series")).to_have_count(1)
    expect(page.locator("#chart .chart-legend")).to_contain_text("1.235 × 10^29")
    site.service.drop("huge")


def test_it_fits_on_a_phone(site: Site, open_page: Callable[..., Page]) -> None:
    page = open_page(f"{site.open}/?query=counted", width=360, height=740)
    expect(rows(page)).not_to_have_count(0)
    expect(page.locator("#timeline svg")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    for name in ("Results", "Windows", "Plan", "Queries", "Streams", "Editor"):
        page.locator(".dock").get_by_role("link", name=name).click()
        card = page.locator(f"#{name.lower().replace('windows', 'timeline')}-card")
        expect(card).to_be_in_viewport(ratio=0.2)
    small = page.evaluate(
        "[...document.querySelectorAll('.icon-button, .primary, .quiet')]"
        ".filter((each) => each.offsetParent && each.offsetHeight < 36).map((each) => each.ariaLabel)"
    )
    assert small == []
    keep(page, "phone", whole=True)


def test_the_keyboard_is_enough(site: Site, open_page: Callable[..., Page]) -> None:
    page = open_page(site.open)
    expect(option(page, "tumbling")).to_be_visible()
    keys = page.keyboard
    keys.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    keys.press("/")
    expect(editor(page)).to_be_focused()
    keys.press("Control+a")  # The chosen query stands there.
    keys.insert_text(QUERIES["cqels"])
    keys.press("Control+Enter")
    expect(options(page)).to_have_count(5)
    keys.press("Shift+Tab")
    expect(editor(page)).not_to_be_focused()
    page.locator("#queries [tabindex='0']").focus()
    keys.press("Home")
    expect(option(page, "tumbling")).to_be_focused()
    keys.press("ArrowDown")
    keys.press("Enter")
    expect(page.locator("#results-title")).to_have_text("counted")
    keys.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("run the query")
    keys.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(option(page, "counted")).to_be_focused()
    keys.press("End")
    keys.press("Delete")
    expect(page.get_by_role("button", name="Drop", exact=True)).to_be_focused()
    keys.press("Enter")
    expect(options(page)).to_have_count(4)


def test_a_token_is_asked_for_and_kept(site: Site, open_page: Callable[..., Page]) -> None:
    page = open_page(site.guarded)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("asks for a token")
    page.keyboard.press("Escape")
    expect(page.locator("#health")).to_have_text("needs a token")
    page.get_by_role("button", name="Access token").click()
    for reason, token in (("Requests are sent", "wrong-wrong-wrong-wrong"), ("was refused", TOKEN)):
        expect(dialog).to_contain_text(reason)
        page.get_by_label("Token", exact=True).fill(token)
        page.keyboard.press("Enter")
    expect(option(page, "tumbling")).to_be_visible()
    option(page, "tumbling").click()
    expect(rows(page)).not_to_have_count(0)
    page.reload()
    expect(option(page, "tumbling")).to_be_visible()
    expect(dialog).to_have_count(0)


def test_remote_views_tell_how_fresh_they_are(site: Site, open_page: Callable[..., Page]) -> None:
    site.endpoint.update("INSERT DATA { <http://example.org/finn> <http://example.org/age> 7 }")
    page = open_page(site.open)
    write(
        page,
        f"""PREFIX : <http://example.org/>
REGISTER RSTREAM <ages> AS
SELECT ?who ?age
FROM NAMED WINDOW <w> ON <{STREAM}> [RANGE PT2S STEP PT2S]
WHERE {{ WINDOW <w> {{ ?who :in ?room }} SERVICE <{site.endpoint.endpoint}> {{ ?who :age ?age }} }}""",
    )
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator("#results-title")).to_have_text("ages")
    site.push(STREAM, message(40_000, "finn", HALL), message(50_000, "gina", HALL))
    expect(rows(page).filter(has_text=":finn").locator(".numeric")).to_have_text("7")
    view = page.locator("#services .item")
    expect(view).to_contain_text(f"127.0.0.1:{site.endpoint.port}/query")
    expect(view).to_contain_text("% fresh")
    keep(page, "views")


def test_the_colours_cover_every_text(site: Site, open_page: Callable[..., Page]) -> None:
    page = open_page(site.open)
    script = "async (text) => (await import('/dashboard/tokens.js')).tokens(text)"
    for text in [*QUERIES.values(), "SELECT '''a\n\"", "<a b> é:é @ \U0001f600 5s PT1H ?x 'open"]:
        found = page.evaluate(script, text)
        assert [each["start"] for each in found] == [0, *(each["end"] for each in found[:-1])]
        assert found[-1]["end"] == len(text.encode("utf-16-le")) // 2
    text = QUERIES["rspql"]
    kinds = {text[each["start"] : each["end"]]: each["kind"] for each in page.evaluate(script, text)}
    wanted = {"SELECT": "keyword", "WINDOW": "stream", "PT2S": "duration", "?who": "variable", ":in": "name"}
    assert wanted.items() <= kinds.items()
