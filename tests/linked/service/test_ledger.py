"""The ledger: what may be spent now and ahead, by one query and by several, and who comes first."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from service_graphs import bounded
from weir.linked.service.config import Budget
from weir.linked.service.ledger import Allowance, Ledger, Wants, larger


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_budget_per_evaluation_is_a_cap() -> None:
    ledger = Ledger(Budget(per_evaluation=10))
    assert ledger.allowance("q", 0, 1, 4) == Allowance(10, 40)
    ledger.spend("q", 0, 7)
    assert ledger.allowance("q", 0, 1, 4).now == 3
    assert ledger.allowance("q", 1, 1, 4).now == 10


def test_time_that_goes_back_finds_what_was_spent() -> None:
    ledger = Ledger(Budget(per_evaluation=10))
    ledger.spend("q", 5, 7)
    ledger.spend("q", 6, 1)
    assert ledger.allowance("q", 5, 1, 1).now == 3


def test_an_instant_long_gone_has_nothing_left() -> None:
    ledger = Ledger(Budget(per_evaluation=10))
    for at in range(1000):
        ledger.spend("q", at, 1)
    assert ledger.allowance("q", 5, 1, 1).now == 0


def test_queries_of_one_instant_share_it() -> None:
    """γ = 10 for two greedy queries: five each."""
    ledger = Ledger(Budget(per_evaluation=10))
    for name in "ab":
        ledger.spend(name, 0, 0, left=Wants(missing=20))
    ledger.together(1, "ab")
    assert ledger.allowance("a", 1, 1, 1, wants=Wants(20)).now == 5
    ledger.spend("a", 1, 2)
    assert ledger.allowance("b", 1, 1, 1, wants=Wants(20)).now == 8


def test_nothing_is_kept_for_who_is_not_due() -> None:
    ledger = Ledger(Budget(per_evaluation=10))
    for name in "ab":
        ledger.spend(name, 0, 0, left=Wants(missing=20))
    ledger.together(1, "a")
    assert ledger.allowance("a", 1, 1, 1, wants=Wants(20)).now == 10


def test_what_is_missing_comes_before_what_is_stale() -> None:
    ledger = Ledger(Budget(per_evaluation=1))
    ledger.spend("a", 0, 0, left=Wants(stale=5))
    ledger.spend("b", 0, 0, left=Wants(missing=5))
    ledger.together(1, "ab")
    assert ledger.allowance("a", 1, 1, 1, wants=Wants(stale=5)).now == 0
    assert ledger.allowance("b", 1, 1, 1, wants=Wants(missing=5)).now == 1


def test_a_period_accrues_and_one_share_is_borrowed() -> None:
    """Γ = 60 in 60 time units and a slide of one: one now, four over four slides; what is left is saved."""
    ledger = Ledger(Budget(per_period=60, period=60))
    assert ledger.allowance("q", 0, 1, 4) == Allowance(1, 4)
    ledger.spend("q", 0, 1)
    assert ledger.allowance("q", 1, 1, 4) == Allowance(1, 4)
    assert ledger.allowance("q", 10, 1, 4) == Allowance(10, 13)


def test_a_new_period_starts_afresh() -> None:
    ledger = Ledger(Budget(per_period=60, period=60))
    ledger.spend("q", 59, 60)
    assert ledger.allowance("q", 59, 1, 4).now == 0
    assert ledger.allowance("q", 60, 1, 4).now == 1


def test_a_period_has_so_many_evaluations_left() -> None:
    ledger = Ledger(Budget(per_period=60, period=60))
    assert [ledger.slides(at, 10) for at in (0, 5, 50, 55, 59, 60)] == [6, 6, 1, 1, 1, 6]
    assert Ledger(Budget(per_evaluation=5)).slides(3, 1) > 1_000_000


def test_a_rate_is_a_bucket_of_one_second() -> None:
    clock = Clock()
    ledger = Ledger(Budget(rate=3), clock)
    assert ledger.allowance("q", 0, 1, 1).now == 3
    ledger.spend("q", 0, 3)
    assert ledger.allowance("q", 10**9, 1, 1).now == 0
    clock.now += 0.5
    assert ledger.allowance("q", 10**9, 1, 1).now == 1
    clock.now += 3600
    assert ledger.allowance("q", 10**9, 1, 1).now == 3


def test_a_closed_ledger_allows_nothing_until_then() -> None:
    clock = Clock()
    ledger = Ledger(None, clock)
    ledger.gate.close(10)
    ledger.gate.close(1)
    assert ledger.allowance("q", 0, 1, 1).now == 0
    twin = Ledger(None, clock)
    twin.restore(ledger.snapshot())
    clock.now += 9
    assert twin.allowance("q", 0, 1, 1).now == 0
    clock.now += 2
    assert twin.allowance("q", 0, 1, 1).now > 0


def test_a_deadline_is_one_for_all_and_missed_once() -> None:
    ledger = Ledger()
    assert 0 < ledger.patience(1, 50.0) <= 50.0
    first = ledger.patience(1, 500.0)
    assert first <= 50.0
    ledger.stalled = True
    assert ledger.patience(2, 50.0) == 0.0
    ledger.stalled = False
    assert ledger.patience(2, 50.0) > 0


def test_queries_are_held_to_their_own_and_the_largest_counts() -> None:
    ledger = Ledger()
    ledger.join("a", Budget(5))
    ledger.join("b", Budget(2))
    ledger.join("c", None)
    assert ledger.limit == Budget(5)
    ledger.together(0, "b")
    assert ledger.allowance("b", 0, 1, 1).now == 2
    ledger.together(1, "c")
    assert ledger.allowance("c", 1, 1, 1).now == 5
    ledger.leave("a")
    assert ledger.limit == Budget(2)


def test_periods_are_compared_by_what_they_give_a_second() -> None:
    assert larger([Budget(None, 60, 60), Budget(None, 100, 200)]) == Budget(None, 60, 60)
    assert larger([Budget(3), Budget(rate=2.0)]) == Budget(3, rate=2.0)


def test_keys_are_bounded_too() -> None:
    ledger = Ledger(Budget(3, keys=10))
    assert ledger.allowance("q", 0, 1, 1).keys == 10
    ledger.spend("q", 0, 1, keys=8)
    assert ledger.allowance("q", 0, 1, 1).keys == 2


@bounded
@given(
    st.integers(1, 40),
    st.integers(1, 5),
    st.integers(0, 3),
    st.integers(0, 2**32 - 1).map(np.random.default_rng),
)
def test_no_limit_is_ever_exceeded(total: int, gamma: int, queries: int, chance: np.random.Generator) -> None:
    """Whatever greedy queries do with what they are allowed, in whatever order of time."""
    ledger = Ledger(Budget(per_evaluation=gamma, per_period=total, period=10))
    periods: dict[int, int] = {}
    instants: dict[int, int] = {}
    for step in range(35):
        at = max(step - int(chance.integers(0, 4)), 0)
        names = [f"q{number}" for number in range(queries + 1)]
        ledger.together(at, names)
        for name in names:
            wants = Wants(int(chance.integers(0, 3)), int(chance.integers(0, 3)))
            allowed = ledger.allowance(name, at, 1, 4, wants=wants)
            take = int(chance.integers(0, allowed.now + 1))
            ledger.spend(name, at, take, left=wants)
            periods[at // 10] = periods.get(at // 10, 0) + take
            instants[at] = instants.get(at, 0) + take
        if step % 7 == 0:
            twin = Ledger(ledger.budget)
            twin.restore(ledger.snapshot())
            ledger = twin
    assert max(instants.values()) <= gamma
    assert max(periods.values()) <= total


@bounded
@given(
    st.integers(1, 4),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=6),
    st.integers(1, 3),
)
def test_nobody_starves(gamma: int, wants: list[tuple[int, int]], clauses: int) -> None:
    """Every clause that goes on wanting something is served again and again, whatever the others want."""
    ledger = Ledger(Budget(per_evaluation=gamma))
    calls = [
        (f"q{number}", f"q{number}.{clause}", Wants(*want))
        for number, want in enumerate(wants)
        for clause in range(clauses)
    ]
    served = dict.fromkeys((call for _, call, _ in calls), 0)
    for at in range(40 * len(calls)):
        ledger.together(at, [query for query, _, _ in calls])
        spent = 0
        for query, call, want in calls:
            allowed = ledger.allowance(query, at, 1, 1, call=call, wants=want)
            take = min(allowed.now, want.missing + want.stale)
            served[call] += take
            spent += take
            ledger.spend(query, at, take, call=call, left=want)
        assert spent <= gamma
    for _, call, want in calls:
        assert served[call] >= (3 if want else 0)
