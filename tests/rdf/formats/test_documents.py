"""RDF documents as quads of texts, in every syntax."""

from __future__ import annotations

import pytest

from fragments_kit import EX
from weir.errors import DataError
from weir.rdf.formats.guarded_parser import parse_document


def test_canonical_lines_are_split_as_the_parser_does() -> None:
    lines = (
        f'<{EX}s> <{EX}p> "a \\"b\\" \\\\ \\n ☃"@en-us <{EX}g> .\n'
        f'_:b0 <{EX}p> "5"^^<http://www.w3.org/2001/XMLSchema#integer> .\n<{EX}s> <{EX}p> <{EX}o> _:g .\n'
    )
    fast = parse_document(lines.encode(), "application/n-quads")
    slow = parse_document(("# not canonical\n" + lines).encode(), "application/n-quads")
    assert fast == slow and len(fast) == 3


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ('<a:s> <a:p> "x"^^<http://www.w3.org/2001/XMLSchema#string> .', '"x"'),
        ('<a:s> <a:p> "\\u00e9\\t"@EN .', '"é\t"@en'),
        ('<a:s>\t<a:p>  "x" .', '"x"'),
    ],
)
def test_other_lines_become_canonical(line: str, text: str) -> None:
    ((_, _, found, _),) = parse_document(f"{line}\n".encode(), "application/n-quads")
    assert found == text


@pytest.mark.parametrize(
    "line", ["<s> <a:p> <a:o> .", "<a:s> <a:p> .", '"x" <a:p> <a:o> .', "<a:s> _:b <a:o> .", "x"]
)
def test_malformed_lines(line: str) -> None:
    with pytest.raises(DataError, match="malformed"):
        parse_document(f"{line}\n".encode(), "application/n-quads")
