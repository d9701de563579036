"""Weir's source as Spark sees it: offsets, partitions, and a rest when nothing comes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from weir.errors import CheckpointError
from weir.runtime.control.catalog import Registration, StreamEntry, entry_of
from weir.runtime.control.checkpoint import Checkpoint
from weir.runtime.control.planning import STOP
from weir.runtime.ingest.sources import FileSource
from weir.spark.datasource import PartReader, WeirSource
from weir.storage.lease import Lease

QUERY = "SELECT * FROM NAMED WINDOW <w> ON <s> [NOW] WHERE { WINDOW <w> { ?x ?p ?y } }"


@pytest.fixture
def reader(tmp_path: Path) -> PartReader:
    (tmp_path / "s.tnq").write_text("1\t<urn:x> <urn:p> <urn:y> .\n")
    log = Checkpoint.open(tmp_path / "c", version="1", slots=1).control()
    source = FileSource(str(tmp_path / "s.tnq")).as_json()
    log.append([entry_of(StreamEntry("s", source=source), 0), entry_of(Registration("q", QUERY), 0)])
    return PartReader({"folder": str(tmp_path / "c"), "parallelism": "2", "epoch": "0"})


def test_a_batch_is_planned_once_and_in_parts(reader: PartReader) -> None:
    begin = reader.initialOffset()
    end = reader.latestOffset(begin, None)
    assert end != begin
    partitions = reader.partitions(begin, end)
    parts = [part for each in partitions for part in each.value.parts]
    assert {each.value.position for each in partitions} == {1}
    assert any("s.tnq" in (part.path or "") for part in parts)
    reader.commit(end)
    assert reader.latestOffset(end, None) == end


def test_nothing_is_offered_while_the_job_stops(reader: PartReader) -> None:
    (reader.feeds.own / STOP).touch()
    assert reader.latestOffset({}, None) == {}


def test_nothing_is_planned_for_a_driver_whose_checkpoint_has_another(reader: PartReader) -> None:
    """The JVM of a driver that was killed may live on for a while."""
    lease = Lease(reader.feeds.own)
    with pytest.raises(CheckpointError, match="another job has taken over"):
        reader.latestOffset({}, None)
    lease.close()


def test_spark_finds_the_source_by_its_name() -> None:
    assert WeirSource.name() == "weir"
    assert WeirSource({}).schema() == "slot bigint, frame binary, control bigint"


def test_planning_leaves_the_kernel_and_its_packages_alone() -> None:
    """Spark starts six processes that plan, one after the other, before the first result."""
    script = """if True:
        import sys
        import weir.spark.datasource
        heavy = {"numba.core", "pandas", "polars.dataframe", "weir.fragments", "weir.kernel.interval",
            "weir.linked.graphs", "weir.linked.service", "weir.runtime.worker"}
        print(heavy & sys.modules.keys())
    """
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.stdout == "set()\n", done.stderr
