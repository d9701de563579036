"""The local view against a dictionary that does the same, and its times one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service_graphs import bounded, ids
from weir.kernel.contract import FOREVER
from weir.linked.service.local_view import NEVER, LocalView, learned_interval, observe, pooled_interval

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
    view = view_of(interval=None, prior=100)
    for step in range(30):
        numbers = answer(view, {(1,): [step + 1], (2,): [7, 8]}, step * 100)
    quick, slow = view.intervals(numbers).tolist()
    assert quick < 120 and slow > 1_000


def test_the_order_of_rows_is_no_change() -> None:
    view = view_of(interval=None, prior=100)
    answer(view, {(1,): [1, 2, 3]}, 0)
    answer(view, {(1,): [3, 1, 2]}, 100)
    numbers = answer(view, {(1,): [2, 3, 1]}, 200)
    assert view.intervals(numbers)[0] > 200


@pytest.mark.parametrize("before", [[1, 1], [1], []])
def test_multiplicity_is_a_change(before: list[int]) -> None:
    view = view_of(interval=None, prior=100)
    answer(view, {(1,): before}, 0)
    numbers = answer(view, {(1,): [1, 1, 1]}, 100)
    assert view.intervals(numbers)[0] <= 100


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


KEYS = 400


def watch(interval: float, gap: float, times: int, prior: int, seed: int = 3) -> np.ndarray:
    """Learned intervals of keys that change as a Poisson process and are looked at every ``gap``."""
    chance = np.random.default_rng(seed)
    changes, watched = np.zeros(KEYS), np.zeros(KEYS)
    for _ in range(times):
        changed = chance.random(KEYS) < -np.expm1(-gap / interval)
        changes, watched = observe(changes, watched, np.full(KEYS, int(gap)), changed, prior)
    return learned_interval(changes, watched, prior)


@pytest.mark.parametrize("gap", [300.0, 1_000.0, 1_500.0])
@pytest.mark.parametrize("prior", [200, 1_000, 5_000])
def test_the_mean_interval_is_found(gap: float, prior: int) -> None:
    """Whatever was believed first, and whether refreshes are rarer or more frequent than changes."""
    learned = watch(1_000.0, gap, 120, prior)
    assert 650 < np.median(learned) < 1_500


def test_a_key_never_watched_has_the_prior() -> None:
    assert learned_interval(np.zeros(1), np.zeros(1), 77).tolist() == [77]


def test_the_pool_stands_for_new_keys() -> None:
    chance = np.random.default_rng(1)
    changes, watched = np.zeros(KEYS), np.zeros(KEYS)
    for _ in range(30):
        changed = chance.random(KEYS) < -np.expm1(-0.5)
        changes, watched = observe(changes, watched, np.full(KEYS, 500), changed, 60_000)
    assert 500 < pooled_interval(changes, watched, 60_000) < 2_000


def test_a_drifting_source_is_followed() -> None:
    chance = np.random.default_rng(2)
    changes, watched = np.zeros(KEYS), np.zeros(KEYS)
    for interval in [200.0] * 60 + [5_000.0] * 60:
        changed = chance.random(KEYS) < -np.expm1(-500 / interval)
        changes, watched = observe(changes, watched, np.full(KEYS, 500), changed, 1_000)
    assert np.median(learned_interval(changes, watched, 1_000)) > 2_000


def test_something_that_never_changes_is_left_alone_longer_and_longer() -> None:
    changes, watched = np.zeros(1), np.zeros(1)
    seen = []
    for _ in range(10):
        interval = learned_interval(changes, watched, 100)
        seen.append(int(interval[0]))
        changes, watched = observe(changes, watched, interval, np.zeros(1, bool), 100)
    assert seen == sorted(seen) and seen[-1] > 20 * seen[0]


def test_observations_at_once_do_no_harm() -> None:
    changes, watched = observe(np.zeros(2), np.zeros(2), np.zeros(2, np.int64), np.array([True, False]), 100)
    assert np.isfinite(changes).all() and learned_interval(changes, watched, 100).min() >= 1
