"""Split queries whose slots are told of their own messages alone answer as one slot does that sees all."""

from __future__ import annotations

import os
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weir.language import parse
from weir.plan.analysis.own_messages import evaluated_apart, needs_every_message
from weir.plan.analysis.split import splitting
from weir.testing import Scenario

HEAD = "PREFIX : <http://e/> SELECT {r2s} {select} {froms} {previous} WHERE {{ {body} }} {after}"
FROM = "FROM NAMED WINDOW <w{number}> ON <{stream}> [{kind} {options}]"
STREAMS = ("s", "t")
EXAMPLES = max(1, int(30 * float(os.environ.get("WEIR_EXAMPLES", "1"))))
WINDOWS = (
    "NOW",
    "ALL",
    "RANGE 20",
    "RANGE 20 STEP 10",
    "RANGE 10 STEP 20",
    "RANGE 10 STEP 10",
    "RANGE 30 STEP 10 STARTING AT PT0S",
    'RANGE 20 STEP 10 STARTING AT "1970-01-01T00:00:00.015Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>',
    "RANGE 20 STEP 10 STARTING AT FIRST",
    "FROM NOW-PT0.03S TO NOW-PT0.01S STEP PT0.01S",
    "FROM NOW-PT0.03S TO NOW-PT0.01S",
)
REPORTS = (
    "",
    "REPORT CONTENT CHANGE",
    "REPORT CONTENT CHANGE, NON EMPTY",
    "REPORT WINDOW CLOSE",
    "REPORT WINDOW CLOSE, NON EMPTY",
    "REPORT PERIODIC PT0.01S",
    "REPORT PERIODIC PT0.01S, NON EMPTY",
    "REPORT PERIODIC PT0.02S CLOSED, NON EMPTY",
    "REPORT WINDOW CLOSE, CONTENT CHANGE",
)
TICKS = ("", "TICK CHANGE", "TICK BATCH", "TICK TIME PT0.005S")
BODIES = (
    ("?x ?y", "WINDOW <w0> { ?x :p ?y }", ""),
    ("?x (COUNT(*) AS ?n)", "WINDOW <w0> { ?x :p ?y }", "GROUP BY ?x"),
    ("?x ?y ?z", "WINDOW <w0> { ?x :p ?y } WINDOW <w1> { ?x :q ?z }", ""),
    ("?x ?y ?z", "WINDOW <w0> { ?x :p ?y } OPTIONAL { WINDOW <w1> { ?x :q ?z } }", ""),
    ("?x ?y", "WINDOW <w0> { ?x :p ?y } MINUS { WINDOW <w1> { ?x :q ?z } }", ""),
    ("?x ?y", "{ WINDOW <w0> { ?x :p ?y } } UNION { WINDOW <w1> { ?x :q ?y } }", ""),
    ("?x ?y ?t", "WINDOW <w0> { ?x :p ?y } BIND(NOW() AS ?t)", ""),
)


def drawn(rng: Random) -> str | None:
    """A query that is split, None where this one is not or is refused."""
    select, body, after = rng.choice(BODIES)
    tick, alike = rng.choice(TICKS), rng.random() < 0.5
    shape = rng.choice(WINDOWS), rng.choice(REPORTS)
    froms = []
    for number in range(2 if "<w1>" in body else 1):
        kind, report = shape if alike else (rng.choice(WINDOWS), rng.choice(REPORTS))
        options = f"{report} {tick} LATENESS PT{rng.choice(('0', '0.01'))}S AHEAD PT0.5S"
        stream = rng.choice(STREAMS) if number else "s"
        froms.append(FROM.format(number=number, stream=stream, kind=kind, options=options))
    text = HEAD.format(
        r2s=rng.choice(("RSTREAM", "ISTREAM", "DSTREAM")),
        select=select,
        froms=" ".join(froms),
        previous=rng.choice(("", "PREVIOUS INSTANT")),
        body=body,
        after=after,
    )
    try:
        found = splitting(parse(text))
        Scenario(text, streams=STREAMS)
    except Exception:  # A combination that Weir refuses, with one slot as with many.
        return None
    return text if found.place is not None else None


