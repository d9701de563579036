"""``.tnq`` lines: the fast path and the strict path give the same, and what is bad is set aside."""

from __future__ import annotations

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.rdf.formats.guarded_parser import quad_texts, read_statements
from weir.rdf.formats.tnq import parse_lines
from weir.rdf.messages import Parsed

KEY = b"test"


def parse(text: str | bytes, base: int = 0) -> Parsed:
    data = text.encode() if isinstance(text, str) else text
    return parse_lines(data, scope="s lane", key=KEY, base=base)


def rows(messages: Parsed) -> list[tuple[int, int, str, str, str, str]]:
    """(time, place, subject, predicate, object, graph) of every triple."""
    texts = [terms.texts.gather(terms.codes).to_list() for terms in messages.terms]
    times = messages.messages.time[messages.messages.message].tolist()
    return list(zip(times, messages.messages.place.tolist(), *texts, strict=True))


def test_consecutive_lines_of_equal_time_are_one_message() -> None:
    messages = parse(
        "1\t<http://a> <http://p> <http://b> .\n"
        "1\t<http://a> <http://p> <http://c> .\n"
        "2\t<http://a> <http://p> <http://d> .\n"
        "1\t<http://a> <http://p> <http://e> .\n"
    )
    assert messages.messages.time.tolist() == [1000, 2000, 1000]
    assert messages.messages.triples.tolist() == [2, 1, 1]
    assert messages.messages.place.tolist() == [0, 1, 0, 0]


def test_a_time_alone_is_a_heartbeat() -> None:
    messages = parse("1\t<http://a> <http://p> <http://b> .\n5\t\n")
    assert messages.messages.time.tolist() == [1000, 5000]
    assert messages.messages.triples.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("written", "microseconds"),
    [
        ("0", 0),
        ("-5", -5000),
        ("1970-01-01T00:00:01Z", 1_000_000),
        ("1970-01-01T00:00:00.5Z", 500_000),
        ("1970-01-01T01:00:00.000001+01:00", 1),
        ("1970-01-01T00:00:00.0000019Z", 1),
        ("1970-01-01T00:00:02", 2_000_000),
        ("0001-01-01T00:00:00Z", -62_135_596_800_000_000),
        ("9999-12-31T23:59:59.999Z", 253_402_300_799_999_000),
    ],
)
def test_times(written: str, microseconds: int) -> None:
    messages = parse(f"{written}\t<http://a> <http://p> <http://b> .\n")
    assert messages.messages.time.tolist() == [microseconds]


@pytest.mark.parametrize(
    "written", ["", "x", "1.5", "1e3", "99999999999999999", "2020-13-01T00:00:00Z", "10000-01-01T00:00:00Z"]
)
def test_what_is_no_time_is_set_aside(written: str) -> None:
    messages = parse(f"{written}\t<http://a> <http://p> <http://b> .\n")
    assert len(messages.messages.time) == 0
    assert [item.line for item in messages.rejected] == [1]


STATEMENTS = [
    "<http://a> <http://p> <http://b> .",
    '<http://a> <http://p> "x" .',
    '<http://a> <http://p> "x\ty" .',
    '<http://a> <http://p> "a \\"b\\" \\\\ \\n c"@en .',
    '<http://a> <http://p> "a"@EN-gb .',
    '<http://a> <http://p> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .',
    '<http://a> <http://p> "s"^^<http://www.w3.org/2001/XMLSchema#string> .',
    '<http://a> <http://p> "a b <c> ." <http://g> .',
    "<http://a> <http://p> <http://b> <http://g> .",
    '<http://a>   <http://p>\t"\\u00e9" . # remark',
    "<http://a>\t<http://p>\t<http://b>.",
    "<http://é/%41> <http://p> <http://b> .",
    '<http://a> <http://p> "" .',
    '<http://a> <http://p> "日本 語"@ja <http://g/é> .',
]


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_terms_are_those_of_the_strict_parser(statement: str, end: str) -> None:
    messages = parse(f"7\t{statement}{end}")
    (expected,) = quad_texts(ox.parse(statement, format=ox.RdfFormat.N_QUADS))
    assert rows(messages) == [(7000, 0, *expected)]
    assert not messages.rejected


