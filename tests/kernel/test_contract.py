"""What goes into an evaluator: batches of messages, and slabs that evaluators share."""

from __future__ import annotations

import numpy as np
import pytest

from weir.kernel.contract import Batch, Lack, NotCovered, Slab


def column(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def test_rows_keep_all_messages_and_only_the_marked_triples() -> None:
    batch = Batch(
        column(5, 9), column(2, 1), column(0, 0, 1), column(0, 1, 0), *(column(1, 2, 3) for _ in range(4))
    )
    kept = batch.rows(np.array([False, True, True]))
    assert (kept.time.tolist(), kept.triples.tolist()) == ([5, 9], [2, 1])
    assert (kept.message.tolist(), kept.position.tolist(), kept.object.tolist()) == ([0, 1], [1, 0], [2, 3])


@pytest.mark.parametrize(("count", "turns"), [(0, 2), (7, 2), (100, 3), (1_000, 4)])
def test_evaluators_that_take_turns_evaluate_every_time_once(count: int, turns: int) -> None:
    shares = [Slab({}, 0, turn=(which, turns)).stretch(count) for which in range(turns)]
    assert [time for first, last in shares for time in range(first, last)] == list(range(count))


def test_what_is_not_covered_is_said_in_words() -> None:
    assert NotCovered(Lack.NO_ENDPOINTS).primary == Lack.NO_ENDPOINTS.value
