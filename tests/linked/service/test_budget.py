"""The ledger: what may be spent now and ahead, by one query and by several."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from service_graphs import bounded
from weir.linked.service.budget import Allowance, Ledger
from weir.linked.service.config import Budget


def test_a_budget_per_evaluation_is_a_cap() -> None:
    ledger = Ledger(Budget(per_evaluation=10))
    assert ledger.allowance("q", 0, 1, 4) == Allowance(10, 40)
    ledger.spend("q", 0, 7)
    assert ledger.allowance("q", 0, 1, 4).now == 3
    assert ledger.allowance("q", 1, 1, 4).now == 10


def test_queries_of_one_instant_share_it() -> None:
    """γ = 10 for two queries: five each, and the second may also take what the first left."""
    ledger = Ledger(Budget(per_evaluation=10))
    ledger.join("a")
    ledger.join("b")
    assert ledger.allowance("a", 0, 1, 1).now == 5
    ledger.spend("a", 0, 2)
    assert ledger.allowance("b", 0, 1, 1).now == 8


def test_a_period_is_one_sum() -> None:
    """Γ = 60 in 60 time units, a slide of one: four slides are worth four, but all sixty may go at once."""
    ledger = Ledger(Budget(per_period=60, period=60))
    assert ledger.allowance("q", 0, 1, 4) == Allowance(60, 4)
    ledger.spend("q", 0, 4)
    assert ledger.allowance("q", 1, 1, 4) == Allowance(56, 1)
    assert ledger.allowance("q", 10, 1, 4) == Allowance(56, 10)


def test_a_new_period_starts_afresh() -> None:
    ledger = Ledger(Budget(per_period=60, period=60))
    ledger.spend("q", 59, 60)
    assert ledger.allowance("q", 59, 1, 4).now == 0
    assert ledger.allowance("q", 60, 1, 4) == Allowance(60, 4)


def test_a_period_has_so_many_evaluations_left() -> None:
    ledger = Ledger(Budget(per_period=60, period=60))
    assert [ledger.slides(at, 10) for at in (0, 5, 50, 55, 59, 60)] == [6, 6, 1, 1, 1, 6]
    assert Ledger(Budget(per_evaluation=5)).slides(3, 1) > 1_000_000


def test_both_limits_hold() -> None:
    ledger = Ledger(Budget(per_evaluation=3, per_period=60, period=60))
    assert ledger.allowance("q", 0, 1, 4) == Allowance(3, 4)


def test_an_idle_query_does_not_lock_its_share() -> None:
    """Two queries, thirty each. Half the period is over and b has spent nothing: of its fifteen accrued it
    may still save four slides' worth (two); the other thirteen are free for a."""
    ledger = Ledger(Budget(per_period=60, period=60))
    ledger.join("a")
    ledger.join("b")
    assert ledger.allowance("a", 30, 1, 4).ahead == 17 + 13
    assert ledger.allowance("a", 30, 1, 4).now == 60 - (30 - 13)


def test_who_leaves_frees_its_share() -> None:
    ledger = Ledger(Budget(per_evaluation=10))
    ledger.join("a")
    ledger.join("b")
    ledger.leave("b")
    assert ledger.allowance("a", 0, 1, 1).now == 10


@bounded
@given(
    st.integers(1, 40),
    st.integers(1, 3),
    st.integers(0, 2**32 - 1).map(np.random.default_rng),
)
def test_no_period_and_no_instant_is_overspent(total: int, queries: int, chance: np.random.Generator) -> None:
    """Whatever greedy queries do with what they are allowed."""
    ledger = Ledger(Budget(per_evaluation=5, per_period=total, period=10))
    spent: dict[int, int] = {}
    for at in range(35):
        instant = 0
        for number in range(queries):
            allowed = ledger.allowance(f"q{number}", at, 1, 4)
            take = int(chance.integers(0, allowed.now + 1))
            ledger.spend(f"q{number}", at, take)
            instant += take
            spent[at // 10] = spent.get(at // 10, 0) + take
        assert instant <= 5
    assert max(spent.values()) <= total
