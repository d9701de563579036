"""The bundle of messages: every operation gives what the same operation on plain lists gives."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from weir.rdf.messages import Messages, Terms, assemble

Plain = list[tuple[int, int, list[int]]]
"""Each message as (time, mark, subjects)."""

PLAIN = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 3), st.lists(st.integers(1, 9), max_size=3)), max_size=8
)


def bundle(plain: Plain) -> Messages:
    counts = np.array([len(subjects) for *_, subjects in plain], np.int64)
    message = np.repeat(np.arange(len(plain)), counts)
    place = np.array([row for *_, subjects in plain for row in range(len(subjects))], np.int64)
    subject = np.array([each for *_, subjects in plain for each in subjects], np.int64)
    time, mark = (np.array([each[which] for each in plain], np.int64) for which in (0, 1))
    return Messages(time, counts, message, place, subject, subject + 10, subject, subject, marks={"m": mark})


def plain_of(messages: Messages) -> Plain:
    out: Plain = [
        (time, mark, [])
        for time, mark in zip(messages.time.tolist(), messages.marks["m"].tolist(), strict=True)
    ]
    rows = zip(messages.message.tolist(), messages.subject.tolist(), messages.predicate.tolist(), strict=True)
    for number, subject, predicate in rows:
        assert predicate == subject + 10
        out[number][2].append(subject)
    return out


@given(PLAIN, st.integers(0, 8), st.integers(0, 8))
def test_slice(plain: Plain, first: int, last: int) -> None:
    first, last = sorted(min(each, len(plain)) for each in (first, last))
    assert plain_of(bundle(plain).slice(first, last)) == plain[first:last]


@given(PLAIN, st.integers(0, 6), st.integers(0, 6))
def test_between(plain: Plain, low: int, high: int) -> None:
    plain.sort(key=lambda each: each[0])
    low, high = sorted((low, high))
    assert plain_of(bundle(plain).between(low, high)) == [each for each in plain if low <= each[0] < high]


@given(PLAIN)
def test_where(plain: Plain) -> None:
    messages = bundle(plain)
    assert plain_of(messages.where(messages.time % 2 == 0)) == [each for each in plain if each[0] % 2 == 0]


@given(PLAIN)
def test_ordered(plain: Plain) -> None:
    messages = bundle(plain)
    assert plain_of(messages.ordered()) == sorted(plain, key=lambda each: each[0])
    assert plain_of(messages.ordered(messages.marks["m"])) == sorted(plain, key=lambda each: each[:2])


@given(st.lists(PLAIN, min_size=1, max_size=4))
def test_concatenated(parts: list[Plain]) -> None:
    found = Messages.concatenated([bundle(part) for part in parts])
    assert (plain_of(found) if len(found) else []) == [each for part in parts for each in part]


@given(PLAIN)
def test_rows_keep_all_messages(plain: Plain) -> None:
    messages = bundle(plain)
    found = messages.rows(messages.subject % 2 == 0)
    assert plain_of(found) == [(a, b, [s for s in subjects if s % 2 == 0]) for a, b, subjects in plain]
    assert np.array_equal(found.triples, messages.triples)


@given(PLAIN)
def test_columns_and_back(plain: Plain) -> None:
    assert plain_of(Messages.of_columns(bundle(plain).columns)) == plain


def test_blank_nodes_belong_to_their_message() -> None:
    texts = pl.Series(["_:b", "<urn:p>"])
    blank, iri = (Terms.of(np.full(2, code), texts, b"k") for code in (0, 1))
    parsed = assemble(
        np.array([1, 2]), np.array([0, 9]), np.array([0, 1]), [blank, iri, iri, iri], scope="s", key=b"k"
    )
    assert len(set(parsed.messages.subject.tolist())) == 2
    assert parsed.messages.triples.tolist() == [1, 1] and parsed.position.tolist() == [0, 9]


def test_some_messages_have_only_the_texts_that_they_use() -> None:
    terms = Terms.of(np.arange(3), pl.Series(["<urn:a>", "<urn:b>", "<urn:c>"]), b"k")
    parsed = assemble(np.arange(3), np.arange(3), np.arange(3), [terms] * 4, scope="s", key=b"k")
    found = parsed.where(np.array([True, False, True]))
    assert found.terms[0].texts.to_list() == ["<urn:a>", "<urn:c>"]
    assert found.terms[0].column.tolist() == found.messages.subject.tolist()
