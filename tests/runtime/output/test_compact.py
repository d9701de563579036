"""Answers as references give every query what its texts would."""

from __future__ import annotations

from answers_kit import parts, stepped
from weir.runtime.output.compact import Compact
from weir.runtime.output.results import JSONL, Emission


def test_compact_answers_give_every_query_its_own() -> None:
    scenario, step = stepped(3)
    dictionary = scenario.group.dictionary
    for part, queries in parts(step):
        emissions = {name: Emission.of(query) for name, query in queries.items()}
        whole = Compact(part, emissions, dictionary)
        again = Compact.from_bytes(whole.to_bytes())
        assert len(again) == len(whole) > 0
        expected = {name: table.to_pydict() for name, table in whole.tables()}
        assert {name: table.to_pydict() for name, table in again.tables()} == expected
        for name in queries:
            assert [t.to_pydict() for _, t in again.tables([name])] == [expected[name]] * (name in expected)
        lines = {name: table.to_pydict() for name, table in whole.tables(form=JSONL)}
        assert {name: table.to_pydict() for name, table in again.tables(form=JSONL)} == lines
