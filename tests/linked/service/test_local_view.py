"""The local view against a dictionary that does the same, and its times one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service_graphs import bounded, ids
from weir.kernel.contract import FOREVER
from weir.linked.service.local_view import NEVER, LocalView

SECOND = 1_000_000
Key = tuple[int, ...]
Row = tuple[int, ...]


def view_of(width: int = 1, interval: int | None = 10, prior: int = 50) -> LocalView:
    key = [f"k{n}" for n in range(width)]
    return LocalView(key, [*key, "v"], interval, prior)


def answer(view: LocalView, found: dict[Key, list[int]], at: int, **times: np.ndarray) -> np.ndarray:
    """Store values by key."""
    keys = list(found)
    rows = [(place, *key, value) for place, key in enumerate(keys) for value in found[key]]
    asked = {name: ids([key[n] for key in keys]) for n, name in enumerate(view.key)}
    columns = {name: ids([row[n + 1] for row in rows]) for n, name in enumerate(view.variables)}
    return view.store(asked, len(keys), columns, ids([row[0] for row in rows]), at, **times)


def contents(view: LocalView, keys: list[Key], at: int) -> dict[Key, tuple[int, int, list[int]]]:
    """What the view gives for keys: when fetched, when it expires, the values."""
    numbers = view.number({name: ids([k[n] for k in keys]) for n, name in enumerate(view.key)}, len(keys), at)
    relation, place = view.relation(numbers)
    found: dict[Key, tuple[int, int, list[int]]] = {}
    for n, key in enumerate(keys):
        mine = place == n
        values = sorted(relation.columns["v"][mine].tolist())
        assert all(relation.start[mine] == view.fetched[numbers[n]])
        assert all(relation.end[mine] == view.expiry[numbers[n]])
        found[key] = (int(view.fetched[numbers[n]]), int(view.expiry[numbers[n]]), values)
    return found


@bounded
@given(
    st.integers(0, 2),
    st.lists(
        st.dictionaries(
            st.tuples(st.integers(1, 3), st.integers(1, 3)),
            st.lists(st.integers(1, 9), max_size=3),
            max_size=4,
        ),
        max_size=6,
    ),
    st.booleans(),
)
def test_a_view_is_a_dictionary_of_answers(
    width: int, steps: list[dict[Key, list[int]]], restart: bool
) -> None:
    view = view_of(width)
    model: dict[Key, tuple[int, int, list[int]]] = {}
    for at, step in enumerate(steps):
        cut = {key[:width]: values for key, values in step.items()}
        answer(view, cut, at)
        model |= {key: (at, at + 10, sorted(values)) for key, values in cut.items()}
        if restart:
            twin = view_of(width)
            twin.restore(view.snapshot())
            view = twin
        every = [(a, b)[:width] for a in range(1, 4) for b in range(1, 4)]
        keys = list(dict.fromkeys(every))
        expected = {key: model.get(key, (NEVER, NEVER, [])) for key in keys}
        assert contents(view, keys, at) == expected


def test_an_answer_that_comes_late_does_not_replace_a_newer_one() -> None:
    view = view_of()
    answer(view, {(1,): [5], (2,): [6]}, 20)
    answer(view, {(1,): [4], (3,): [7]}, 15)
    assert contents(view, [(1,), (2,), (3,)], 21) == {
        (1,): (20, 30, [5]),
        (2,): (20, 30, [6]),
        (3,): (15, 25, [7]),
    }


def test_no_rows_is_an_answer() -> None:
    view = view_of()
    answer(view, {(1,): []}, 5)
    assert contents(view, [(1,), (2,)], 5) == {(1,): (5, 15, []), (2,): (NEVER, NEVER, [])}


def test_stated_expiry_is_exact() -> None:
    """Key 1 says 12; key 2 does not say, and is estimated from the declared interval."""
    view = view_of(interval=10)
    numbers = answer(view, {(1,): [1], (2,): [2]}, 5, expiry=ids([12, 0]))
    assert view.expiry[numbers].tolist() == [12, 15]
    assert view.exact[numbers].tolist() == [True, False]


def test_next_change_of_fresh_and_stale_keys() -> None:
    """
    exact    |------12      22      32      42       changes at whole intervals from its expiry
    unknown  |--------15                             only its interval is known
    """
    view = view_of(interval=10)
    numbers = answer(view, {(1,): [1], (2,): [2]}, 5, expiry=ids([12, 0]))
    assert view.next_change(numbers, 11)[0].tolist() == [12, 15]
    assert view.next_change(numbers, 12)[0].tolist() == [22, 15]
    assert view.next_change(numbers, 33)[0].tolist() == [42, 43]


def test_what_never_changes_never_expires() -> None:
    view = view_of(interval=FOREVER)
    numbers = answer(view, {(1,): [1]}, 5)
    assert view.expiry[numbers].tolist() == [FOREVER]
    assert view.next_change(numbers, 9)[0].tolist() == [FOREVER]


def test_a_row_may_state_its_own_interval() -> None:
    view = view_of(interval=10)
    numbers = answer(view, {(1,): [1], (2,): [2]}, 5, stated=ids([100, 0]))
    assert view.expiry[numbers].tolist() == [105, 15]


def test_intervals_are_learned_by_key() -> None:
    """Key 1 has another value each time, key 2 always the same: the first is asked for again much sooner."""
    view = view_of(interval=None, prior=10 * SECOND)
    for step in range(30):
        numbers = answer(view, {(1,): [step + 1], (2,): [7, 8]}, step * 10 * SECOND)
    quick, slow = view.intervals(numbers).tolist()
    assert quick < 12 * SECOND and slow > 50 * SECOND


def test_the_order_of_rows_is_no_change() -> None:
    view = view_of(interval=None, prior=10 * SECOND)
    answer(view, {(1,): [1, 2, 3]}, 0)
    before = view.intervals(np.zeros(1, np.int64))[0]
    answer(view, {(1,): [3, 1, 2]}, 10 * SECOND)
    numbers = answer(view, {(1,): [2, 3, 1]}, 20 * SECOND)
    assert view.intervals(numbers)[0] > before


@pytest.mark.parametrize("before", [[1, 1], [1], []])
def test_multiplicity_is_a_change(before: list[int]) -> None:
    view = view_of(interval=None, prior=10 * SECOND)
    answer(view, {(1,): before}, 0)
    first = view.intervals(np.zeros(1, np.int64))[0]
    numbers = answer(view, {(1,): [1, 1, 1]}, 10 * SECOND)
    assert view.intervals(numbers)[0] < first


def test_keys_unused_for_longest_are_forgotten() -> None:
    view = view_of()
    answer(view, {(1,): [1]}, 1)
    answer(view, {(2,): [2]}, 2)
    answer(view, {(3,): [3]}, 3)
    contents(view, [(1,)], 4)
    assert view.forget(2) == 1
    assert len(view) == 2 and view.rows == 2
    assert contents(view, [(1,), (2,), (3,)], 5) == {
        (1,): (1, 11, [1]),
        (2,): (NEVER, NEVER, []),
        (3,): (3, 13, [3]),
    }
    assert view.forget(9) == 0


def test_ids_are_all_that_the_view_refers_to() -> None:
    view = view_of()
    answer(view, {(1,): [5, 9], (2,): []}, 0)
    assert view.ids().tolist() == [1, 2, 5, 9]


def test_how_likely_copies_are_still_true() -> None:
    """Certain is what was fetched now, what the source states and what never changes; never what is
    unknown."""
    view = view_of(interval=None, prior=10 * SECOND)
    expiry = ids([0, 30 * SECOND, FOREVER])
    numbers = answer(view, {(1,): [1], (2,): [2], (3,): [3]}, SECOND, expiry=expiry)
    numbers = np.append(numbers, view.number({"k0": ids([4])}, 1, SECOND))
    assert view.chance(numbers, SECOND).tolist() == [1, 1, 1, 0]
    now, later = (view.chance(numbers, at * SECOND) for at in (5, 40))
    assert 0 < later[0] < now[0] < 1
    assert now[1:].tolist() == [1, 1, 0] and later[1:].tolist() == [0, 1, 0]


def test_without_learning_a_copy_is_true_until_it_expires() -> None:
    view = LocalView(("k0",), ("k0", "v"), 10, 50, learning=False)
    numbers = answer(view, {(1,): [1]}, 0)
    assert [float(view.chance(numbers, at)[0]) for at in (0, 9, 10)] == [1, 1, 0]
    assert view.snapshot()[0] == {}


def test_what_changes_slowly_is_worth_more_and_what_is_fresh_nothing() -> None:
    view = view_of(interval=None, prior=10 * SECOND)
    for step in range(40):
        numbers = answer(view, {(1,): [step], (2,): [7]}, step * SECOND)
    alive = np.ones((2, 2))
    assert view.worth(numbers, 39 * SECOND, SECOND, alive).tolist() == [0, 0]
    quick, slow = view.worth(numbers, 100 * SECOND, SECOND, alive)
    assert slow > 3 * quick > 0


def test_what_was_learned_survives_a_restart() -> None:
    view, twin = view_of(interval=None, prior=10 * SECOND), view_of(interval=None, prior=10 * SECOND)
    for step in range(12):
        numbers = answer(view, {(1,): [step], (2,): [7]}, step * SECOND)
    twin.restore(view.snapshot())
    assert np.array_equal(twin.chance(numbers, 20 * SECOND), view.chance(numbers, 20 * SECOND))
    assert view.forget(1) == 1
