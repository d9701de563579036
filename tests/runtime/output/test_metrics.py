"""What a job tells of itself: counts go on after a restart, and a query that has left stays away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from weir.runtime.control.catalog import SHARED
from weir.runtime.direct import DirectJob
from weir.runtime.ingest.sources import FileSource
from weir.runtime.output.metrics import SUMS, Metrics, counts
from weir.runtime.output.outputs import outputs
from weir.testing import Scenario

P = "PREFIX : <http://e/> REGISTER ISTREAM <{name}> AS SELECT ?x ?y "
QUERIES = {
    "range": P + "FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 5] WHERE {{ WINDOW <w> {{ ?x :p ?y }} }}",
    "latest": P + "FROM NAMED WINDOW <w> ON <s> [TRIPLES 4] WHERE {{ WINDOW <w> {{ ?x :p ?y }} }}",
    "join": P
    + "FROM NAMED WINDOW <w> ON <s> [TRIPLES 4] FROM NAMED WINDOW <v> ON <s> [RANGE 10 STEP 5] "
    + "WHERE {{ WINDOW <w> {{ ?x :p ?y }} WINDOW <v> {{ ?x :p ?z }} }}",
}


def lines(batch: int) -> str:
    """Six messages, and in the fifth batch one that is late."""
    times = [6 * batch + n for n in range(6)] + ([1] if batch == 4 else [])
    return "".join(f"{time}\t<http://e/a{time % 2}> <http://e/p> <http://e/{time}> .\n" for time in times)


def told(scenario: Scenario) -> dict[str, Any]:
    (row,) = [row for row in outputs(scenario.group, scenario.steps[-1], [], 0) if row.kind == "metrics"]
    found: dict[str, Any] = json.loads(row.data[:])
    return found


def every_batch(**how: Any) -> list[dict[str, Any]]:
    scenario = Scenario({name: text.format(name=name) for name, text in QUERIES.items()}, **how)
    found = []
    for batch in range(8):
        scenario.lane("s").put(lines(batch))
        scenario.batch()
        found.append(told(scenario))
    return found


@pytest.mark.parametrize("evaluator", ["interval", "reference"])
def test_counts_go_on_when_every_batch_starts_anew(evaluator: str) -> None:
    plain = every_batch(evaluator=evaluator)
    anew = every_batch(evaluator=evaluator, restarts=True)
    for one, other in zip(plain, anew, strict=True):
        assert one["streams"] == other["streams"]
        for name in QUERIES:
            for count in ("evaluations", "results", "through"):
                assert one["queries"][name][count] == other["queries"][name][count], (name, count)
    assert plain[-1]["queries"]["latest"]["evaluations"] > 40
    assert plain[-1]["streams"]["s"]["late"] == 1


def test_counts_of_queries_that_are_evaluated_together_go_on_after_a_restart(tmp_path: Path) -> None:
    stream = tmp_path / "s"
    stream.mkdir()
    job = DirectJob(tmp_path / "checkpoint", slots=1)
    job.registry.add_stream("s", FileSource(str(stream), watch=True))
    job.registry.register_all(
        {f"q{n}": QUERIES["range"].format(name=f"q{n}") for n in range(16)}, "auto", "auto"
    )
    assert {query.evaluator for query in job.registry.queries()} == {SHARED}
    seen = []
    for batch in range(4):
        (stream / f"{batch}.tnq").write_text(lines(batch))
        found = len(job.run())
        group = job.place.groups[0].group
        seen.append(sum(member.results for member in group.members.values()))
        assert seen[-1] == sum(seen[-2:-1]) + found
        told = job.metrics.queries
        assert all(each["together"] == 16 and each["total_seconds"] > 0 for each in told.values())
        assert max(each["live_rows"] for each in told.values()) <= 1 + min(
            e["live_rows"] for e in told.values()
        )
        job.restart()
    assert seen[-1] > seen[0] > 0


def batch_of(*queries: str) -> list[dict[str, Any]]:
    values = {
        "ended": False,
        "input": {"triples": 1, "bytes": 1},
        "rejected": 0,
        "streams": {},
        "counted": {},
        "queries": {name: {"evaluations": 1, "results": 1} for name in queries},
    }
    return [values]


def test_a_batch_in_flight_does_not_bring_back_a_query_that_was_dropped() -> None:
    """batch   0    1    2    3    4
    a          |----|----|----|----|
    b          |----|----|              dropped from batch 3 on, while 1 and 2 are under way
    c          |----|----|    |----|    paused and resumed from 3 on, as registered anew
    """
    metrics = Metrics()
    metrics.take(0, batch_of("a", "b", "c"), 0, (0.0, 1.0, 2.0))
    metrics.forget("b", 3)
    metrics.forget("c", 3)
    for batch in (1, 2):
        metrics.take(batch, batch_of("a", "b", "c"), 0, (0.0, 1.0, 2.0))
        assert list(metrics.queries) == ["a"]
    metrics.take(3, batch_of("a", "c"), 0, (0.0, 1.0, 2.0))
    assert list(metrics.queries) == ["a", "c"]
    metrics.take(4, batch_of("a", "c"), 0, (0.0, 1.0, 2.0))
    assert (metrics.batch_seconds, sum(metrics.seconds)) == (2.0 * metrics.batches, float(metrics.batches))
    assert metrics.latest is not None and (metrics.latest.batch, set(metrics.latest.queries)) == (
        4,
        {"a", "c"},
    )
    assert not metrics.left
    assert metrics.triples == 5


def test_what_spark_is_told_of_a_batch() -> None:
    scenario = Scenario({name: text.format(name=name) for name, text in QUERIES.items()})
    found = []
    for batch in range(8):
        scenario.lane("s").put(lines(batch))
        before = [(m.evaluations, m.results) for m in scenario.group.members.values()]
        answers = len(scenario.batch())
        after = [(m.evaluations, m.results) for m in scenario.group.members.values()]
        step, told_of = scenario.steps[-1], told(scenario)
        counted = dict(zip(SUMS, counts(step, told_of), strict=False))
        assert counted["results"] == answers == sum(b[1] - a[1] for a, b in zip(before, after, strict=True))
        assert counted["evaluations"] == sum(b[0] - a[0] for a, b in zip(before, after, strict=True))
        assert counted["state_rows"] == sum(each["live_rows"] for each in told_of["queries"].values())
        found.append(counted["late"])
    assert found == [0, 0, 0, 0, 1, 0, 0, 0]


def test_every_late_message_is_counted_once(tmp_path: Path) -> None:
    """Two queries read a, one of them in both slots; one reads b."""
    job = DirectJob(tmp_path / "checkpoint", slots=2)
    for stream in "ab":
        (tmp_path / stream).mkdir()
        job.registry.add_stream(stream, FileSource(str(tmp_path / stream), watch=True))
    for name, stream in (("split", "a"), ("whole", "b"), ("other", "a")):
        text = QUERIES["range" if name == "split" else "latest"].format(name=name)
        job.register(text.replace("ON <s>", f"ON <{stream}>"))
    where = {query.name: query.slots for query in job.registry.queries()}
    assert where["split"] == (0, 1)
    for number, time in enumerate((50, 10)):
        for stream in "ab":
            for about in "xyz":
                line = f"{time}\t<http://e/{about}> <http://e/p> <http://e/o> .\n"
                (tmp_path / stream / f"{number}{about}.tnq").write_text(line)
        job.run()
    homes = [item.position for step in job.steps for stream, item in step.dropped if item.home]
    assert len(homes) == 2 * 3, "each late message of each stream has one home"
    assert {iri: told["late"] for iri, told in job.metrics.streams.items()} == {"a": 3, "b": 3}


@pytest.mark.parametrize("names", [("strict", "patient"), ("patient", "strict")])
def test_what_is_late_for_any_query_is_told_of_the_stream(names: tuple[str, str]) -> None:
    texts = {
        "strict": QUERIES["range"].format(name="strict"),
        "patient": QUERIES["range"].format(name="patient").replace("STEP 5]", "STEP 5 LATENESS PT1S]"),
    }
    scenario = Scenario({name: texts[name] for name in names})
    for batch in range(5):
        scenario.lane("s").put(lines(batch))
        scenario.batch()
    assert told(scenario)["streams"]["s"]["late"] == 1
