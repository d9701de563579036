"""Times of messages: columns say what single texts say, and what is written is read back."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.rdf.formats.media import format_of
from weir.rdf.formats.payloads import parse_payloads
from weir.rdf.formats.times import (
    FIRST_TIME,
    LAST_TIME,
    moment_of,
    one_time,
    predicate_iri,
    read_time,
    read_times,
    write_time,
)

TIME = "http://www.w3.org/ns/prov#generatedAtTime"


def test_predicates_may_use_known_prefixes() -> None:
    assert predicate_iri("prov:generatedAtTime") == predicate_iri(f"<{TIME}>") == TIME
    assert moment_of("_:x") is None


@given(st.integers(FIRST_TIME, LAST_TIME))
def test_a_written_time_is_read_back(at: int) -> None:
    assert read_time(write_time(at)) == at


@pytest.mark.parametrize(
    "text", ["", "x", "10000-01-01T00:00:00Z", "99999999999999999", "2020-13-01T00:00:00Z"]
)
def test_what_is_no_time(text: str) -> None:
    assert read_time(text) is None


@given(
    st.lists(st.one_of(st.integers(-(10**16), 10**16).map(str), st.datetimes().map(lambda d: d.isoformat())))
)
def test_a_column_of_times_is_that_of_each(texts: list[str]) -> None:
    at, good = read_times(pl.Series(texts, dtype=pl.String))
    assert [int(time) if fits else None for time, fits in zip(at, good, strict=True)] == [
        read_time(text) for text in texts
    ]


def test_different_times_are_none() -> None:
    assert one_time(['"1"', '"01"'], TIME) == 1000
    assert "2 different times" in str(one_time(['"1"', '"2"'], TIME))


LEXICAL = st.sampled_from(
    [
        "5",
        "-7",
        "+05",
        "1970-01-01T00:00:01Z",
        "1970-01-01T00:00:00.5+01:00",
        "2020-13-01T00:00:00Z",
        " 5 ",
        "x",
        "",
    ]
)
TAIL = st.sampled_from(
    [
        "",
        "@en",
        *(
            f"^^<http://www.w3.org/2001/XMLSchema#{name}>"
            for name in ("dateTime", "dateTimeStamp", "integer", "long", "gYear", "date")
        ),
    ]
)


@given(st.lists(st.tuples(LEXICAL, TAIL), min_size=1, max_size=8))
def test_times_of_many_messages_are_those_of_each(said: list[tuple[str, str]]) -> None:
    terms = [f'"{lexical}"{tail}' for lexical, tail in said]
    payloads = [f"<http://e/x> <{TIME}> {term} .\n".encode() for term in terms]
    found = parse_payloads(
        payloads,
        format_of("ntriples"),
        scope="s",
        key=b"k",
        positions=range(len(payloads)),
        time_predicate=TIME,
    )
    expected = [(number, moment_of(term)) for number, term in enumerate(terms)]
    assert found.messages.time.tolist() == [at for _, at in expected if at is not None]
    assert [item.line - 1 for item in found.rejected] == [number for number, at in expected if at is None]
