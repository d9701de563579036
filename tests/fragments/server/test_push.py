"""Facts pushed over HTTP: validity, annotations, superseding, tokens, limits."""

from __future__ import annotations

from urllib.parse import quote

import httpx
import pytest

from fragments_http import get, label, make, page_of, run
from fragments_kit import EX, SECOND, T0, annotate
from weir.fragments.protocol.annotation import Annotation, Fact, Labeling, Method, time_text
from weir.fragments.server import FragmentsApp, Limits


def push(app: FragmentsApp, body: str, query: str = "", **headers: str) -> httpx.Response:
    found: list[httpx.Response] = []

    async def use(client: httpx.AsyncClient) -> None:
        fields = {"Content-Type": "text/turtle", **{k.replace("_", "-"): v for k, v in headers.items()}}
        found.append(await client.post(f"/d{query}", content=body.encode(), headers=fields))

    run(app, use)
    return found[0]


FACT = f'<{EX}s1> <{EX}delay> "5" .'


def test_facts_are_pushed_with_a_lifetime() -> None:
    app, clock = make(push=True)
    assert push(app, FACT, "?lifetime=10").json() == {"added": 1, "expired": 0}
    assert page_of(get(app, label(predicate=f"{EX}delay"))).expires == T0 + 10 * SECOND
    clock.time += 10 * SECOND
    assert page_of(get(app, label(predicate=f"{EX}delay"))).total == 0


def test_facts_are_pushed_with_start_and_end() -> None:
    app, clock = make(push=True)
    times = [quote(time_text(T0 + n * SECOND)[1:].partition('"')[0]) for n in (5, 9)]
    assert push(app, FACT, f"?start={times[0]}&end={times[1]}").status_code == 200
    for second, total in ((0, 0), (5, 1), (8, 1), (9, 0)):
        clock.time = T0 + second * SECOND
        assert page_of(get(app, label(predicate=f"{EX}delay"))).total == total


@pytest.mark.parametrize("method", Method)
@pytest.mark.parametrize("labeling", Labeling)
def test_annotated_documents_are_read_by_any_method(method: Method, labeling: Labeling) -> None:
    app, _ = make(push=True)
    fact = Fact(f"<{EX}s1>", f"<{EX}delay>", '"5"', T0, T0 + 7 * SECOND)
    address = quote
    node = f"<{EX}node>"
    if method is Method.IMPLICIT:
        parts = [address(f"{EX}s1", safe=""), address(f"{EX}delay", safe=""), address('"5"', safe="")]
        node = f"<http://weir.test/d?subject={parts[0]}&predicate={parts[1]}&object={parts[2]}>"
    quads = annotate(fact, Annotation(method, labeling), node, f"<{EX}span>")
    body = "\n".join(f"{s} {p} {o} {g} ." for s, p, o, g in quads)
    assert push(app, body, content_type="application/n-quads").json() == {"added": 1, "expired": 0}
    assert page_of(get(app, label(predicate=f"{EX}delay"))).expires == T0 + 7 * SECOND


def test_superseding_and_deleting() -> None:
    app, clock = make(push=True)
    push(app, FACT, "?lifetime=100")
    clock.time += SECOND
    push(app, FACT.replace('"5"', '"6"'), "?lifetime=100&supersede=true")
    page = page_of(get(app, label(predicate=f"{EX}delay")))
    assert [q[2] for q in page.data] == ['"6"']

    async def use(client: httpx.AsyncClient) -> None:
        body = FACT.replace('"5"', '"6"').encode()
        response = await client.request("DELETE", "/d", content=body, headers={"Content-Type": "text/turtle"})
        assert response.json() == {"ended": 1}

    run(app, use)
    assert page_of(get(app, label(predicate=f"{EX}delay"))).total == 0


