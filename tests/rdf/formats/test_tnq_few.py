"""A few lines are read as many are, or not at all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weir.rdf.formats import tnq
from weir.rdf.formats.tnq_few import parse_few
from weir.rdf.formats.tnq_split import padded
from weir.rdf.messages import Parsed

KEY = b"key"
TIMES = st.sampled_from(
    [
        "0",
        "1",
        "1",
        "2",
        "007",
        "-1",
        "999999999999999",
        "soon",
        "1970-01-01T00:00:00.001Z",
        "1970-01-01T00:00:00.000001Z",
        "1970-01-01T00:00:00Z",
        "2026-02-30T00:00:00Z",
        "1970-01-01T24:00:00Z",
        "0000-01-01T00:00:00Z",
        "1969-12-31T23:59:59.999Z",
        "9999-12-31T23:59:59Z",
        "1970-01-01T01:00:00+01:00",
    ]
)
NODES = st.sampled_from(
    ["<http://e/a>", "<http://e/b>", "<urn:x>", "<relative>", "_:b", "<http://e/é>", "<<(", "x"]
)
OBJECTS = st.one_of(
    NODES,
    st.sampled_from(
        [
            '"a"',
            '"a\\"b"',
            '"é"',
            '"a"@en',
            '"a"@EN',
            '"1"^^<http://www.w3.org/2001/XMLSchema#integer>',
            '"\\u0041"',
            '"a',
            '"a"^^<http://www.w3.org/2001/XMLSchema#string>',
            '"a"@en--ltr',
        ]
    ),
    st.just('"x" <http://e/g>'),
)
STATEMENTS = st.one_of(
    st.tuples(NODES, NODES, OBJECTS).map(lambda parts: f"{' '.join(parts)} ."),
    st.sampled_from(["", " ", "# nothing", "<http://e/a> <http://e/b> ."]),
)
LINES = st.tuples(TIMES, STATEMENTS).map("\t".join)
PIECES = st.lists(LINES, max_size=4).map(lambda lines: "".join(f"{line}\n" for line in lines).encode())


def told(found: Parsed) -> tuple[object, ...]:
    """All that a reader sees of it."""
    messages = found.messages
    columns = [messages.time, messages.triples, messages.message, messages.place, *messages.quads]
    texts = [terms.texts.gather(terms.codes).to_list() for terms in found.terms]
    return [column.tolist() for column in (*columns, found.position)], texts, found.rejected  # type: ignore[return-value]


@given(st.lists(PIECES, max_size=3))
@settings(max_examples=300)
def test_few_lines_are_read_as_many_or_not_at_all(pieces: list[bytes]) -> None:
    positions = [1000 * number for number in range(len(pieces))]
    few = parse_few(pieces, positions, KEY)
    if few is None:
        return
    begins = np.cumsum([0, *map(len, pieces)])[:-1]
    many = tnq._parse(padded(b"".join(pieces)), begins, np.array(positions, np.int64), "", KEY)
    assert told(few) == told(many)


@pytest.mark.parametrize(
    ("text", "messages", "triples"),
    [
        ('1\t<urn:a> <urn:b> <urn:c> .\n1\t<urn:a> <urn:b> "x"@en .\n2\t<urn:a> <urn:b> <urn:c> .\n', 2, 3),
        ("2026-01-01T00:00:00.5Z\t<urn:a> <urn:b> <urn:c> .", None, 0),
        ("2026-01-01T00:00:00.500Z\t<urn:a> <urn:b> <urn:c> .", 1, 1),
        ("5\t\n", 1, 0),
        ("5\t<urn:a> <urn:b> _:c .\n", None, 0),
        ("5\t<urn:a> <urn:b> <urn:c> <urn:g> .\n", None, 0),
        ("nonsense\n", None, 0),
    ],
)
def test_what_is_taken(text: str, messages: int | None, triples: int) -> None:
    found = parse_few([text.encode()], [0], KEY)
    if messages is None:
        assert found is None
    else:
        assert found is not None
        assert (len(found.messages), len(found.messages.message)) == (messages, triples)


def test_what_is_no_utf8_is_left_alone() -> None:
    assert parse_few([b'1\t<urn:a> <urn:b> "\xff" .\n'], [0], KEY) is None
