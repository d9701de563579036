"""State as panes: nothing is lost, little is written twice, and another worker goes on from it."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from weir.runtime.worker.state import Run, StoredPanes, dump, load, repaned
from weir.testing import Scenario

QUERY = (
    "SELECT ?x ?y FROM NAMED WINDOW <w> ON <s> [RANGE 50 STEP 10 LATENESS PT0.02S] "
    "WHERE { WINDOW <w> { ?x <http://e/p> ?y } }"
)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 60)), max_size=30))
def test_panes_hold_exactly_the_rows_that_live(steps: list[tuple[int, int]]) -> None:
    runs: list[Run] = []
    first = end = written = 0
    for gone, added in steps:
        end += added
        first = min(first + gone, end)
        kept, new = repaned(runs, first, end)
        runs = [*kept, new] if new is not None else kept
        written += 0 if new is None else new[1] - new[0]
        covered = [row for run in runs for row in range(*run)]
        assert covered == sorted(set(covered)), "no row is there twice"
        assert {row for row in covered if row >= first} == set(range(first, end))
        assert all(run[1] > first for run in runs)
    assert written <= 12 * max(1, end), "a row is written about log(n) times"


def test_a_new_group_goes_on_where_the_other_was() -> None:
    scenario = Scenario({"q": QUERY})
    lines = [f"{time}\t<http://e/a> <http://e/p> <http://e/{time}> .\n" for time in range(0, 100, 7)]
    scenario.lane("s").put("".join(lines))
    scenario.batch()
    changes = dump(scenario.group, StoredPanes(), "now")
    fresh = Scenario({"q": QUERY}).group
    fresh.origin = scenario.group.origin
    load(fresh, json.loads(changes.head), changes.put.__getitem__)
    again = dump(fresh, StoredPanes(), "now")
    assert set(changes.put) == set(again.put) and changes.put
    assert fresh.live_ids().tolist() == scenario.group.live_ids().tolist() != []
    assert fresh.members["q"].given == scenario.group.members["q"].given


def test_what_has_not_changed_is_not_written() -> None:
    scenario = Scenario({"q": QUERY})
    scenario.lane("s").put("1\t<http://e/a> <http://e/p> <http://e/b> .\n")
    scenario.batch()
    first = dump(scenario.group, StoredPanes(), "one")
    for member in scenario.group.members.values():
        member.stored = True
    second = dump(scenario.group, first.stored, "two")
    assert (second.put, second.remove) == ({}, ())
    assert json.loads(second.head)["lineage"] == ["one", "two"]
