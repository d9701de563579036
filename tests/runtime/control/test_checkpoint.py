"""A checkpoint that does not fit is refused, with what to do; what may differ does not matter."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from weir.errors import CheckpointError
from weir.runtime.control.checkpoint import FORMAT, Checkpoint
from weir.runtime.control.control_log import CONTROL_FILE
from weir.runtime.direct import DirectJob, MemoryStore
from weir.runtime.ingest.sources import FileSource
from weir.runtime.worker.state import FORMAT as STATE_FORMAT
from weir.runtime.worker.state_store import load_group
from weir.storage import pack
from weir.storage.log import RecordLog
from weir.testing import Scenario

COUNT = """PREFIX : <http://e/>
REGISTER RSTREAM <{name}> AS SELECT (COUNT(*) AS ?n)
FROM NAMED WINDOW <w> ON <s> [RANGE {range} STEP 10] WHERE {{ WINDOW <w> {{ ?x :p ?y }} }}"""


def count(name: str = "a", range: int = 10) -> str:
    return COUNT.format(name=name, range=range)


def lines(*times: int) -> str:
    return "".join(f"{time}\t<http://e/a> <http://e/p> <http://e/{time}> .\n" for time in times)


def refused(*parts: str) -> Any:
    """A refusal whose text has all ``parts``, one of them what to do."""
    return pytest.raises(CheckpointError, match="(?s)" + ".*".join(["", *parts, "hint: ", ""]))


def meta(folder: Path, **changed: object) -> None:
    path = folder / "weir" / "meta.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))


# The folder


def test_another_format_of_the_folder_is_refused_with_the_version_that_wrote_it(tmp_path: Path) -> None:
    Checkpoint.open(tmp_path, version="9.9", slots=2)
    meta(tmp_path, format=FORMAT + 1)
    with refused(f"format {FORMAT + 1}, this version of Weir writes {FORMAT}", "made by Weir 9.9"):
        Checkpoint.open(tmp_path, version="1.0", slots=2)


def test_another_version_with_the_same_format_and_another_number_of_cores_go_on(tmp_path: Path) -> None:
    made = Checkpoint.open(tmp_path, version="0.9", slots=2)
    again = Checkpoint.open(tmp_path, version="1.0", slots=8)
    assert again == made
    assert again.slots == 2


def test_slots_and_partitions_are_those_of_the_first_start(tmp_path: Path) -> None:
    made = Checkpoint.open(tmp_path, version="1", slots=8, partitions=3)
    again = Checkpoint.open(tmp_path, version="1", slots=4, partitions=4)
    assert (again.slots, again.partitions) == (made.slots, made.partitions) == (8, 3)
    again.refuse_other(None, None)
    again.refuse_other(8, 3)
    with refused("has 8 slots, and 4 are asked for"):
        again.refuse_other(4, 3)
    with refused("has 3 partitions, and 5 are asked for"):
        again.refuse_other(8, 5)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 2}'])
def test_a_damaged_folder_is_refused(tmp_path: Path, text: str) -> None:
    Checkpoint.open(tmp_path, version="1", slots=2)
    (tmp_path / "weir" / "meta.json").write_text(text)
    with refused("meta.json is damaged"):
        Checkpoint.open(tmp_path, version="1", slots=2)


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with refused("is not a checkpoint of Weir, and not empty"):
        Checkpoint.open(tmp_path, version="1", slots=2)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('[{"batch": 0, "op": "rewind"}]', "an entry 'rewind', which this version of Weir does not know"),
        ('[{"batch": 0, "op": "stream", "iri": "s", "colour": 1}]', "an entry 'stream' that this version"),
        ('[{"batch": 0, "op": "drop"}]', "an entry 'drop' that this version"),
        ('[{"batch": 0', "the control log is damaged"),
        ("7", "the control log is damaged"),
    ],
)
def test_a_control_log_of_a_later_version_is_refused(tmp_path: Path, line: str, said: str) -> None:
    log = Checkpoint.open(tmp_path, version="1", slots=2).control()
    RecordLog(tmp_path / "weir" / CONTROL_FILE).append([line.encode()])
    with refused(said):
        log.catalog()


def test_a_checkpoint_has_one_driver(tmp_path: Path) -> None:
    first = Checkpoint.take(tmp_path / "c")
    with refused("another job runs with the checkpoint", f"process {os.getpid()}"):
        Checkpoint.take(tmp_path / "c")
    first.close()
    second = Checkpoint.take(tmp_path / "c")
    assert second.epoch == first.epoch + 1
    with refused("another job has taken over the checkpoint"):
        first.check()
    second.check()
    second.close()


def test_an_old_driver_commits_nothing(tmp_path: Path) -> None:
    """One that was cut off from its storage comes back: the lock went to another driver meanwhile."""
    old = DirectJob(tmp_path / "c", durable=True)
    old.registry.add_stream("s", FileSource(str(tmp_path), watch=True))
    old.register(count())
    (tmp_path / "0.tnq").write_text(lines(1, 12))
    old.close()
    new = DirectJob(tmp_path / "c", durable=True)
    with refused("another job has taken over"):
        old.batch()
    with refused("another job has taken over"):
        old.register(count("b"))
    assert [each.name for each in new.registry.queries()] == ["a"]
    assert new.batch() is not None
    new.close()


def test_a_worker_waits_for_a_checkpoint_and_never_makes_one(tmp_path: Path) -> None:
    with refused("this worker sees no checkpoint"):
        Checkpoint.read(tmp_path / "c", patience=0.0)
    assert not (tmp_path / "c").exists()
    made = Checkpoint.open(tmp_path / "c", version="1", slots=3)
    assert Checkpoint.read(tmp_path / "c", patience=0.0) == made


# The state


def test_a_job_with_more_cores_than_its_checkpoint_has_slots_goes_on(tmp_path: Path) -> None:
    """slots   2  |  5 asked for, 2 kept
    messages 1 12 | 21 33
    """
    stream = tmp_path / "s"
    stream.mkdir()
    job = DirectJob(tmp_path / "c", slots=2)
    job.registry.add_stream("s", FileSource(str(stream), watch=True))
    job.register(count())
    (stream / "0.tnq").write_text(lines(1, 12))
    found = job.run()
    job.slots = 5
    job.restart()
    (stream / "1.tnq").write_text(lines(21, 33))
    found += job.run()
    assert [line["bindings"]["n"]["value"] for line in found] == ["1", "1", "1"]
    assert sorted(job.stores) == [0, 1]


def test_another_format_of_the_state_is_refused() -> None:
    scenario = Scenario({"a": count()})
    scenario.lane("s").put(lines(1, 12))
    scenario.batch()
    head = json.loads(scenario.store.head() or b"")
    store = MemoryStore()
    store.set_head(json.dumps({**head, "format": STATE_FORMAT - 1}).encode())
    with refused(f"the state has format {STATE_FORMAT - 1}, this version of Weir writes {STATE_FORMAT}"):
        load_group(store, None, lambda: scenario.group, lambda group: None)


@pytest.mark.parametrize("evaluator", ["interval", "reference"])
def test_a_state_of_another_version_of_an_evaluator_is_refused(evaluator: str) -> None:
    scenario = Scenario({"a": count()}, evaluator=evaluator, restarts=True)
    scenario.lane("s").put(lines(1, 12))
    scenario.batch()
    name = next(name for name in scenario.store.panes if name.startswith(("core/", "query/")))
    other = {
        "interval": pack("interval state 0", {}, {}),
        "reference": b'{"version": "another", "windows": []}',
    }
    scenario.store.panes[name] = bytes(other[evaluator])
    with refused("the state of query 'a' cannot be taken up", "state"):
        scenario.batch()


def test_a_state_of_another_checkpoint_is_refused(tmp_path: Path) -> None:
    (tmp_path / "s.tnq").write_text(lines(1, 12))
    one, other = (DirectJob(tmp_path / name, slots=1) for name in ("one", "other"))
    for job in (one, other):
        job.registry.add_stream("s", FileSource(str(tmp_path / "s.tnq")))
        job.register(count())
    one.batch()
    other.stores = one.stores
    with refused("belongs to another query, or to another checkpoint of Weir"):
        other.batch()