@pytest.mark.parametrize(
    ("body", "query", "headers", "status", "message"),
    [
        (FACT, "", {}, 400, "no validity"),
        (FACT, "?lifetime=-1", {}, 400, "lifetime"),
        (FACT, "?lifetime=soon", {}, 400, "no number"),
        (FACT, "?end=tomorrow", {}, 400, "no time"),
        (FACT, "?end=2001-01-01T00:00:00Z", {}, 400, "end before they start"),
        (FACT, "?start=2999-01-01T00:00:00Z&lifetime=1", {}, 400, "too far in the future"),
        (FACT, "?lifetime=1&colour=red", {}, 400, "unknown option"),
        ("<a> <b> ", "?lifetime=1", {}, 400, "malformed"),
        (FACT, "?lifetime=1", {"content_type": "image/png"}, 400, "cannot read RDF"),
        (f"<{EX}g> <http://example.org/temporal#expiration> 'x' .", "", {}, 400, "no xsd:dateTime"),
        ("x" * 3000, "?lifetime=1", {}, 413, "longer than"),
        (
            "".join(f"<{EX}s{n}> <{EX}d> 1 . " for n in range(30)),
            "?lifetime=1",
            {},
            413,
            "more than 20 facts",
        ),
    ],
)
def test_bad_pushes(body: str, query: str, headers: dict[str, str], status: int, message: str) -> None:
    app, _ = make(push=True, limits=Limits(push_bytes=2000, push_facts=20))
    response = push(app, body, query, **headers)
    assert response.status_code == status and message in response.text


def test_an_expired_fact_is_counted_and_left_out() -> None:
    app, _ = make(push=True)
    body = (
        f"<{EX}g> {{ {FACT} }} <{EX}g> <http://example.org/temporal#expiration> "
        '"2001-01-01T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .'
    )
    assert push(app, body, content_type="application/trig").json() == {"added": 0, "expired": 1}


def test_tokens() -> None:
    app, _ = make(push="secret")
    assert push(app, FACT, "?lifetime=1").status_code == 401
    assert push(app, FACT, "?lifetime=1", authorization="Bearer wrong").status_code == 401
    assert push(app, FACT, "?lifetime=1", authorization="Bearer secret").status_code == 200


def delete(app: FragmentsApp, body: str) -> int:
    found: list[int] = []

    async def use(client: httpx.AsyncClient) -> None:
        fields = {"Content-Type": "text/turtle"}
        response = await client.request("DELETE", "/d", content=body.encode(), headers=fields)
        found.append(response.json()["ended"])

    run(app, use)
    return found[0]


def subjects(app: FragmentsApp) -> set[str]:
    return {quad[0] for quad in page_of(get(app, label(predicate=f"{EX}delay"))).data}


@pytest.mark.parametrize("node", ["_:a", "[]"])
def test_blank_nodes_of_two_documents_stay_apart(node: str) -> None:
    app, _ = make(push=True)
    for delay in (5, 6):
        push(app, f"{node} <{EX}delay> {delay} .", "?lifetime=10")
    assert len(subjects(app)) == 2
    push(app, f"{node} <{EX}delay> 5 .", "?lifetime=20")
    assert len(subjects(app)) == 2, "the same document means the same nodes"


@pytest.mark.parametrize("node", ["_:a", "[]"])
def test_a_document_with_blank_nodes_is_deleted(node: str) -> None:
    app, _ = make(push=True)
    body = f"<{EX}s1> <{EX}delay> 4 . {node} <{EX}delay> 5 . {node} <{EX}delay> 6 ."
    push(app, body, "?lifetime=10")
    assert len(subjects(app)) == (2 if node == "_:a" else 3)
    assert delete(app, body) == 3
    assert not subjects(app)


def test_nodes_of_one_document_keep_together() -> None:
    app, _ = make(push=True)
    push(app, f"_:x <{EX}delay> 1 ; <{EX}of> _:y . _:y <{EX}delay> 2 .", "?lifetime=10")
    (link,) = page_of(get(app, label(predicate=f"{EX}of"))).data
    assert {link[0], link[2]} == subjects(app)


def test_an_instant_is_a_label() -> None:
    app, _ = make(push=True, annotation=Annotation(Method.GRAPHS, Labeling.INTERVAL))
    body = f"<{EX}g> {{ {FACT} }} <{EX}g> <http://example.org/temporal#instant> {time_text(T0 + SECOND)} ."
    assert push(app, body, content_type="application/trig").json() == {"added": 1, "expired": 0}
    for second, total in ((0, 0), (1, 1), (2, 0)):
        at = quote(time_text(T0 + second * SECOND)[1:].partition('"')[0])
        page = page_of(get(app, label(predicate=f"{EX}delay", graph="?g") + f"&at={at}"))
        assert len(page.data) == total
