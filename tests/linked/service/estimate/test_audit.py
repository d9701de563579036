"""Probes: a share of what is spent, and what they say."""

from __future__ import annotations

import numpy as np
import pytest

from weir.linked.service.estimate import Audit, Probe


def test_the_share_of_probes_that_find_their_copy_true() -> None:
    audit, chance = Audit(), np.random.default_rng(1)
    assert audit.share is None and audit.confidence is None
    for _ in range(600):
        audit.found(bool(chance.random() < 0.7), 0.75)
    assert audit.share == pytest.approx(0.7, abs=audit.confidence)
    assert audit.confidence is not None and 0.03 < audit.confidence < 0.1
    assert audit.expected / audit.probes == pytest.approx(0.75)


def test_a_few_probes_make_nobody_sure() -> None:
    audit = Audit()
    for _ in range(3):
        audit.found(True, 1.0)
    assert audit.share == 1.0 and audit.confidence is not None and audit.confidence > 0.2


def test_probes_are_earned() -> None:
    audit = Audit()
    for _ in range(20):
        audit.earn(0.05)
    assert audit.credit == pytest.approx(1.0)
    audit.earn(50.0)
    assert audit.credit == 2.0


def test_what_becomes_of_probes() -> None:
    """One is answered, one still waits, one failed, one's key was forgotten."""
    audit = Audit(credit=4.0)
    for number, numbering in ((0, 1), (1, 1), (2, 1), (3, 0)):
        audit.drawn(Probe(number, numbering, 10, 77, 0.5))
    assert audit.credit == 0.0
    fetched, digest = np.array([20, 10, 10, 20]), np.array([77, 77, 77, 77])
    audit.check(1, fetched, digest, np.array([False, True, False, False]))
    assert (audit.probes, audit.true) == (1.0, 1.0)
    audit.check(1, np.array([20, 30, 30, 20]), np.array([77, 78, 78, 77]), np.zeros(4, np.bool_))
    assert audit.probes == pytest.approx(1.99) and audit.true == pytest.approx(0.99)
    assert Audit(**audit.state()).share == audit.share


def test_a_key_that_is_refreshed_anyway_is_true() -> None:
    audit = Audit(credit=1.0)
    audit.drawn(Probe(0, 1, 10, 77, 1.0))
    audit.check(1, np.array([20]), np.array([78]), np.zeros(1, np.bool_))
    assert audit.share == 1.0
