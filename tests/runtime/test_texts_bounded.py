"""Texts of terms that nothing alive refers to go, also where windows have no end in time."""

from __future__ import annotations

import pytest

from weir.runtime import group
from weir.testing import Scenario

LATEST = "SELECT ?x ?y FROM NAMED WINDOW <w> ON <s> [TRIPLES 5] WHERE { WINDOW <w> { ?x <http://e/p> ?y } }"


def batch(first: int, count: int) -> str:
    return "".join(
        f"{n}\t<http://e/subject{n}> <http://e/p> <http://e/object{n}> .\n"
        for n in range(first, first + count)
    )


def test_an_unbounded_horizon_keeps_the_texts_of_live_rows_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(group, "_MANY_TEXTS", 100)
    scenario = Scenario(LATEST)
    held, seen = [], 0
    for number in range(12):
        scenario.lane("s").put(batch(100 * number, 100))
        seen += len(scenario.batch())
        held.append(scenario.group.dictionary.held)
    assert max(held) <= 1400, held
    assert seen > 0
    scenario.lane("s").put(batch(1200, 2))
    assert {line["bindings"]["x"]["value"] for line in scenario.batch()} >= {"http://e/subject1198"}
