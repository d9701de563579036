"""The dashboard beyond queries and results: first view, graphs, streams, sinks, completion, many queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from dashboard_kit import Site, editor, keep, option, options, rows, serving, write
from weir.server.settings import Limits

pytestmark = [pytest.mark.network, pytest.mark.timeout(600)]
STREAM = "http://example.org/values"
GRAPH = "http://example.org/rooms"
BASE = 1_700_000_000_000
FRAGILE = f"""PREFIX : <http://example.org/>
SELECT ?s ?v WHERE {{ STREAM <{STREAM}> [RANGE 100s] {{ ?s :v ?v }} }}"""


@pytest.fixture(scope="module")
def site(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("panels")
    limits = Limits(queries=20_000, state_rows=40)
    with serving(folder / "data", limits=limits, addresses=(str(folder),)) as running:
        yield running


def value(after: int, text: str, subject: str = "s") -> str:
    return f"{BASE + after}\t<http://example.org/{subject}> <http://example.org/v> {text} ."


def test_the_first_view_says_what_this_is_and_an_example_goes_on(
    site: Site, open_page: Callable[..., Page]
) -> None:
    page = open_page(site.open, height=900)
    expect(page.locator("#welcome")).to_contain_text("SPARQL queries over RDF streams")
    expect(page.locator("#results-card")).to_be_hidden()
    keep(page, "first")
    page.get_by_role("button", name="Run People in rooms").click()
    expect(page.locator("#welcome")).to_be_hidden()
    expect(rows(page).first).to_be_attached()
    page.reload()  # The sample goes on.
    page.get_by_role("button", name="Stop the sample on rfid").click()
    expect(page.get_by_role("button", name="Stop the sample on rfid")).to_have_count(0)
    expect(page.locator("#figures")).to_contain_text("Latency")
    expect(page.locator("#figures dd").first).not_to_have_text("–")


def test_graphs_are_loaded_asked_updated_and_cleared(site: Site, open_page: Callable[..., Page]) -> None:
    page = open_page(site.open)
    graphs, dialog = page.locator("#graphs"), page.get_by_role("dialog")
    graphs.get_by_role("button", name="Load…").click()
    page.get_by_label("IRI of the graph").fill(GRAPH)
    page.get_by_label("or Turtle").fill("<http://example.org/hall> <http://example.org/seats> 40, 41 .")
    page.get_by_role("button", name="Load the graph").click()
    expect(graphs.locator(".item")).to_contain_text("rooms")
    expect(graphs.locator(".item")).to_contain_text("2 triples")
    graphs.get_by_role("button", name="Update…").click()
    attic = "<http://example.org/attic> <http://example.org/seats> 3"
    update = f"INSERT DATA {{ GRAPH <{GRAPH}> {{ {attic} }} }}"
    page.get_by_label("SPARQL Update").fill(update)
    page.get_by_role("button", name="Apply").click()
    expect(graphs.locator(".item")).to_contain_text("3 triples")
    page.get_by_role("button", name="Ask the graph rooms").click()
    dialog.get_by_role("button", name="Ask", exact=True).click()
    expect(dialog.locator("tbody tr")).to_have_count(3)
    keep(page, "graphs")
    page.get_by_label("SPARQL over the graphs").fill("SELECT * { ?s ?p }")
    dialog.get_by_role("button", name="Ask", exact=True).click()
    expect(dialog.locator(".answer")).to_contain_text("Line 1, column")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Clear the graph rooms").click()
    page.get_by_role("button", name="Clear", exact=True).click()
    expect(graphs.locator(".item")).to_contain_text("0 triples")


def test_streams_have_addresses_and_sinks_come_and_go(
    site: Site, open_page: Callable[..., Page], tmp_path: Path
) -> None:
    folder = Path(site.service.settings.addresses[0])
    (folder / "doors.ttl").write_text("[] <http://example.org/door> 1 ; <http://example.org/at> 5 .")
    page = open_page(site.open)
    page.get_by_text("Add a stream").click()
    form = page.locator("#add-stream")
    form.get_by_label("IRI").fill("http://example.org/doors")
    form.get_by_label("Address").fill("/etc/passwd")
    form.get_by_role("button", name="Add").click()
    expect(page.locator("#notices")).to_contain_text("not allowed")
    form.get_by_label("Address").fill(str(folder / "doors.ttl"))
    form.get_by_label("Time predicate").fill("http://example.org/at")
    form.get_by_role("button", name="Add").click()
    expect(page.locator("#streams .stream", has_text="doors")).to_contain_text(f"from {folder}/doors.ttl")
    form.get_by_label("IRI").fill(STREAM)
    form.get_by_label("Lateness").fill("2.5")
    form.get_by_role("button", name="Add").click()
    expect(page.locator("#streams .stream", has_text="values")).to_be_visible()
    assert site.service.pushed[STREAM].lateness == 2.5
    page.get_by_text("Add a sink").click()
    page.locator("#sink-address").fill(f"files:{folder}/out")
    page.get_by_role("button", name="Add the sink").click()
    expect(page.locator("#sinks .item")).to_contain_text(f"{folder}/out")
    page.get_by_role("button", name="Remove the sink").click()
    expect(page.locator("#sinks .item")).to_have_count(0)


def test_the_editor_completes_what_was_seen(site: Site, open_page: Callable[..., Page]) -> None:
    site.push(STREAM, value(0, '"x"'))
    page = open_page(site.open)
    write(page, "")
    editor(page).focus()
    keys, offered = page.keyboard, page.locator("#completion")
    keys.type("PREFIX : <http://example.org/>\nSEL")
    expect(offered.locator("li").first).to_contain_text("SELECT")
    keys.press("Tab")
    keys.type(" ?value { STREAM <http://example.org/val")
    expect(offered).to_contain_text(f"<{STREAM}>")
    keys.press("Tab")
    keys.type(" [NOW] { ?s :")
    expect(offered.locator("li", has_text=":v")).to_contain_text("seen in values")
    keep(page, "completion")
    while not offered.locator("[aria-selected=true]").inner_text().startswith(":v"):
        keys.press("ArrowDown")
    keys.press("Enter")
    keys.type(" ?va")
    keys.press("Tab")
    keys.type(" ; sos")
    expect(offered.locator("li").first).to_contain_text("sosa:")
    keys.press("Tab")
    text = editor(page).input_value()
    assert text.startswith(
        "PREFIX sosa: <http://www.w3.org/ns/sosa/>\nPREFIX : <http://example.org/>\nSELECT"
    )
    assert text.endswith(f"STREAM <{STREAM}> [NOW] {{ ?s :v ?value ; sosa:")


def test_a_query_that_failed_says_why_and_begins_anew(site: Site, open_page: Callable[..., Page]) -> None:
    site.service.register(FRAGILE, "fragile", "cqels", "auto")
    long = "word " * 200
    site.push(STREAM, value(1000, f'"{long}"'), value(2000, '"short"'))
    page = open_page(f"{site.open}/?query=fragile")
    expect(page.locator("#editor-title")).to_have_text("fragile")
    assert editor(page).input_value() == FRAGILE
    more = rows(page).get_by_role("button", name="characters")
    expect(more).to_have_attribute("aria-expanded", "false")
    assert len(more.inner_text()) < 200
    more.click()
    expect(rows(page).locator(".long")).to_contain_text(long.strip())
    with page.expect_download() as found:
        page.get_by_label("Download the results").select_option("text/csv")
    assert found.value.suggested_filename == "fragile.csv"
    lines = Path(found.value.path()).read_text().splitlines()
    assert lines[0] == "position,at,op,s,v" and long in lines[1]
    site.push(STREAM, *(value(3000 + at, f'"{at}"', f"s{at}") for at in range(60)))
    failure = page.get_by_role("alert")
    expect(failure).to_contain_text("This query failed")
    expect(failure).to_contain_text("40")
    expect(option(page, "fragile")).to_contain_text("failed")
    keep(page, "failed")
    failure.get_by_role("button", name="Begin anew").click()
    expect(failure).to_be_hidden()


def test_a_window_of_the_present_is_an_instant(site: Site, open_page: Callable[..., Page]) -> None:
    text = f"SELECT ?s WHERE {{ STREAM <{STREAM}> [NOW] {{ ?s <http://example.org/v> ?v }} }}"
    site.service.register(text, "instant", "cqels", "auto")
    page = open_page(f"{site.open}/?query=instant")
    site.push(STREAM, value(10_000, '"a"'), value(14_000, '"b"'))
    expect(page.locator("#timeline .lane-edges")).to_contain_text("NOW · at 22:13:30.000")
    assert float(page.locator("#timeline .band").get_attribute("width") or 0) < 20
    expect(page.locator("#plan .plan-legend")).to_contain_text("stream pattern")
    expect(page.locator("#plan .node", has_text="ISTREAM")).to_contain_text("sent")


def test_freshness_is_drawn_as_estimated_and_as_checked(site: Site, open_page: Callable[..., Page]) -> None:
    page = open_page(site.open)
    expect(page.locator("#health")).to_have_text("running")
    page.evaluate(
        """async () => {
          const { Services } = await import("/dashboard/services.js");
          const host = document.createElement("div");
          host.id = "drawn";
          document.body.prepend(host);
          const drawn = new Services(host, host);
          const told = (at, fresh, audited) => ({
            query: "ages", endpoint: "http://e/sparql", rows: 12, fresh, audited,
            confidence: 0.1, age: 4, refreshes: at, missing: 0, error: null, at });
          for (let at = 0; at < 30; at += 1) {
            drawn.update([told(at, 0.9 - at / 100, at % 3 ? null : 0.8 - at / 200), told(at, 0.5, null)]);
          }
        }"""
    )
    drawn = page.locator("#drawn .item")
    expect(drawn.nth(0)).to_contain_text("61 % fresh")
    expect(drawn.nth(1)).to_contain_text("none checked yet")
    chart = drawn.nth(0).get_by_role("img")
    expect(chart).to_have_attribute("aria-label", "Freshness: 61 % estimated, none checked")
    ends = page.evaluate(
        "[...document.querySelectorAll('#drawn .item:first-child circle')].map((c) => c.className.baseVal)"
    )
    assert ends == ["estimate", "checked"]
    keep(page, "freshness")


def test_ten_thousand_queries_are_as_light_as_ten(site: Site, open_page: Callable[..., Page]) -> None:
    texts = {
        f"q{n:05}": f"SELECT ?s WHERE {{ STREAM <{STREAM}> [NOW] {{ ?s <http://example.org/v> {n} }} }}"
        for n in range(10_000)
    }
    site.service.running.register_all(texts, dialect="cqels")
    page = open_page(site.open, height=900)
    expect(page.locator("#queries-count")).to_contain_text("10.0 k")
    expect(options(page)).to_have_count(50)
    page.get_by_role("button", name="show more").click()
    expect(options(page)).to_have_count(100)
    page.get_by_label("Search the queries").fill("q07")
    expect(page.get_by_role("button", name="of 1,000: show more")).to_be_visible()
    page.get_by_label("Search the queries").fill("q07777")
    expect(options(page)).to_have_count(1)
    option(page, "q07777").click()
    expect(page.locator("#editor-title")).to_have_text("q07777")
    page.get_by_label("Search the queries").fill("")
    page.get_by_label("Sort the queries by").select_option("name")
    expect(options(page).first).to_contain_text("fragile")
    page.get_by_label("Sort the queries by").select_option("results")
    expect(options(page).first).not_to_contain_text("q0")
    page.get_by_label("Show queries that are").select_option("paused")
    expect(page.locator("#queries")).to_contain_text("None matches.")
    page.get_by_label("Show queries that are").select_option("")
    expect(options(page)).to_have_count(50)
    keep(page, "many")
    assert page.evaluate("document.querySelectorAll('*').length") < 3000
