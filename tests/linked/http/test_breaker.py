"""The breaker's states under a hand-cranked clock."""

from __future__ import annotations

from weir.linked.http.breaker import Breaker, BreakerState


class Crank:
    """A clock that moves when told."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


def broken(crank: Crank) -> Breaker:
    breaker = Breaker(failures=2, cool_down=1.0, longest=3.0, clock=crank)
    breaker.failed()
    assert breaker.state is BreakerState.CLOSED and breaker.allow()
    breaker.failed()
    return breaker


def test_failures_in_a_row_open_it() -> None:
    crank = Crank()
    breaker = broken(crank)
    assert breaker.state is BreakerState.OPEN
    crank.time = 0.9
    assert not breaker.allow()


def test_a_success_between_keeps_it_closed() -> None:
    breaker = Breaker(2, 1.0, 3.0, Crank())
    for _ in range(5):
        breaker.failed()
        breaker.succeeded()
    assert breaker.state is BreakerState.CLOSED


def test_one_probe_passes_after_the_cool_down() -> None:
    crank = Crank()
    breaker = broken(crank)
    crank.time = 1.0
    assert breaker.allow()
    assert not breaker.allow()
    breaker.succeeded()
    assert breaker.state is BreakerState.CLOSED and breaker.allow()


def test_a_failed_probe_doubles_the_cool_down_up_to_the_longest() -> None:
    crank = Crank()
    breaker = broken(crank)
    for wait in (1.0, 2.0, 3.0, 3.0):
        crank.time += wait - 0.1
        assert not breaker.allow()
        crank.time += 0.1
        assert breaker.allow()
        breaker.failed()
    breaker_ok = broken(crank)
    crank.time += 1.0
    assert breaker_ok.allow()


def test_recovery_resets_the_cool_down() -> None:
    crank = Crank()
    breaker = broken(crank)
    crank.time = 1.0
    breaker.allow()
    breaker.failed()
    crank.time = 3.0
    breaker.allow()
    breaker.succeeded()
    breaker.failed()
    breaker.failed()
    crank.time = 4.0
    assert breaker.allow()


def test_stragglers_do_not_lengthen_the_cool_down() -> None:
    crank = Crank()
    breaker = broken(crank)
    crank.time = 0.5
    breaker.failed()
    crank.time = 1.0
    assert breaker.allow()
