"""A slot's group moves on by a batch, and what it says is delivered."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from weir.rdf.formats.tnq import parse_lines
from weir.runtime.direct import Collected, DirectJob, MemoryStore, Records
from weir.runtime.ingest.parts import LaneInput
from weir.runtime.ingest.sources import FileSource
from weir.runtime.output.outputs import Output
from weir.runtime.output.sinks.base import Results
from weir.runtime.pipeline import Delivery, SlotBatch, SlotWork, advance

QUERY = """REGISTER RSTREAM <q> AS SELECT (COUNT(*) AS ?n)
FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 10] WHERE { WINDOW <w> { ?x <urn:p> ?y } }"""


class Columns:
    """A sink of another form."""

    form = "columns"
    promise = "at least once"

    def __init__(self) -> None:
        self.names: list[str] = []

    def open(self) -> None: ...

    def write(self, batch: int, results: Sequence[Results]) -> None:
        self.names = [name for each in results for name in each.table.column_names]

    def close(self) -> None: ...


def rows(tmp_path: Path, forms: Sequence[str]) -> list[Output]:
    (tmp_path / "s.tnq").touch()
    job = DirectJob(tmp_path / "c")
    job.registry.add_stream("s", FileSource(str(tmp_path / "s.tnq")))
    job.register(QUERY)
    store = MemoryStore()
    messages = parse_lines(b"1\t<urn:x> <urn:p> <urn:y> .\n", scope="s 0", key=job.checkpoint.key)
    ((_, frame),) = job.place.match_plan(0).frames("s", LaneInput("0", messages, ended=True))
    step, found = advance(SlotWork(job.place, 0, store, forms), SlotBatch(0, [frame]))
    assert step.ended
    assert store.head() is not None
    return found


def test_answers_come_in_every_form_and_metrics_once(tmp_path: Path) -> None:
    found = rows(tmp_path, ["jsonl", "columns"])
    assert [row.kind for row in found] == ["jsonl", "columns", "metrics"]


def test_each_sink_gets_its_form(tmp_path: Path) -> None:
    lines, columns = Collected(), Columns()
    delivery = Delivery([lines, columns], lambda batch, failures: None)
    assert delivery.forms == ["columns", "jsonl"]
    delivery.take(0, rows(tmp_path, delivery.forms))
    assert [line["bindings"]["n"]["value"] for line in lines.lines] == ["1"]
    assert columns.names == ["at", "op", "n"]
    assert delivery.metrics.results == 1


def test_what_several_slots_set_aside_is_told_once() -> None:
    late = Records()
    said = [Output("late", "", slot, b'{"position": 1}\n{"position": 2}\n') for slot in (0, 1)]
    Delivery([], lambda batch, failures: None, {"late": late}).take(0, said)
    assert late.found == [{"position": 1}, {"position": 2}]
