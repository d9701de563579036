"""Results of continuous queries as fragment data sets."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable

import pytest

import weir
from fragments_kit import ANNOTATIONS, EX, SECOND, T0, Crank, texts, updates
from reference_kit import evaluations
from weir.errors import UsageError
from weir.fragments.client import Options, Update
from weir.fragments.protocol.annotation import Annotation, Fact, Labeling, Method, time_text
from weir.fragments.server import Dataset, FragmentsApp, Publisher
from weir.kernel.reference import Message
from weir.rdf.terms import IRI, json_term

STAMP = "2023-11-14T22:13:{:02d}.000Z"
"""T0 is 2023-11-14T22:13:20Z."""


def held(dataset: Dataset, at: int) -> list[str]:
    facts = (fact for segment in dataset.store.segments for fact in segment.facts())
    return sorted(" ".join(f.triple) for f in facts if f.start <= at < f.end)


def line(second: int, op: str, **values: str) -> dict[str, object]:
    bindings = {name: {"type": "literal", "value": value} for name, value in values.items()}
    return {"query": "q", "at": STAMP.format(20 + second), "op": op, "bindings": bindings}


def test_rstream_with_a_period_holds_until_the_next_evaluation() -> None:
    dataset = Dataset("q")
    publisher = Publisher(dataset, period=5 * SECOND, prefix=EX, clock=lambda: T0)
    publisher.write([line(0, "R", room="kitchen"), line(0, "R", room="hall")])
    assert len(held(dataset, T0)) == len(held(dataset, T0 + 5 * SECOND - 1)) == 2
    assert held(dataset, T0 + 5 * SECOND) == []
    publisher.write([line(5, "R", room="hall")])
    (row,) = held(dataset, T0 + 5 * SECOND)
    assert row.endswith(f'<{EX}room> "hall"')


def test_istream_and_dstream_add_and_remove() -> None:
    dataset = Dataset("q")
    publisher = Publisher(dataset, lifetime=100 * SECOND, clock=lambda: T0)
    publisher.write([line(0, "I", x="1"), line(0, "I", x="1"), line(0, "I", x="2")])
    assert len(held(dataset, T0)) == 3
    publisher.write([line(3, "D", x="1")])
    assert len(held(dataset, T0 + 3 * SECOND)) == 2
    publisher.write([line(4, "D", x="1")])
    assert len(held(dataset, T0 + 4 * SECOND)) == 1
    assert held(dataset, T0 + 102 * SECOND) != [] == held(dataset, T0 + 104 * SECOND)
    publisher.write([line(30, "I", x="3")])
    assert len(held(dataset, T0 + 120 * SECOND)) == 2


def test_a_solution_is_published_as_often_as_it_occurs() -> None:
    dataset = Dataset("q")
    publisher = Publisher(dataset, period=5 * SECOND, prefix=EX, clock=lambda: T0)
    publisher.write([line(0, "R", room="hall")] * 3)
    shown = held(dataset, T0)
    assert len(shown) == 3 == len({row.split()[0] for row in shown})
    publisher.write([line(5, "R", room="hall")] * 2)
    assert len(held(dataset, T0 + 5 * SECOND)) == 2
    assert set(held(dataset, T0 + 5 * SECOND)) < set(shown), "a solution that stays keeps its name"


def test_a_solution_without_bindings_is_published() -> None:
    dataset = Dataset("q")
    Publisher(dataset, prefix=EX, clock=lambda: T0).write([line(0, "R"), line(0, "R")])
    assert len(held(dataset, T0)) == 2


@pytest.mark.parametrize("op", ["I", "D"])
def test_events_hold_for_their_lifetime_and_are_not_renewed(op: str) -> None:
    """A query that only reports what came, or what went, never takes a line back."""
    dataset = Dataset("q")
    publisher = Publisher(dataset, lifetime=5 * SECOND, events=True, clock=lambda: T0)
    for second in range(0, 12, 3):
        publisher.write([line(second, op, x=str(second))])
    assert [len(held(dataset, T0 + second * SECOND)) for second in range(0, 16, 3)] == [1, 2, 2, 2, 1, 0]
    assert not publisher._held


def test_an_event_that_comes_again_holds_on() -> None:
    dataset = Dataset("q")
    publisher = Publisher(dataset, lifetime=5 * SECOND, events=True, clock=lambda: T0)
    publisher.write([line(0, "I", x="1"), line(3, "I", x="1")])
    assert [len(held(dataset, T0 + second * SECOND)) for second in (0, 7, 8)] == [1, 1, 0]


def test_construct_and_ask() -> None:
    dataset = Dataset("q")
    publisher = Publisher(dataset, prefix=EX, clock=lambda: T0)
    triple = f'<{EX}a> <{EX}p> "tab\\tnew\\nline"@en .'
    publisher.write([{"query": "q", "at": T0, "op": "R", "triples": [triple]}])
    assert held(dataset, T0) == [f'<{EX}a> <{EX}p> "tab\tnew\\nline"@en']
    answers = Publisher(Dataset("ask"), prefix=EX, clock=lambda: T0)
    answers.write([{"query": "q", "at": T0, "op": "R", "boolean": True}])
    assert held(answers.dataset, T0)[0].endswith('"true"^^<http://www.w3.org/2001/XMLSchema#boolean>')


@pytest.mark.parametrize("annotation", ANNOTATIONS, ids=str)
def test_published_results_are_followed(annotation: Annotation) -> None:
    """A query's results at each step reach a client that follows the data set."""
    clock = Crank()
    dataset = Dataset("d", annotation=annotation)
    publisher = Publisher(dataset, period=5 * SECOND, prefix=EX, clock=clock.now)
    steps = [["a"], ["a", "b"], ["c"], []]
    for number, rooms in enumerate(steps):
        publisher.replace(
            [(f"<{EX}{room}>", f"<{EX}room>", f'"{room}"') for room in rooms], T0 + number * 5 * SECOND
        )
    app = FragmentsApp([dataset], clock=clock.now)
    found = asyncio.run(
        updates(
            f"SELECT ?r {{ ?x <{EX}room> ?r }}",
            app,
            clock,
            until=T0 + 18 * SECOND,
            options=Options(stop_when_static=False),
        )
    )
    by_time = {(at - T0) // SECOND: rows for at, rows in shown_at(found).items()}
    expected = {5 * n: [f'r="{room}"' for room in rooms] for n, rooms in enumerate(steps)}
    assert {second: rows for second, rows in by_time.items() if second in expected} == expected


WINDOWED = f"""
PREFIX : <{EX}>
REGISTER RSTREAM <crowded> AS
SELECT ?room (COUNT(?person) AS ?people)
FROM NAMED WINDOW <w> ON <rfid> [RANGE 4s STEP 2s]
WHERE {{ WINDOW <w> {{ ?person :in ?room }} }}
GROUP BY ?room
"""


def shown_at(updates: Iterable[Update]) -> dict[int, list[str]]:
    """The rows that a client shows after each update, by its time."""
    shown: list[str] = []
    by_time = {}
    for update in updates:
        for row in texts(update.removed):
            shown.remove(row)
        shown += texts(update.added)
        by_time[update.at] = sorted(shown)
    return by_time


def test_a_continuous_query_is_followed_through_its_fragments() -> None:
    """RSTREAM of a window, evaluated every 2 s, published with that period: at every time the client sees
    the result of the last evaluation."""
    parsed = weir.parse(WINDOWED)
    messages = [
        Message(
            T0 + second * SECOND,
            [(IRI(f"{EX}p{second % 3}"), IRI(f"{EX}in"), IRI(f"{EX}r{second // 5}"), None)],
        )
        for second in range(12)
    ]
    done = evaluations(parsed, {"rfid": messages}, end=False)
    clock = Crank()
    dataset = Dataset("d", annotation=Annotation(Method.GRAPHS, Labeling.INTERVAL))
    publisher = Publisher(dataset, period=2 * SECOND, prefix=EX, clock=clock.now)
    for evaluated in done:
        publisher.write(
            {
                "query": "crowded",
                "at": evaluated.at,
                "op": "R",
                "bindings": {name: json_term(term) for name, term in row.items()},
            }
            for row in evaluated.rows
            if isinstance(row, dict)
        )
    app = FragmentsApp([dataset], clock=clock.now)
    query = f"SELECT ?room ?people {{ ?row <{EX}room> ?room ; <{EX}people> ?people }}"
    last = done[-1].at
    options = Options(stop_when_static=False)
    found = asyncio.run(updates(query, app, clock, until=last, options=options))
    by_time = shown_at(found)
    expected = {e.at: texts(e.rows) for e in done}
    assert len(expected) >= 5
    assert {at: rows for at, rows in by_time.items() if at in expected} == expected


def test_results_of_a_replay_hold_from_their_arrival() -> None:
    clock = Crank(T0 + 10**6 * SECOND)
    dataset = Dataset("q")
    publisher = Publisher(dataset, period=5 * SECOND, on_arrival=True, clock=clock.now)
    publisher.write([line(0, "R", x="1")])
    assert len(held(dataset, clock.time)) == 1 and not held(dataset, clock.time + 5 * SECOND)


def test_options_are_checked() -> None:
    with pytest.raises(UsageError):
        Publisher(Dataset("q"), period=0)


def test_facts_may_be_pushed_from_another_thread_while_fragments_are_served() -> None:
    clock = Crank()
    dataset = Dataset("d", annotation=Annotation(Method.GRAPHS, Labeling.INTERVAL), page_size=7)
    app = FragmentsApp([dataset], clock=clock.now)
    stop = threading.Event()
    failures: list[Exception] = []

    def push() -> None:
        try:
            number = 0
            while not stop.is_set():
                start = T0 + number * SECOND
                dataset.push(
                    [
                        Fact(f"<{EX}s{n}>", f"<{EX}p>", f'"{number}"', start, start + SECOND)
                        for n in range(20)
                    ],
                    start,
                )
                number += 1
        except Exception as error:
            failures.append(error)

    pusher = threading.Thread(target=push)
    pusher.start()
    try:
        for page in range(300):
            at = time_text(T0 + page * SECOND)[1:].partition('"')[0]
            for query in ("", f"predicate={EX}p&page={page % 5 + 1}", f"at={at}", f"predicate={EX}p&at={at}"):
                response = app.get("http://weir.test", "/d", query, "application/n-quads")
                assert response.status in (200, 404)
    finally:
        stop.set()
        pusher.join(30)
    assert not failures and len(dataset.store) > 100
