"""A few lines are written as many are."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weir.kernel.contract import Answers
from weir.language import parse
from weir.rdf.ids.dictionary import Dictionary
from weir.runtime.output.few_lines import FEW, few_lines
from weir.runtime.output.results import _columns_of, _ends, _lines, result_lines

TEXTS = [
    *("<http://e/x>", "<http://e/x/y>", "_:a", "_:ab", '"x"', '"x"@en', '"x"@en--ltr', '"a\\"\\nb"', '"é"'),
    *('"01"^^<http://e/d>', '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'),
    "<<( <http://e/a> <http://e/b> _:c )>>",
]
WINDOW = "FROM NAMED WINDOW <w> ON <s> [RANGE PT1S STEP PT1S] WHERE { WINDOW <w> { ?a ?b ?c } }"
QUERIES = [
    parse(f"SELECT ?a ?b ?c {WINDOW}", dialect="rspql"),
    parse(f"SELECT ?a ?b ?c {WINDOW} ORDER BY ?b", dialect="rspql"),
    parse(f"CONSTRUCT {{ ?a ?b ?c }} {WINDOW}", dialect="rspql"),
]


@pytest.fixture(scope="module")
def dictionary() -> Dictionary:
    made = Dictionary()
    made.encode_texts(TEXTS)
    return made


@given(
    st.sampled_from(QUERIES),
    st.lists(st.tuples(st.integers(0, 3), *[st.integers(0, len(TEXTS))] * 3), max_size=12),
    st.sampled_from([1, 1000, 1_000_000]),
)
@settings(max_examples=200)
def test_few_are_written_as_many(
    dictionary: Dictionary, query: object, rows: list[tuple[int, int, int, int]], unit: int
) -> None:
    assert query in QUERIES
    (chosen,) = [each for each in QUERIES if each is query]
    names = _columns_of(chosen)
    bound = "subject" in names
    ids = np.array([*dictionary.encode_texts(TEXTS), 0])
    rows = sorted(rows, key=lambda row: row[0])
    columns = {
        name: ids[[min(row[place + 1], len(TEXTS) - bound) for row in rows]].astype(np.int64)
        for place, name in enumerate(names)
    }
    answers = Answers(np.array([row[0] * unit for row in rows], np.int64), columns)
    few = pa.table(few_lines(chosen, answers, dictionary, *_ends(chosen, 'q"'), names))
    many = pa.table(_lines(chosen, 'q"', answers, dictionary).table())
    assert few.to_pydict() == many.to_pydict()
    assert few.schema == many.schema
    assert len(rows) <= FEW
    assert pa.table(result_lines(chosen, 'q"', answers, dictionary)).equals(few)
