"""State: bytes that another process goes on from, and no more rows than are alive however long it runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

from properties.generate import STREAMS, background, case, slab
from properties.test_evaluators import outcome
from timelines import batch, over
from weir.kernel.contract import Background, NotCovered, Slab
from weir.kernel.interval.evaluator import IntervalEvaluator
from weir.kernel.reference import Message
from weir.language import parse
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, Literal

TESTS = Path(__file__).parents[2]
MS = 1_000

AWAY = """
import json, sys
from pathlib import Path
from kernel.interval.test_state import evaluated
folder = Path(sys.argv[1])
seeds = json.loads(sys.argv[2])
json.dump({seed: evaluated(int(seed), folder, restore=True) for seed in seeds}, sys.stdout)
"""


def covered(seed: int) -> bool:
    """Whether the evaluator takes the query of a case."""
    try:
        IntervalEvaluator(case(Random(seed)).query, Background(), Dictionary(), streams=STREAMS)
    except NotCovered:
        return False
    return True


def evaluated(seed: int, folder: Path, *, restore: bool) -> list[list[Any]]:
    """The first half of a case up to a state in a file; or the second half, from that file on."""
    given = case(Random(seed))
    dictionary = Dictionary()
    evaluator = IntervalEvaluator(given.query, background(given, dictionary), dictionary, streams=STREAMS)
    half = len(given.steps) // 2
    slabs = [slab(step, dictionary) for step in given.steps]
    rows: list[list[Any]] = []
    if restore:
        evaluator.restore((folder / str(seed)).read_bytes())
    for each in slabs[half:] if restore else slabs[:half]:
        found = evaluator.advance(each)
        columns = [
            column.tolist() if name == "boolean" else dictionary.texts(column)
            for name, column in found.columns.items()
        ]
        rows += [list(row) for row in zip(found.at.tolist(), *columns, strict=True)]
    if not restore:
        (folder / str(seed)).write_bytes(evaluator.snapshot())
    return rows


def test_another_process_goes_on_where_this_one_stopped(tmp_path: Path) -> None:
    seeds = [seed for seed in range(4_000_000, 4_000_064) if covered(seed)]
    earlier = {str(seed): evaluated(seed, tmp_path, restore=False) for seed in seeds}
    done = subprocess.run(
        [sys.executable, "-c", AWAY, str(tmp_path), json.dumps([str(seed) for seed in seeds])],
        env={**os.environ, "PYTHONHASHSEED": "4711", "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    later = json.loads(done.stdout)
    answers = 0
    for seed in seeds:
        given = case(Random(seed))
        whole = outcome(IntervalEvaluator, given, given.steps)
        found = sorted((tuple(row) for row in earlier[str(seed)] + later[str(seed)]), key=str)
        assert tuple(found) == whole.rows, f"seed {seed}"
        answers += len(later[str(seed)])
    assert answers > 50


def message(time: int) -> Message:
    return Message(time * MS, ((IRI(f"urn:{time % 7}"), IRI("urn:p"), Literal(str(time % 11)), None),))


@pytest.mark.parametrize(
    ("window", "alive"),
    [
        ("RANGE 40 STEP 10", 60),
        ("RANGE 40 STEP 10 CONTENT BAG REPORT CONTENT CHANGE", 60),
        ("RANGE 40 STEP 10 REPORT WINDOW CLOSE, CONTENT CHANGE TICK TIME PT0.007S", 70),
        ("NOW", 1),
        ("TRIPLES 30", 30),
        ("TRIPLES 30 STEP 7", 40),
        ("ELEMENTS 30", 30),
        ("FROM NOW-40 TO NOW-10 STEP 5", 60),
        # a graph that never lets go: as many as there are different triples
        ("ALL", 77),
        ("ALL TICK TUPLE", 77),
        ("ALL REPORT PERIODIC PT0.007S, NON EMPTY", 77),
    ],
)
def test_state_is_bounded_by_what_is_alive(window: str, alive: int) -> None:
    """4,000 messages, one a millisecond: rows and bytes late in the run are what they were early on.

    What has expired is looked for every so many arrivals (256), so that many may be there beside.
    """
    dictionary = Dictionary()
    evaluator = IntervalEvaluator(over(window), Background(), dictionary)
    sizes: list[int] = []
    rows: list[int] = []
    for low in range(0, 4_000, 50):
        sent = [message(time) for time in range(low, low + 50)]
        evaluator.advance(Slab({"urn:s": batch(sent, dictionary)}, sent[-1].time))
        sizes.append(len(evaluator.snapshot()))
        rows.append(evaluator.statistics()["live_rows"])
    assert max(rows) <= alive + 2 * 256
    assert max(rows[40:]) <= max(rows[:40])
    assert max(sizes[40:]) <= max(sizes[:40]) + 256
    assert evaluator.statistics()["bytes"] < 1 << 16


def test_the_work_of_a_slab_does_not_grow_with_history() -> None:
    """Rows that joins with windows looked at, counted: late in a long run as early in it."""
    windows = "STREAM <urn:s> [NOW] { ?a <urn:p> ?x } STREAM <urn:s> [RANGE 40ms] { ?b <urn:p> ?x }"
    query = parse(f"SELECT ?a ?b WHERE {{ {windows} }}", "cqels")
    dictionary = Dictionary()
    evaluator = IntervalEvaluator(query, Background(), dictionary)
    answers: list[int] = []
    work: list[int] = []
    touched = 0
    for low in range(0, 6_000, 100):
        sent = [message(time) for time in range(low, low + 100)]
        found = evaluator.advance(Slab({"urn:s": batch(sent, dictionary)}, sent[-1].time))
        answers.append(len(found.at))
        now = evaluator.statistics()["indexes"]["rows"]
        work.append(now - touched)
        touched = now
    assert max(answers[-10:]) == max(answers[2:12])
    assert 0 < max(work[-10:]) <= 1.5 * max(work[2:12])
