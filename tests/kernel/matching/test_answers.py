"""Results as small numbers that are again what they were, and a template's answers by reader."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.kernel.contract import Answers
from weir.kernel.matching.answers import Header, Listed, Near, SetAnswers, SingleAnswers

far = st.sampled_from([3, 127, 128, 129, 40_000, 2**31 - 1])


@given(st.data(), st.integers(1, 4), st.integers(0, 8))
def test_a_result_comes_back_as_it_was(data, width, count):
    most = data.draw(far)
    number = st.integers(0, most)
    index = np.array([data.draw(number) for _ in range(count)], np.int32)
    rows = np.array([[data.draw(number) for _ in range(width)] for _ in range(count)], np.int32)
    rows = rows.reshape(count, width)
    for row in rows:
        row[data.draw(st.integers(1, width)) :] = -1
    near = Near.of(index, rows)
    assert len(near) == count
    assert near.index.tolist() == index.tolist()
    assert near.rows.tolist() == rows.tolist()


@pytest.mark.parametrize(
    ("distance", "width"), [(127, np.int8), (128, np.int16), (32_767, np.int16), (32_768, np.int32)]
)
def test_the_longest_distance_decides_the_width(distance, width):
    for other in (1_000_000 - distance, 1_000_000 + distance):
        near = Near.of(np.array([5, 6], np.int32), np.array([[1_000_000, other], [1_000_000, -1]], np.int32))
        assert near.columns.dtype == width
        assert near.rows.tolist() == [[1_000_000, other], [1_000_000, -1]]


LISTED = Listed(np.array([0, 1, 0]), np.array([1, 1, 2]), np.array([[10, 20, 30]]))
HEADERS = {"a": Header(0, {"x": 0}), "b": Header(1, {"y": 0}), "same": Header(0, {"z": 0})}
ANSWERS = SetAnswers(HEADERS, np.array([2, 1]), [LISTED], evaluations=2)


def test_each_query_gets_the_rows_of_its_channel_under_its_names():
    assert ANSWERS.of("a").columns["x"].tolist() == [10, 30]
    assert ANSWERS.of("a").at.tolist() == [1, 2]
    assert ANSWERS.of("b").columns["y"].tolist() == [20]


def test_results_are_counted_once_and_once_per_query():
    assert (len(ANSWERS), ANSWERS.delivered) == (3, 5)
    assert ANSWERS.counts() == {"a": 2, "b": 1, "same": 2}
    assert [name for name, _ in ANSWERS.items()] == ["a", "b", "same"]


def test_what_some_get_is_of_the_same_kind():
    some = replace(ANSWERS, makes_triples=True).only(["b"])
    assert some.makes_triples and some.evaluations == 2
    assert (some.counts(), some.members.tolist()) == ({"b": 1}, [0, 1])


def test_a_query_alone_gets_the_answers_as_they_are():
    answers = Answers(np.array([1, 1, 2]), {"v": np.array([10, 20, 30])}, evaluations=2)
    single = SingleAnswers("alone", answers)
    assert single.of("alone") is answers and list(single.items()) == [("alone", answers)]
    assert (single.evaluations, single.delivered, single.counts()) == (2, 3, {"alone": 3})
    assert not list(SingleAnswers("alone", Answers(np.empty(0, np.int64), {})).items())
