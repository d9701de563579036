"""Texts of many queries at once: the same rows as each query's own, in the same order."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from weir.kernel.matching.answers import SetAnswers
from weir.rdf.terms import json_term, parse_term
from weir.runtime.output import bulk
from weir.runtime.output.bulk import BulkTexts, Voice, parted
from weir.runtime.output.compact import COMPACT, Compact
from weir.runtime.output.merging import merged
from weir.runtime.output.outputs import outputs, read_answers, text_columns
from weir.runtime.output.results import json_lines
from weir.runtime.output.sinks.base import Results
from weir.runtime.output.sinks.folders import ResultsFolder, read_results
from weir.runtime.output.text_columns import compact, json_terms, stamps, timestamp, weave
from weir.runtime.worker.group import Answered, Step
from weir.testing import Scenario

BODIES = ["?x :p ?y", "?x :p ?y . ?x :q ?z", "?a ?b ?c", "?x :p ?y . ?z :q ?y", ':a :p ?y . ?s :r "0.5"']
SELECTED = ["*", "?y", "?nothing ?y", "DISTINCT ?x"]
QUERIES = {
    f"q{b}{s}{d}": (
        f"PREFIX : <http://e/> REGISTER ISTREAM <q{b}{s}{d}> AS SELECT {selected} FROM NAMED WINDOW <w> ON "
        f"<s> [TRIPLES 5 CONTENT BAG REPORT CONTENT CHANGE] WHERE {{ WINDOW <w> {{ {body} }} }}"
    )
    for b, body in enumerate(BODIES)
    for s, selected in enumerate(SELECTED)
    for d in range(1 + (s == 0))
}


def lines(seed: int, count: int = 60) -> str:
    draw = random.Random(seed)
    objects = [
        "<http://e/x>",
        '"0.5"',
        '"1.50"^^<http://www.w3.org/2001/XMLSchema#decimal>',
        '"a\\"b"@en',
        '"ä"',
    ]
    return "".join(
        f"{1000 + time // 3}\t<http://e/{draw.choice('abc')}> <http://e/{draw.choice('pqr')}> "
        f"{draw.choice(objects)} .\n"
        for time in range(count)
    )


def stepped(seed: int) -> tuple[Scenario, Step]:
    scenario = Scenario(QUERIES, evaluator="shared")
    scenario.lane("s").put(lines(seed)).end()
    scenario.batch()
    return scenario, scenario.steps[-1]


def parts(step: Step) -> Iterator[tuple[SetAnswers, Any]]:
    for together in step.shared:
        for part in together.answers.parts:
            assert isinstance(part, SetAnswers)
            yield part, {name: member.query for name, member in together.members.items()}


@pytest.mark.parametrize("most", [7, 200_000])
def test_rows_are_those_of_each_query_alone(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "MOST", most)
    scenario, step = stepped(1)
    dictionary = scenario.group.dictionary
    every: dict[str, Answered] = {each.member.name: each for each in step.each()}
    assert len(every) > 10
    for part, queries in parts(step):
        made = BulkTexts(part, {name: Voice.of(query) for name, query in queries.items()}, dictionary)
        by_lines = dict(found for table in made.lines() for found in parted(pa.Table.from_batches([table])))
        by_columns = dict(
            found for table in made.columns() for found in parted(pa.Table.from_batches([table]))
        )
        assert set(by_lines) == set(by_columns) == {name for name in queries if name in every}
        for name in by_lines:
            query, answers = queries[name], every[name].answers
            alone = json_lines(query, name, answers, dictionary)
            assert by_lines[name]["line"].to_pylist() == alone.text.to_pylist()
            assert by_lines[name]["at"].to_pylist() == alone.at.tolist()
            columns = text_columns(query, answers, dictionary)
            assert by_columns[name].to_pydict() == pa.table(columns).to_pydict()


def test_one_row_for_many_queries() -> None:
    scenario, step = stepped(2)
    rows = [row for row in outputs(scenario.group, step, [], 0, "jsonl") if row.kind == "answers"]
    assert 0 < len(rows) < len(list(step.each()))
    assert not any(row.name for row in rows)
    assert sum(read_answers(row.data).num_rows for row in rows) == sum(
        len(each.answers.at) for each in step.each()
    )


def test_terms_as_json() -> None:
    texts = [
        "<http://e/a>",
        '"x"',
        '"x"@en',
        '"1"^^<http://e/t>',
        '"a\\"b"',
        '"tab\\t"^^<http://e/t>',
        "_:b",
        '"ä"',
    ]
    slow = [compact(json_term(parse_term(text))) for text in texts]
    assert json_terms(pl.Series([*texts, None])).to_list() == [*slow, None]


def test_stamps() -> None:
    times = [0, 999, -1, -1001, 1_407_110_400_123_456, 250_000_000_000_000_000]
    assert weave(stamps(pl.Series(times).to_numpy())).to_pylist() == [timestamp(each) for each in times]


def test_compact_answers_give_every_query_its_own() -> None:
    scenario, step = stepped(3)
    dictionary = scenario.group.dictionary
    for part, queries in parts(step):
        voices = {name: Voice.of(query) for name, query in queries.items()}
        whole = Compact(part, voices, dictionary)
        again = Compact.from_bytes(whole.to_bytes())
        assert len(again) == len(whole) > 0
        expected = {name: table.to_pydict() for name, table in whole.tables()}
        assert {name: table.to_pydict() for name, table in again.tables()} == expected
        for name in queries:
            assert [t.to_pydict() for _, t in again.tables([name])] == [expected[name]] * (name in expected)
        lines = {name: table.to_pydict() for name, table in whole.lines()}
        assert {name: table.to_pydict() for name, table in again.lines()} == lines


def test_a_folder_of_results(tmp_path: Path) -> None:
    scenario, step = stepped(4)
    rows = [row for row in outputs(scenario.group, step, [], 0, COMPACT) if row.kind == "answers"]
    single = Results("other", pa.table({"at": [1], "op": ["R"], "x": ["<http://e/a>"]}))
    sink = ResultsFolder(tmp_path / "out")
    sink.open()
    sink.write(0, [single, *merged(rows)])
    sink.write(1, [])
    sink.write(0, [single, *merged(rows)])
    found = dict(read_results(tmp_path / "out"))
    every = {each.member.name: each for each in step.each()}
    assert set(found) == {"other", *every}
    for name, answered in every.items():
        columns = text_columns(answered.member.query, answered.answers, scenario.group.dictionary)
        assert found[name].to_pydict() == pa.table(columns).to_pydict()
    assert [name for name, _ in read_results(tmp_path / "out", ["other", "q00 0"])] == ["other"]
