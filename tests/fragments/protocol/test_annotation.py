"""Annotated facts written and read back by every method; times; what is malformed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fragments_kit import ANNOTATIONS, EX, EXAMPLES, SECOND, T0, annotate
from weir.errors import DataError
from weir.fragments.protocol.annotation import (
    BEGINNING,
    FOREVER,
    TMP,
    Annotation,
    Fact,
    Labeling,
    Method,
    read_facts,
    read_time,
    time_text,
)

XSD = "http://www.w3.org/2001/XMLSchema#"
PLAIN = (f"<{EX}a>", f"<{EX}b>", f"<{EX}c>", "")


def named(triple: tuple[str, str, str]) -> str:
    return f"<{EX}implicit/{hash(triple)}>"


FLAT = [Annotation(method, Labeling.INTERVAL, flat=True) for method in Method]


@pytest.mark.parametrize("annotation", ANNOTATIONS + FLAT, ids=lambda a: f"{a}{a.flat}")
def test_facts_are_read_as_they_were_written(annotation: Annotation) -> None:
    facts = [Fact(f"<{EX}s{n}>", f"<{EX}p>", f'"{n}"', T0, T0 + n * SECOND) for n in range(1, 4)]
    quads = [PLAIN]
    for number, fact in enumerate(facts):
        implicit = annotation.method is Method.IMPLICIT
        node = named(fact.triple) if implicit else f"<{EX}node{number}>"
        quads += annotate(fact, annotation, node, f"<{EX}span{number}>")
    found, rest = read_facts(quads, named)
    if annotation.labeling is Labeling.EXPIRATION:
        facts = [fact._replace(start=BEGINNING) for fact in facts]
    assert sorted(found) == sorted(facts) and rest == [PLAIN]


def test_the_papers_counts_of_triples() -> None:
    fact = Fact("<s>", "<p>", "<o>", 0, 1)
    sizes = {str(a): len(a.statement) for a in ANNOTATIONS if a.labeling is Labeling.EXPIRATION}
    assert sizes == {
        "singletonproperties/expiration": 2,
        "graphs/expiration": 1,
        "implicitgraphs/expiration": 1,
        "reification/expiration": 3,
    }
    assert len(annotate(fact, Annotation(), "<g>")) == 2


@settings(max_examples=200 * EXAMPLES)
@given(st.integers(-62_000_000_000_000_000, 250_000_000_000_000_000))
def test_times_are_read_as_they_were_written(time: int) -> None:
    assert read_time(time_text(time)) == time


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ('"1970-01-01T00:00:00Z"', 0),
        ('"1970-01-01T00:00:00"', 0),
        ('"1970-01-01T01:00:00+01:00"', 0),
        ('"1969-12-31T24:00:00Z"', 0),
        ('"1970-01-01T00:00:00.5Z"', 500_000),
        ('"1970-01-01T00:00:00.1234567Z"', 123_456),
        (f'"1970-01-01T00:00:01Z"^^<{XSD}dateTimeStamp>', SECOND),
        ('"9999-12-31T23:59:59Z"', FOREVER),
        ('"9999-12-31T24:00:00Z"', FOREVER),
        ('"123456-01-01T00:00:00Z"', FOREVER),
        ('"-0044-03-15T00:00:00Z"', BEGINNING),
        ('"0001-01-01T00:00:00Z"', BEGINNING),
    ],
)
def test_forms_of_times(text: str, time: int) -> None:
    assert read_time(text) == time


@pytest.mark.parametrize(
    "text",
    ['"today"', "<http://example.org/now>", '"2015-02-30T00:00:00Z"', '"2015-02-03"', '""', '"2015"@en'],
)
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(DataError, match=r"is no xsd:dateTime"):
        read_time(text)


def test_malformed_annotations() -> None:
    label = (f"<{EX}g>", f"<{TMP}expiration>", time_text(T0), "")
    with pytest.raises(DataError, match="belongs to no triple"):
        read_facts([label])
    data = (f"<{EX}s>", f"<{EX}p>", f"<{EX}o>", f"<{EX}g>")
    half = [
        data,
        (f"<{EX}g>", f"<{TMP}interval>", f"<{EX}i>", ""),
        (f"<{EX}i>", f"<{TMP}initial>", time_text(T0), ""),
    ]
    with pytest.raises(DataError, match="lacks its final time"):
        read_facts(half)
    with pytest.raises(DataError, match="ends before it starts"):
        read_facts([*half, (f"<{EX}i>", f"<{TMP}final>", time_text(T0 - 1), "")])
