"""Texts of many queries at once: the same rows as each query's own, in the same order."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from answers_kit import parts, stepped
from weir.runtime.output import results
from weir.runtime.output.results import (
    COLUMNS,
    JSONL,
    Emission,
    by_query,
    order_of_rows,
    query_tables,
    result_columns,
    result_lines,
    set_tables,
    texts_in,
)
from weir.runtime.output.text_columns import Coded
from weir.runtime.worker.together import Answered


def whole(batch: pa.RecordBatch) -> pa.Table:
    return pa.Table.from_batches([batch])


@pytest.mark.parametrize("most", [7, 200_000])
def test_rows_are_those_of_each_query_alone(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "MOST", most)
    scenario, step = stepped(1)
    dictionary = scenario.group.dictionary
    every: dict[str, Answered] = {each.member.name: each for each in step.each()}
    assert len(every) > 10
    for part, queries in parts(step):
        emissions = {name: Emission.of(query) for name, query in queries.items()}
        by_lines, by_columns = (
            dict(
                by_query(
                    pa.Table.from_batches([table]) for table in set_tables(part, emissions, dictionary, form)
                )
            )
            for form in (JSONL, COLUMNS)
        )
        assert set(by_lines) == set(by_columns) == {name for name in queries if name in every}
        for name in by_lines:
            query, answers = queries[name], every[name].answers
            lines = result_lines(query, name, answers, dictionary)
            assert by_lines[name].to_pydict() == pa.table(lines).to_pydict()
            columns = result_columns(query, name, answers, dictionary)
            assert by_columns[name].to_pydict() == pa.table(columns).to_pydict()


def test_many_rows_are_written_a_slice_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario, step = stepped(5)
    answered = max(step.each(), key=lambda each: len(each.answers.at))
    query, dictionary = answered.member.query, scenario.group.dictionary
    at_once = pa.table(result_lines(query, "q", answered.answers, dictionary))
    monkeypatch.setattr(results, "_SLICE", 3)
    slices = list(query_tables(query, "q", answered.answers, dictionary, JSONL))
    assert len(slices) > 1
    assert texts_in(pa.Table.from_batches(slices)).to_pydict() == at_once.to_pydict()


@pytest.mark.parametrize("repeats", [1, 20], ids=["keys fit one number", "keys too wide for one"])
def test_rows_of_one_time_are_in_the_order_of_their_text(repeats: int) -> None:
    """Texts that begin alike, the same text twice and unbound variables keep the order of whole rows."""
    texts = ['"x"', '"x"@en', '"x y"', "<http://e/x>", "<http://e/x/y>", "_:a", "_:ab", None, '"x"']
    dice = np.random.default_rng(1)
    rows = dice.integers(0, len(texts), (3, 400))
    at = np.sort(dice.integers(0, 40, 400))
    columns = [Coded.of(codes, texts) for codes in rows] * repeats
    whole = [
        (at[n], " ".join([texts[code] or "" for code in rows[:, n]] * repeats).encode()) for n in range(400)
    ]
    order = order_of_rows(at, columns, " ").tolist()
    assert [whole[n] for n in order] == sorted(whole)
