"""Stories told plainly and as the world is come to the same (``simulation_kit``).

``WEIR_SEED=17`` tells one seed again; ``WEIR_SIMULATE=3600`` goes on for so many seconds in ``make long``.
"""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

from simulation_kit import differences, story

FEW = 20
"""Seeds of ``make test``, in blocks of ten; ``make long`` takes others, as many as there is time for."""


def hold(seeds: range, folder: Path) -> None:
    for seed in seeds:
        wrong = differences(seed, folder / str(seed))
        assert not wrong, "\n".join([f"WEIR_SEED={seed}", *wrong])


@pytest.mark.timeout(600)
@pytest.mark.parametrize("block", range(FEW // 10))
def test_faults_change_nothing(block: int, tmp_path: Path) -> None:
    told = os.environ.get("WEIR_SEED")
    seeds = range(10 * block, 10 * block + 10)
    if told is not None:
        seeds = range(int(told), int(told) + 1) if block == 0 else range(0)
    hold(seeds, tmp_path)


@pytest.mark.parametrize("seed", [49, 84])
def test_late_messages_do_not_depend_on_slots(seed: int, tmp_path: Path) -> None:
    """Queries that are registered after others, some of them in slots that had not read the stream before."""
    hold(range(seed, seed + 1), tmp_path)


def test_what_was_written_stays_where_a_query_fails_later(tmp_path: Path) -> None:
    """A batch is written whole, and repeated; then a query fails in it by chance."""
    hold(range(48565537, 48565538), tmp_path)


def test_a_seed_tells_the_same_story_again() -> None:
    assert story(7) == story(7)
    assert story(7) != story(8)


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_faults_change_nothing_for_as_long_as_you_like(tmp_path: Path) -> None:
    seed = int(os.environ.get("WEIR_SEED", str(random.randrange(10**9))))
    until, count = time.monotonic() + float(os.environ.get("WEIR_SIMULATE", "1800")), 0
    while time.monotonic() < until:
        hold(range(seed + count, seed + count + 1), tmp_path)
        count += 1
    print(f"{count} seeds from WEIR_SEED={seed}")
    assert count
