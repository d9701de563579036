"""Large graphs are joined where they lie: what a stored index finds is what a scan finds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from weir.kernel.contract import Background, GraphTable
from weir.kernel.interval import compiler
from weir.kernel.operators.inputs.pattern_inputs import StaticGraphs
from weir.language import parse
from weir.rdf.ids.dictionary import Dictionary
from weir.runtime.control import extracts
from weir.runtime.worker import worker_cache
from weir.testing import Scenario

PEOPLE = "".join(
    f"<urn:p{paper}> <urn:creator> <urn:a{paper * step % 7}> . <urn:a{paper % 7}> <urn:name> {paper % 7} .\n"
    for paper in range(20)
    for step in (1, 3, 4)
)
QUERY = """PREFIX : <urn:> SELECT ?name FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 10]
WHERE { WINDOW <w> { ?one :at ?room . ?two :at ?room }
  GRAPH :g { ?paper :creator ?one . ?paper :creator ?two . ?two :name ?name } FILTER (?one != ?two) }"""
SEEN = "".join(f"1\t<urn:a{author}> <urn:at> <urn:r{author % 2}> .\n" for author in range(9))


def stored(table: GraphTable, folder: Path, dictionary: Dictionary) -> Background:
    name = extracts.write_extract(Background(table), dictionary, folder)
    return extracts.load_extract(folder / name, dictionary)


@pytest.mark.parametrize("seed", range(8))
def test_a_view_of_a_stored_graph_has_the_rows_of_a_scan(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extracts, "INDEXED", 1)
    random, dictionary = np.random.default_rng(seed), Dictionary()
    ids = dictionary.encode_texts([f"<urn:{number}>" for number in range(12)])
    rows = np.unique(random.integers(0, 9, (3, 150)), axis=1)
    background = stored(GraphTable(ids[rows[0]], ids[rows[1] % 3], ids[rows[2]]), tmp_path, dictionary)
    assert background.default.index is not None
    graphs = StaticGraphs(parse("SELECT * { ?s ?p ?o }", "sparql"), background, dictionary)
    for subject in ("s", *ids[:10].tolist()):
        for object in ("o", "s", *ids[:10].tolist()):
            for predicate in ids[:4].tolist():
                view, keys = graphs.view(subject, predicate, object, None)
                plain = graphs.match(subject, predicate, object, None)
                assert view.variables == plain.variables
                found = np.stack([*view.columns.values(), view.start, view.end]).T.tolist()
                assert sorted(found) == sorted(
                    np.stack([*plain.columns.values(), plain.start, plain.end]).T.tolist()
                )
                for name, index in keys.items():
                    first, counts = index.ranges(ids)
                    for each, at, count in zip(ids, first, counts, strict=True):
                        places = index.rows(np.arange(at, at + count))
                        assert sorted(places) == np.flatnonzero(view.columns[name] == each).tolist()


@pytest.mark.parametrize("limit", [0, compiler.VIEW_LIMIT])
def test_a_query_answers_the_same_from_a_stored_graph(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> list[str]:
        found = Scenario(QUERY, graphs={"urn:g": PEOPLE}).run([SEEN], "s")
        return sorted(str(line) for line in found)

    plain = run()
    monkeypatch.setattr(extracts, "INDEXED", 1)
    monkeypatch.setattr(extracts, "FEW_TEXTS", 0)
    monkeypatch.setattr(compiler, "VIEW_LIMIT", limit)
    assert plain
    assert run() == plain


DEALT = """PREFIX : <urn:> SELECT ?one ?name FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 10]
WHERE { WINDOW <w> { ?one :at ?room } GRAPH :g { ?one :name ?name }
  OPTIONAL { GRAPH :g { ?paper :creator ?one } } }"""


def test_a_slot_finds_its_share_of_what_is_dealt(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[GraphTable] = []

    def load(path: Path, dictionary: Dictionary, slot: int | None = None) -> Background:
        background = extracts.load_extract(path, dictionary, slot)
        found.append(background.named["urn:g"])
        return background

    def run() -> list[str]:
        return sorted(
            str(line) for line in Scenario(DEALT, graphs={"urn:g": PEOPLE}, slots=3).run([SEEN], "s")
        )

    plain = run()
    monkeypatch.setattr(extracts, "INDEXED", 1)
    monkeypatch.setattr(worker_cache, "load_extract", load)
    assert run() == plain != []
    shares = [each.index for each in found]
    assert len(shares) == 3
    for predicate in np.unique(found[0].predicate).tolist():
        places = [range(*each.runs[predicate]) for each in shares if each is not None]
        assert (
            sorted(row for place in places for row in place)
            == np.flatnonzero(found[0].predicate == predicate).tolist()
        )
        assert max(map(len, places)) < sum(map(len, places))
