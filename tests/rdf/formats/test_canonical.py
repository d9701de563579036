"""Canonical texts: the compiled loops find what the regular expressions match."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from weir.rdf.formats.canonical import BLANK, IRI, LITERAL, NONE, UNSURE, forms_of, object_and_graph
from weir.rdf.formats.tnq_few import IRI as COMMON
from weir.rdf.formats.tnq_few import LITERAL as WRITTEN
from weir.rdf.formats.tnq_few import UNWRITTEN
from weir.rdf.formats.tnq_split import Ranges

_ANY = r"<[A-Za-z][A-Za-z0-9+.\-]*:[^\x00-\x20<>\"{}|^`\\]*>"
_NODE = r"_:[A-Za-z0-9_](?:[A-Za-z0-9_.\-]*[A-Za-z0-9_\-])?"
_XSD, _RDF = "http://www.w3.org/2001/XMLSchema#", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

PIECES = st.one_of(
    st.sampled_from(
        ["<", ">", "a:", "a", "Z", "9", '"', "\\", '\\"', "\\n", "\n", "\r", "@en", "@", "-", "gb"]
    ),
    st.sampled_from(["^^", "^", "_:", ".", " .", " ", "%", "é", "\x7f", "\t", "[", "{", "abcdefghi"]),
    st.sampled_from(["<http://e/a>", '"x"', f"<{_XSD}integer>", f"<{_XSD}string>", f"<{_RDF}dirLangString>"]),
)
TEXTS = st.lists(st.lists(PIECES, max_size=7).map("".join), min_size=1, max_size=8)


def _form(text: str) -> int:
    if re.fullmatch(COMMON, text):
        return IRI
    if re.fullmatch(_ANY, text):
        return UNSURE
    if re.fullmatch(_NODE, text):
        return BLANK
    return LITERAL if re.fullmatch(WRITTEN, text) and not re.search(UNWRITTEN, text) else NONE


def _parts(text: str) -> tuple[str, str] | None:
    """Object and graph of what follows a predicate."""
    bare = text.rstrip("\r\n")
    if not bare.endswith(" .") or bare == " .":
        return None
    bare = bare[:-2]
    if re.fullmatch(rf'[^" ]*|{WRITTEN}', bare):
        return bare, ""
    found = re.fullmatch(rf'([^" ]+|{WRITTEN}) ([^" ]+)', bare)
    return None if found is None else (found[1], found[2])


@pytest.mark.parametrize("compiled", [False, True])
@settings(max_examples=300)
@given(texts=TEXTS)
@example(
    texts=['"x"@en-', '"x"@en-gb-9', '"x"@9', '"x"^^<a:%>', "_:a.", "_:.a", "_:a.b-", "<a:>", "", '"', '"\\']
)
@example(texts=["<a:b> <a:c> .\r\n", '"x y" <a:g> .', '"x"@en _:g .', " <a:g> .", "<a:b>  .", '<a:b> "g" .'])
def test_as_the_expressions_match(compiled: bool, texts: list[str]) -> None:
    ranges = Ranges.of(pa.array(texts, pa.large_string()))
    whole = (ranges.data, ranges.begin, ranges.end)
    form, part = (each.made() if compiled else each.py_func for each in (forms_of, object_and_graph))  # type: ignore[attr-defined]
    assert form(*whole).tolist() == [_form(each) for each in texts]
    ends, begins, stops, good = part(*whole)
    objects = Ranges(ranges.data, ranges.begin, ends).texts().to_pylist()
    graphs = Ranges(ranges.data, begins, stops).texts().to_pylist()
    found = [pair if taken else None for *pair, taken in zip(objects, graphs, good.tolist(), strict=True)]
    assert [None if pair is None else tuple(pair) for pair in found] == [_parts(each) for each in texts]
