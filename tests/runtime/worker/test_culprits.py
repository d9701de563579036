"""Which of many queries fails."""

from __future__ import annotations

from collections.abc import Sequence

from weir.errors import OutOfTime
from weir.kernel.contract import FailedAt
from weir.runtime.worker.culprits import culprits, took_too_long

NAMES = [f"q{number:03}" for number in range(200)]


def test_a_few_are_found_in_a_few_attempts() -> None:
    attempts = 0

    def attempt(names: Sequence[str]) -> BaseException | None:
        nonlocal attempts
        attempts += 1
        bad = [name for name in names if name in ("q007", "q150")]
        return ValueError(bad[0]) if bad else None

    found = culprits(NAMES, attempt)
    assert {name: str(error) for name, error in found.items()} == {"q007": "q007", "q150": "q150"}
    assert attempts < 40


def test_where_all_together_are_too_many_one_goes() -> None:
    def attempt(names: Sequence[str]) -> BaseException | None:
        return MemoryError() if len(names) > 120 else None

    (name,) = culprits(NAMES, attempt)
    assert name == "q120"


def test_one_that_fails_alone() -> None:
    assert list(culprits(["q"], lambda names: ValueError("bad"))) == ["q"]
    assert culprits(["q"], lambda names: None) == {}


def test_the_clock_is_told_from_other_errors() -> None:
    late = FailedAt(0, 0)
    late.__cause__ = OutOfTime()
    assert took_too_long(late)
    assert not took_too_long(MemoryError())
