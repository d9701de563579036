"""However input is cut into batches, and wherever state is saved and restored, results are the same."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from reference_kit import evaluations
from weir.errors import CheckpointError, UsageError
from weir.kernel.contract import Background, Slab
from weir.kernel.reference import ContinuousQuery, Message, ReferenceEvaluator
from weir.language import Query, parse
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.messages import Messages
from weir.rdf.terms import IRI, Literal

EXAMPLES = int(150 * float(os.environ.get("WEIR_EXAMPLES", "1")))
MS = 1_000

WINDOWS = [
    "RANGE 4 STEP 2",
    "RANGE 3 STEP 5",
    'RANGE 4 STEP 3 BOUNDS "(]"',
    "RANGE 4 STEP 2 REPORT CONTENT CHANGE",
    "RANGE 4 STEP 2 REPORT WINDOW CLOSE, CONTENT CHANGE, NON EMPTY",
    "RANGE 3 STEP 3 STARTING AT PT0.002S",
    'RANGE 3 STEP 2 STARTING AT "1970-01-01T00:00:00.004Z"',
    "NOW",
    "ALL",
    "ALL REPORT PERIODIC PT0.003S",
    "RANGE 5 STEP 2 REPORT PERIODIC PT0.002S, NON EMPTY",
    "TRIPLES 3",
    "TRIPLES 3 STEP 2",
    "ELEMENTS 2",
    "ELEMENTS 3 STEP 2",
    "FROM NOW-6 TO NOW-2 STEP 2",
    "FROM NOW-6 TO NOW-2 STEP 2 REPORT CONTENT CHANGE",
]
TICKS = ["", "TICK TUPLE", "TICK TIME PT0.003S"]
CONTENTS = ["", "CONTENT BAG"]
R2S = ["RSTREAM", "ISTREAM", "DSTREAM"]
PREVIOUS = ["", "PREVIOUS INSTANT"]
LATENESS = 3


@st.composite
def queries(draw: st.DrawFn, lateness: int) -> Query:
    tick = draw(st.sampled_from(TICKS))
    late = f"LATENESS PT0.00{lateness}S" if lateness else ""
    windows = [
        f"FROM NAMED WINDOW <urn:w{i}> ON <urn:{draw(st.sampled_from('st'))}> "
        f"[{draw(st.sampled_from(WINDOWS))} {draw(st.sampled_from(CONTENTS))} {tick} {late}]"
        for i in range(draw(st.integers(1, 2)))
    ]
    body = " ".join(f"OPTIONAL {{ WINDOW <urn:w{i}> {{ ?s{i} ?p ?o }} }}" for i in range(len(windows)))
    r2s, previous = draw(st.sampled_from(R2S)), draw(st.sampled_from(PREVIOUS))
    text = f"SELECT {r2s} * {' '.join(windows)} {previous} WHERE {{ {body} }}"
    note(text)
    return parse(text, "rspql")


@st.composite
def streams(draw: st.DrawFn) -> dict[str, list[Message]]:
    found = {}
    for name in ("urn:s", "urn:t"):
        times = sorted(draw(st.lists(st.integers(0, 25), max_size=8)))
        found[name] = [
            Message(
                time * MS,
                tuple(
                    (IRI(f"urn:{subject}"), IRI("urn:p"), Literal("x"), None)
                    for subject in draw(st.text(alphabet="abc", max_size=3))
                ),
            )
            for time in times
        ]
    return found


def progress(query: Query, given: dict[str, list[Message]], lateness: int) -> int:
    """T: the least of the largest times of the streams that the query reads."""
    reached = [max((m.time for m in given.get(str(s), ())), default=-(2**61)) for s in query.streams]
    return min(reached) - lateness * MS


@given(st.data())
@settings(max_examples=EXAMPLES, deadline=None)
def test_cuts(data: st.DataObject) -> None:
    query = data.draw(queries(0))
    given = data.draw(streams())
    whole = evaluations(query, given)
    continuous = ContinuousQuery(query)
    cut = []
    taken: dict[str, list[Message]] = {name: [] for name in given}
    for _ in range(data.draw(st.integers(0, 4))):
        batch = {}
        for name, messages in given.items():
            rest = messages[len(taken[name]) :]
            batch[name] = rest[: data.draw(st.integers(0, len(rest)))]
            taken[name] += batch[name]
        cut += list(continuous.advance(batch, progress(query, taken, 0)))
    last = {name: messages[len(taken[name]) :] for name, messages in given.items()}
    cut += list(continuous.advance(last, progress(query, given, 0), end=True))
    assert [(e.at, canonical(e.rows)) for e in cut] == [(e.at, canonical(e.rows)) for e in whole]


@given(st.data())
@settings(max_examples=EXAMPLES, deadline=None)
def test_disorder_within_the_lateness(data: st.DataObject) -> None:
    """Messages shuffled by less than the lateness, in batches of one: nothing is late or differs."""
    query = data.draw(queries(LATENESS))
    given = data.draw(streams())
    whole = evaluations(query, given)
    arrivals = []
    for name, messages in given.items():
        delays = [data.draw(st.integers(0, LATENESS)) for _ in messages]
        times = [m.time + d * MS for m, d in zip(messages, delays, strict=True)]
        # equal times stay in order, as they would within one lane
        for i in range(1, len(messages)):
            if messages[i].time == messages[i - 1].time:
                times[i] = max(times[i], times[i - 1])
        arrivals += [(times[i], i, name, message) for i, message in enumerate(messages)]
    continuous = ContinuousQuery(query)
    taken: dict[str, list[Message]] = {name: [] for name in given}
    found = []
    for _, _, name, message in sorted(arrivals, key=lambda item: item[:3]):
        taken[name].append(message)
        found += list(continuous.advance({name: [message]}, progress(query, taken, LATENESS)))
    found += list(continuous.advance({}, progress(query, given, LATENESS), end=True))
    assert continuous.late == 0
    assert [(e.at, canonical(e.rows)) for e in found] == [(e.at, canonical(e.rows)) for e in whole]


def canonical(rows: list) -> list[str]:
    return sorted(str(sorted((name, str(term)) for name, term in row.items())) for row in rows)


def batch(messages: list[Message], dictionary: Dictionary) -> Messages:
    quads = [(i, place, quad) for i, m in enumerate(messages) for place, quad in m.placed()]
    columns = [dictionary.encode_terms([quad[k] for _, _, quad in quads]) for k in range(4)]
    return Messages(
        np.array([m.time for m in messages], np.int64),
        np.array([m.triples for m in messages], np.int64),
        np.array([i for i, _, _ in quads], np.int64),
        np.array([place for _, place, _ in quads], np.int64),
        *columns,
    )


@given(st.data())
@settings(max_examples=EXAMPLES, deadline=None)
def test_ids_in_and_out_with_restarts(data: st.DataObject) -> None:
    query = data.draw(queries(0))
    given = data.draw(streams())
    whole = evaluations(query, given)
    dictionary = Dictionary()
    evaluator = ReferenceEvaluator(query, Background(), dictionary)
    at: list[int] = []
    columns: dict[str, list[int]] = {variable.name: [] for variable in query.form.variables}
    steps = [{name: [message]} for name, messages in given.items() for message in messages]
    taken: dict[str, list[Message]] = {name: [] for name in given}
    for step in [*sorted(steps, key=lambda s: next(iter(s.values()))[0].time), {}]:
        for name, messages in step.items():
            taken[name] += messages
        batches = {name: batch(messages, dictionary) for name, messages in step.items()}
        answers = evaluator.advance(Slab(batches, progress(query, taken, 0), end=not step))
        at += answers.at.tolist()
        for name, column in columns.items():
            column += answers.columns[name].tolist()
        state = evaluator.snapshot()
        evaluator = ReferenceEvaluator(query, Background(), dictionary)
        evaluator.restore(state)
    found = sorted(
        (time, str(sorted((n, str(dictionary.decode(c[i]))) for n, c in columns.items() if c[i])))
        for i, time in enumerate(at)
    )
    assert found == sorted((e.at, row) for e in whole for row in canonical(e.rows))


ALL = "SELECT ?s FROM NAMED WINDOW <urn:w> ON <urn:s> [ALL] WHERE { WINDOW <urn:w> { ?s ?p ?o } }"


def test_input_after_the_end_is_refused() -> None:
    continuous = ContinuousQuery(parse(ALL, "rspql"))
    list(continuous.advance({}, 0, end=True))
    with pytest.raises(UsageError, match="ended"):
        list(continuous.advance({}, 1))


def test_a_state_of_another_query_is_refused() -> None:
    first = ReferenceEvaluator(parse(ALL, "rspql"), Background(), Dictionary())
    other = ReferenceEvaluator(parse(ALL.replace("urn:w", "urn:v"), "rspql"), Background(), Dictionary())
    with pytest.raises(CheckpointError):
        other.restore(first.snapshot())


def test_late_messages_are_dropped_and_counted() -> None:
    quads = ((IRI("urn:a"), IRI("urn:p"), Literal("x"), None),)
    evaluator = ContinuousQuery(parse(ALL, "rspql"))
    list(evaluator.advance({"urn:s": [Message(5, quads)]}, 5))
    list(evaluator.advance({"urn:s": [Message(4, quads), Message(5, quads)]}, 6))
    assert evaluator.late == 1


@pytest.mark.parametrize(
    "window", ["RANGE 20 STEP 10", "TRIPLES 5", "ELEMENTS 3 STEP 2", "NOW", "RANGE 10 STEP 30"]
)
def test_what_no_window_can_show_is_forgotten(window: str) -> None:
    evaluator = ContinuousQuery(parse(ALL.replace("ALL", window), "rspql"))
    quads = ((IRI("urn:a"), IRI("urn:p"), Literal("x"), None),)
    for time in range(200):
        list(evaluator.advance({"urn:s": [Message(time * MS, quads)]}, time * MS))
    assert len(evaluator.windows[0].messages.messages) <= 45
