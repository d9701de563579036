"""Queries of one shape that come one by one, leave, pause and come back share what they can, and notice
nothing of each other."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from weir.linked.graphs import GraphSources
from weir.runtime.control.catalog import SHARED
from weir.runtime.direct import DirectJob
from weir.runtime.ingest.sources import FileSource
from weir.testing import Scenario

E = "http://e/"
HEAD = f"PREFIX : <{E}> REGISTER ISTREAM <{{0}}> AS "
WINDOW = "FROM NAMED WINDOW <w> ON <s> [RANGE 20 STEP 10] WHERE "
SEEN = "{{ WINDOW <w> {{ ?x :p ?y }} "
FORMS = {
    "rows": "SELECT ?x ?c "
    + WINDOW
    + "{{ WINDOW <w> {{ ?x :p ?y }} GRAPH <g> {{ ?x :c ?c . ?x :in :r{1} }} }}",
    "made": "CONSTRUCT {{ ?x :near :r{1} }} " + WINDOW + SEEN + "?x :in :r{1} }}",
    "count": "SELECT (COUNT(*) AS ?n) " + WINDOW + "{{ WINDOW <w> {{ ?x :p ?y FILTER (?y > {1}) }} }}",
    "maybe": "SELECT ?x ?c "
    + WINDOW
    + "{{ WINDOW <w> {{ ?x :p ?y }} OPTIONAL {{ ?x :in ?c . ?c :is :k{1} }} }}",
    "plain": "SELECT ?x " + WINDOW + "{{ WINDOW <w> {{ ?x :p ?y . ?x :q {1} }} }}",
}


def text_of(name: str, form: str, constant: int) -> str:
    return (HEAD + FORMS[form]).format(name, constant)


def texts() -> str:
    """What the default graph and the named one have."""
    rows = [(f"x{n}", "in", f"r{n % 3}") for n in range(6)]
    rows += [(f"x{n}", "c", f"c{n}") for n in range(6)] + [(f"r{n}", "is", f"k{n % 2}") for n in range(3)]
    return "".join(f"<{E}{s}> <{E}{p}> <{E}{o}> .\n" for s, p, o in rows)


def static(folder: Path) -> GraphSources:
    library = GraphSources()
    (folder / "g.nt").write_text(texts())
    for graph in (None, "g"):
        library.add(graph, folder / "g.nt")
    return library


def message(time: int, rng: Random) -> str:
    x = f"<{E}x{rng.randrange(6)}>"
    integer = f'"{rng.randrange(4)}"^^<http://www.w3.org/2001/XMLSchema#integer>'
    return f"{time}\t{x} <{E}{rng.choice('pq')}> {integer} .\n"


@pytest.mark.parametrize("seed", range(3))
def test_one_by_one_they_give_what_each_gives_alone(tmp_path: Path, seed: int) -> None:
    """The same job twice: once sharing is left to the shapes, once each query has its own evaluator."""
    told = []
    for evaluator in ("auto", "interval"):
        folder = tmp_path / evaluator
        folder.mkdir()
        told.append(history(folder, Random(seed), evaluator))
    assert told[0] == told[1]
    assert any(each for each in told[0].values())


def history(folder: Path, rng: Random, evaluator: str) -> dict[str, list[dict[str, Any]]]:
    lines = [message(3 * n, rng) for n in range(80)]
    (folder / "s.tnq").write_text("".join(lines))
    size = max(map(len, lines)) * 6
    job = DirectJob(folder / "c", slots=2, library=static(folder), workers=2)
    job.registry.add_stream("s", FileSource(str(folder / "s.tnq"), bytes_per_batch=size))
    found: list[dict[str, Any]] = []
    known: list[str] = []
    for turn in range(8):
        for _ in range(rng.randint(1, 4)):
            name = f"q{len(known)}"
            job.register(text_of(name, rng.choice(sorted(FORMS)), rng.randrange(3)), evaluator=evaluator)
            known.append(name)
        if turn > 2:
            job.registry.pause(rng.choice(known))
            job.registry.resume(rng.choice(known))
        if turn % 2:
            job.graphs.update(f"PREFIX : <{E}> INSERT DATA {{ :x{turn // 2} :in :r{rng.randrange(3)} }}")
        if rng.random() < 0.3:
            job.restart()
        found += job.batch() or []
    found += job.run()
    if evaluator == "auto":
        shared = sum(each.evaluator == SHARED for each in job.registry.queries())
        assert shared > len(known) // 2
    return {name: [each for each in found if each["query"] == name] for name in known}


def test_who_came_later_is_put_to_the_elder(tmp_path: Path) -> None:
    """Once nothing is in the window that the younger may not see; both read the output of nobody else."""
    (tmp_path / "s.tnq").write_text("".join(message(3 * n, Random(1)) for n in range(60)))
    job = DirectJob(tmp_path / "c", library=static(tmp_path))
    job.registry.add_stream("s", FileSource(str(tmp_path / "s.tnq"), bytes_per_batch=500))
    for constant in range(3):
        job.register(text_of(f"q{constant}", "rows", constant))
        job.batch()
    (group,) = (copy.group for copy in job.place.groups.values())
    templates = [len(shared.evaluator.templates) for shared in group.shared.values()]
    assert sum(templates) == 2
    for _ in range(4):
        job.batch()
    (group,) = (copy.group for copy in job.place.groups.values())
    (shared,) = group.shared.values()
    assert [len(template) for template in shared.evaluator.templates] == [2]


def test_readers_of_what_shared_queries_make() -> None:
    """A CONSTRUCT that is evaluated with others makes a stream like any other."""
    made = {name: text_of(name, "made", constant) for constant, name in enumerate(("m0", "m1", "m2"))}
    window = WINDOW.replace("<s>", "<m1>")
    reader = HEAD + "SELECT ?x " + window + "{{ WINDOW <w> {{ ?x :near ?r }} }}"
    queries = {**made, "reader": reader.format("reader")}
    lines = "".join(message(3 * n, Random(n)) for n in range(60))
    graphs = {None: texts(), "g": texts()}
    shared, alone = (
        Scenario(queries, graphs=graphs, evaluator=evaluator).run([lines], "s")
        for evaluator in ("shared", "interval")
    )
    assert sorted(map(str, shared)) == sorted(map(str, alone))
    assert any(each["query"] == "reader" for each in shared)
