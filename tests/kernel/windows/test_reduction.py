"""Rows without a partner in the static parts are left out, as long as that leaves much out."""

from __future__ import annotations

import numpy as np
import pytest

from weir.kernel.windows.live_triples import Keeping, LiveTriples
from weir.kernel.windows.reduction import Members, Membership, reduced


def triples() -> LiveTriples:
    return LiveTriples(("s", 1, "o", None), ("time",), Keeping.BAG)


def members(*terms: int) -> Members:
    return Members([Membership([0], [np.array(terms, np.int64)])])


@pytest.mark.parametrize("size", [1, 3, 30])
def test_only_rows_that_may_have_partners_are_kept(size: int) -> None:
    whole = triples()
    part = reduced(whole, members(2, 5))
    for time in range(0, 60, size):
        subject = np.arange(time, time + size) % 10
        if size == 1:
            whole.add_row([int(subject[0]), 0, time])
        else:
            whole.add([subject, subject, np.arange(time, time + size)])
    assert len(whole.rows) == 60
    assert part.rows.column(0).tolist() == [2, 5] * 6
    assert part.coordinate("time").tolist() == sorted(part.coordinate("time").tolist())


def test_rows_that_are_there_already_count_too() -> None:
    whole = triples()
    whole.add([np.array([2, 3]), np.array([0, 0]), np.array([1, 2])])
    assert reduced(whole, members(3)).rows.column(0).tolist() == [3]


def test_a_reduction_that_keeps_most_rows_is_useless() -> None:
    whole = triples()
    part = reduced(whole, members(*range(10)))
    assert not part.useless
    whole.add([np.arange(600) % 10, np.arange(600), np.arange(600)])
    assert part.useless


def test_terms_must_occur_together() -> None:
    test = Membership([0, 1], [np.array([1, 2]), np.array([5, 6])])
    assert test.mask([np.array([1, 1, 2]), np.array([5, 6, 6])]).tolist() == [True, False, True]
    assert test.row([1, 5]) and not test.row([1, 6])
