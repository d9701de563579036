"""A job in one process: batches are planned by hand, and how they are run changes nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from weir.runtime.direct import DirectJob
from weir.runtime.ingest.sources import FileSource
from weir.runtime.output.sinks.result_files import ExactFile, json_lines_sink

QUERY = """REGISTER RSTREAM <q> AS SELECT ?y
FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 10] WHERE { WINDOW <w> { ?x <urn:p> ?y } }"""


def stream(folder: Path) -> FileSource:
    """Three files, a batch each: messages at 1, 12 and 23 ms."""
    (folder / "s").mkdir()
    for number, time in enumerate((1, 12, 23)):
        (folder / "s" / f"{number}.tnq").write_text(f"{time}\t<urn:x> <urn:p> <urn:{time}> .\n")
    return FileSource(str(folder / "s"), files_per_batch=1)


def values(lines: list[dict[str, dict[str, dict[str, str]]]]) -> list[str]:
    return [line["bindings"]["y"]["value"] for line in lines]


@pytest.mark.parametrize("how", [{}, {"workers": 2}, {"restarts": True}, {"slots": 3}])
def test_answers_do_not_depend_on_who_works(tmp_path: Path, how: dict[str, int]) -> None:
    job = DirectJob(tmp_path / "c", **how)  # type: ignore[arg-type]
    job.registry.add_stream("s", stream(tmp_path))
    assert job.batch() is None
    job.register(QUERY)
    assert values(job.run()) == ["urn:1", "urn:12", "urn:23"]
    assert job.metrics.results == 3


def test_a_restart_goes_on_where_the_stores_are(tmp_path: Path) -> None:
    job = DirectJob(tmp_path / "c")
    job.registry.add_stream("s", stream(tmp_path))
    job.register(QUERY)
    found = job.batch()
    job.restart()
    assert values((found or []) + job.run()) == ["urn:1", "urn:12", "urn:23"]


def test_sinks_get_what_is_returned(tmp_path: Path) -> None:
    sink = json_lines_sink(ExactFile(tmp_path / "out.jsonl", tmp_path / "out.log"))
    sink.open()
    job = DirectJob(tmp_path / "c", sinks=[sink])
    job.registry.add_stream("s", stream(tmp_path))
    job.register(QUERY)
    found = job.run()
    sink.close()
    assert [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()] == found