def messages(rng: Random) -> list[list[tuple[str, str, str]]]:
    """Batches of (stream, lane, line): mostly in order, some late, some of times that nobody believes, some
    without anything to match."""
    time, batches = rng.randrange(100), []
    for _ in range(rng.randrange(1, 5)):
        batch = []
        for _ in range(rng.randrange(10)):
            time += rng.choice((0, 1, 3, 7, 30))
            told = max(0, time - rng.choice((0, 0, 0, 5, 12, 60)))
            if rng.random() < 0.03:
                told += 600
            about, what = rng.choice("abcdef"), rng.choice("pqppqz")
            line = f"{told}\t<http://e/{about}> <http://e/{what}> <http://e/{rng.choice('xyz')}> .\n"
            batch.append((rng.choice(STREAMS), rng.choice("01"), line))
        batches.append(batch)
    return batches


def answers(text: str, batches: list[list[tuple[str, str, str]]], slots: int) -> tuple[object, ...]:
    scenario = Scenario(text, streams=STREAMS, slots=slots)
    for stream in STREAMS:
        for lane in "01":
            scenario.lane(stream, lane)
    found = []
    for batch in batches:
        for stream, lane, line in batch:
            scenario.lane(stream, lane).put(line)
        found += scenario.batch()
    for lane in scenario.lanes.values():
        lane.end()
    found += scenario.batch()
    dropped = {tuple(sorted((name, str(value)) for name, value in each.items())) for each in scenario.dropped}
    told = scenario.job.metrics.streams
    counted = {iri: [values[name] for name in ("late", "ahead", "messages")] for iri, values in told.items()}
    return found, dropped, counted


@given(st.randoms(use_true_random=False))
@settings(max_examples=EXAMPLES, deadline=None)
def test_slots_that_see_their_own_messages_answer_the_same(rng: Random) -> None:
    text = drawn(rng)
    if text is None:
        return
    batches = messages(rng)
    one = answers(text, batches, 1)
    for slots in (2, 5):
        assert answers(text, batches, slots) == one


ON = "FROM NAMED WINDOW <w> ON <s>"
OWN = {
    "grid": "SELECT ?x ?y FROM NAMED WINDOW <w> ON <s> [RANGE 20 STEP 10]",
    "new on the grid": "SELECT ISTREAM ?x ?y FROM NAMED WINDOW <w> ON <s> [RANGE 20 STEP 10]",
    "changes": f"SELECT ISTREAM ?x ?y {ON} [NOW TICK CHANGE] PREVIOUS INSTANT",
    "gone": f"SELECT DSTREAM ?x ?y {ON} [RANGE 20 REPORT CONTENT CHANGE TICK CHANGE] PREVIOUS INSTANT",
    "on arrival": f"SELECT ISTREAM ?x ?y {ON} [ALL] PREVIOUS INSTANT",
    "non empty": "SELECT ?x ?y FROM NAMED WINDOW <w> ON <s> [RANGE 9 STEP 9 REPORT WINDOW CLOSE, NON EMPTY]",
}
EVERY = {
    "whenever a message comes": f"SELECT ?x ?y {ON} [NOW]",
    "start at the first": "SELECT ?x ?y FROM NAMED WINDOW <w> ON <s> [RANGE 20 STEP 9 STARTING AT FIRST]",
    "evaluation before": f"SELECT ISTREAM ?x ?y {ON} [ALL]",
    "what has gone": "SELECT DSTREAM ?x ?y FROM NAMED WINDOW <w> ON <s> [RANGE 20 STEP 10]",
    "by a clock": "SELECT ?x ?y FROM NAMED WINDOW <w> ON <s> [RANGE 20 STEP 10 TICK TIME PT1S]",
    "never empties": "SELECT ?x ?y FROM NAMED WINDOW <w> ON <s> [ALL REPORT PERIODIC PT1S]",
    "distinct": "SELECT ?x ?y FROM NAMED WINDOW <w> ON <s> [RANGE 20 STEP 10 TIMES DISTINCT]",
    "while some window holds": "SELECT DSTREAM ?x ?y FROM NAMED WINDOW <w> ON <s> "
    "[RANGE 20 TICK CHANGE REPORT CONTENT CHANGE, NON EMPTY] PREVIOUS INSTANT",
}
WHERE = " WHERE { WINDOW <w> { ?x <http://e/p> ?y } }"


@pytest.mark.parametrize("name", OWN)
def test_what_is_told_of_its_own_messages(name: str) -> None:
    query = parse(OWN[name] + WHERE)
    assert needs_every_message(query) is None
    assert evaluated_apart(query) is (name in ("changes", "gone", "on arrival"))


@pytest.mark.parametrize("reason", EVERY)
def test_what_is_told_of_every_message_and_why(reason: str) -> None:
    assert reason in (needs_every_message(parse(EVERY[reason] + WHERE)) or "")
