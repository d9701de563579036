"""Experiment 3 of ``weir bench conference`` at small size."""

from __future__ import annotations

from pathlib import Path

from weir_bench.conference import crowds
from weir_bench.conference.queries import QUERIES
from weir_bench.data.conference import conference


def test_a_job_and_the_store_have_the_same_solutions_whoever_asks() -> None:
    compared = crowds.compare(conference(5_000), 8, 4)
    assert list(compared) == [template.name for template in QUERIES]
    assert all(compared[name] > 0 for name in ("Q1", "Q2"))
    assert sum(compared.values()) > compared["Q1"] + compared["Q2"]


def test_the_cost_of_a_crowd_is_that_of_a_job(tmp_path: Path) -> None:
    people = conference(2_000)
    world = crowds.World.write(people, tmp_path, 3, 100)
    costs = [crowds.cost(world, crowds.instances(people, QUERIES[0], count)) for count in (1, 40)]
    assert all(each > 0 for each in costs)
    assert len({text for _, text in crowds.instances(people, QUERIES[0], 40)}) == 40
