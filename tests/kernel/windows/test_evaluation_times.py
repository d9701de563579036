"""Evaluation times from slab to slab, laid out as instants; those of other evaluators pass."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kernel.windows.test_window import window
from weir.kernel.windows import evaluation_times
from weir.kernel.windows.evaluation_times import Clock
from weir.language.algebra.query import R2S, Previous, Semantics

DIFFERENCES = Semantics(R2S.ISTREAM, Previous.INSTANT)


def clock(semantics: Semantics = DIFFERENCES, **spec: object) -> Clock:
    made = window(**spec)
    return Clock((made,), ((made.spec.stream, made.arrivals),), semantics)


def times(made: Clock, through: int, **options: object) -> list[list[int]]:
    return [chunk.times.tolist() for chunk in made.chunks(through, **({"end": False} | options))]  # type: ignore[arg-type]


def test_every_time_is_listed_once_however_t_advances() -> None:
    made = clock(width=4, step=2, closes=True)
    assert [times(made, through) for through in (3, 3, 7)] == [[[2]], [], [[4, 6]]]
    assert times(clock(width=3, changes=True), 6) == [[0, 2, 5]]


def test_the_end_of_input_lists_what_is_left() -> None:
    assert times(clock(width=4, step=2, closes=True), 6, end=True) == [[2, 4, 6, 8]]


def test_many_times_come_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation_times, "CHUNK", 2)
    assert times(clock(width=3, changes=True), 6) == [[0, 2], [5]]


@pytest.mark.parametrize(
    ("semantics", "instants"),
    [
        (DIFFERENCES, [-1, 0, 1, 2, 4, 5]),
        (replace(DIFFERENCES, previous=Previous.EVALUATION), [-1, 0, 2, 5]),
        (replace(DIFFERENCES, r2s=R2S.RSTREAM), [0, 2, 5]),
    ],
)
def test_what_comes_before_an_evaluation_is_the_index_before_it(
    semantics: Semantics, instants: list[int]
) -> None:
    chunk = next(clock(semantics, width=3, changes=True).chunks(6, end=False))
    assert chunk.at.time.tolist() == instants
    assert chunk.at.time[chunk.at.emitted].tolist() == [0, 2, 5]


def test_times_of_others_pass() -> None:
    made = clock(width=3, changes=True)
    assert times(made, 6, share=lambda count: (1, 2)) == [[2]]
    latest = made.latest()
    assert latest is not None and latest.time.tolist() == [5]


def test_under_the_tuple_driven_tick_every_message_is_an_instant() -> None:
    chunk = next(clock(width=3, changes=True, tuples=True).chunks(6, end=False))
    assert chunk.at.sub is not None
    assert chunk.at.sub.upto["urn:s"][chunk.at.emitted].tolist() == [1, 2, 3]


def test_the_instant_before_is_a_tick_ago() -> None:
    chunk = next(clock(width=3, changes=True, unit=4).chunks(9, end=False))
    assert chunk.at.time.tolist() == [-4, 0, 0, 4, 4, 8]


def test_changes_of_graphs_are_evaluation_times_from_the_first_message_on() -> None:
    made = clock(width=3, changes=True)
    made.watch(np.array([-5, 1, 4]))
    assert times(made, 5) == [[0, 1, 2, 4]]
