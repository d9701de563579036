"""Slabs that evaluators share; what an evaluator does not cover."""

from __future__ import annotations

import pytest

from weir.kernel.contract import Lack, NotCovered, Slab


@pytest.mark.parametrize(("count", "turns"), [(0, 2), (7, 2), (100, 3), (1_000, 4)])
def test_evaluators_that_take_turns_evaluate_every_time_once(count: int, turns: int) -> None:
    shares = [Slab({}, 0, turn=(which, turns)).stretch(count) for which in range(turns)]
    assert [time for first, last in shares for time in range(first, last)] == list(range(count))


def test_what_is_not_covered_is_said_in_words() -> None:
    assert NotCovered(Lack.NO_ENDPOINTS).primary == Lack.NO_ENDPOINTS.value
