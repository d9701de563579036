"""Columns of terms as JSON: what one by one would give, in Python as in what is compiled of it."""

from __future__ import annotations

import pyarrow as pa
import pytest

from weir.rdf.terms import json_term, parse_term
from weir.runtime.output import json_columns
from weir.runtime.output.json_columns import compact, json_terms, quoted

TEXTS = [
    "<http://e/a>",
    "_:b",
    '""',
    '"x"',
    '"ä <b> -- c"',
    '"x"@en',
    '"a--b"@en-gb',
    '"x"@ar--rtl',
    '"1"^^<http://e/t>',
    '"<"^^<http://e/t>',
    '"a\\"b"',
    '"a\\"b"@en',
    '"tab\t"^^<http://e/t>',
    '"back\\\\slash"',
    "<<( <http://e/a> <http://e/b> _:c )>>",
]


@pytest.mark.parametrize("compiled", [False, True])
def test_terms_as_json(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_measured", "_fill"):
        function = getattr(json_columns, name)
        monkeypatch.setattr(json_columns, name, function.made() if compiled else function.py_func)
    due = [compact(json_term(parse_term(text))) for text in TEXTS]
    assert json_terms(pa.array([*TEXTS, None], pa.large_string())).to_pylist() == [*due, None]
    assert json_terms(pa.array([*TEXTS, None], pa.large_string())[3:5]).to_pylist() == due[3:5]


def test_inside_json() -> None:
    texts = pa.array(["plain", None, 'say "x"', "a\\b\x1f"], pa.large_string())
    assert quoted(texts).to_pylist() == ["plain", None, 'say \\"x\\"', "a\\\\b\\u001f"]