BAD = [
    "<http://a> <http://p> .",
    "<a> <http://p> <http://b> .",
    '"x" <http://p> <http://b> .',
    "<http://a> _:p <http://b> .",
    "<http://a> <http://p> <http://b>",
    '<http://a> <http://p> "x .',
    '<http://a> <http://p> "x"y .',
    "<http://a b> <http://p> <http://b> .",
    "<http://a/%zz> <http://p> <http://b> .",
    "<http://a> <http://p> <http://b> . <http://a> <http://p> <http://c> .",
    "<http://a> <http://p> <http://b> <http://g> <http://h> .",
    '<http://a> <http://p> "x"@en--up .',
    "<http://a> <http://p> <<( <http://a> <http://p> )>> .",
    '<http://a> <http://p> <<( "a" <http://p> <http://b> )>> .',
    '<http://a> <http://p> "x"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString> .',
    "nonsense",
]


@pytest.mark.parametrize("statement", BAD)
def test_bad_statements_are_set_aside_with_line_and_reason(statement: str) -> None:
    messages = parse(
        f"1\t<http://a> <http://p> <http://b> .\n2\t{statement}\n3\t<http://a> <http://p> <http://c> .\n"
    )
    assert messages.messages.time.tolist() == [1000, 3000]
    (bad,) = messages.rejected
    assert bad.line == 2
    assert bad.reason
    assert bad.text == f"2\t{statement}"


def test_lines_without_a_tab_and_bytes_that_are_no_text() -> None:
    messages = parse(
        b"garbage\n1\t<http://a> <http://p> <http://b> .\n\xff\xfe\n"
        b'\n# remark\n1\t<http://a> <http://p> "\xff" .\n'
    )
    assert messages.messages.triples.tolist() == [1]
    assert [(item.line, item.reason) for item in messages.rejected] == [
        (1, "no tab between time and statement"),
        (3, "invalid UTF-8"),
        (6, "invalid UTF-8"),
    ]


def test_a_malformed_line_does_not_part_a_message() -> None:
    messages = parse("1\t<http://a> <http://p> <http://b> .\nbad\n1\t<http://a> <http://p> <http://c> .\n")
    assert messages.messages.triples.tolist() == [2]


def test_blank_nodes_belong_to_their_message() -> None:
    text = "1\t_:x <http://p> _:y .\n1\t_:x <http://q> _:x .\n2\t_:x <http://p> _:y .\n"
    first, second, third = rows(parse(text))
    assert first[2] == second[2] == second[4] != first[4]
    assert third[2] not in (first[2], first[4])
    assert ox.parse(f"{first[2]} <http://p> {first[4]} .", format=ox.RdfFormat.N_TRIPLES)


def test_blank_nodes_do_not_depend_on_where_the_lane_is_cut() -> None:
    lines = ["1\t_:x <http://p> _:y .\n", "2\t_:x <http://p> _:y .\n"]
    whole = rows(parse("".join(lines)))
    assert whole == rows(parse(lines[0])) + rows(parse(lines[1], base=len(lines[0])))


def test_a_line_of_many_megabytes() -> None:
    """What the strict parser takes is read, more is not: both ways of reading agree."""
    big = "x" * ((16 << 20) - 100)
    script = [
        f'1\t<http://a> <http://p> "{big}" .',
        f'2\t<http://a> <http://p> "{big}{big}" .',
        f"3\t{big}{big}",
    ]
    messages = parse("\n".join(script) + '\n4\t<http://a> <http://p> "" .\n')
    assert messages.messages.time.tolist() == [1000, 4000]
    assert [(item.line, item.reason) for item in messages.rejected] == [
        (2, "longer than 16 MiB"),
        (3, "longer than 16 MiB"),
    ]
    assert max(len(item.text) for item in messages.rejected) < 300


def test_an_empty_part() -> None:
    assert len(parse("").messages.time) == 0


@given(
    st.lists(
        st.tuples(
            st.integers(0, 3), st.sampled_from([*STATEMENTS[:13], *BAD[:6], "", "_:b <http://p> _:c ."])
        ),
        max_size=12,
    )
)
def test_equal_to_reading_line_by_line(script: list[tuple[int, str]]) -> None:
    whole = parse("".join(f"{time}\t{statement}\n" for time, statement in script))
    expected = []
    for time, statement in script:
        found = read_statements([statement])[0] if statement else None
        if isinstance(found, tuple):
            expected.append((time * 1000, *found))
    got = [(time, *rest) for time, _, *rest in rows(whole)]
    scoped = [tuple("_" if str(part).startswith("_:") else part for part in row) for row in got]
    assert scoped == [tuple("_" if str(part).startswith("_:") else part for part in row) for row in expected]
