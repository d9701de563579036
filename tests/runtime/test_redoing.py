"""State that is stored now and then: where a query fails, all others go on as if it had been stored."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from weir.runtime import redoing
from weir.runtime.control.checkpoint import Checkpoint
from weir.runtime.control.failure import QueryLimits
from weir.runtime.direct import Batches, Collected, DirectJob
from weir.runtime.ingest.sources import FileSource
from weir.runtime.pipeline import Delivery, SlotBatch
from weir.runtime.redoing import Since

COUNT = """REGISTER RSTREAM <{name}> AS SELECT (COUNT(*) AS ?n) FROM NAMED WINDOW <w> ON <{stream}>
[RANGE PT{range}S STEP PT1S] WHERE {{ WINDOW <w> {{ ?s <urn:{predicate}> ?o }} }}"""
FILES = 12


class All(Collected):
    """Keeps the lines of all batches."""

    def write(self, batch: int, results: Sequence[object]) -> None:
        before = self.lines
        super().write(batch, results)  # type: ignore[arg-type]
        self.lines = [*before, *self.lines]


def found(folder: Path, *, sparing: bool, rows: int | None) -> tuple[list[object], dict[str, str], int]:
    """What two queries answer and which failed, a file a batch; how many states there were."""
    stream = folder / "s"
    stream.mkdir(parents=True)
    for second in range(FILES):
        rare = f"{second}000\t<urn:{second}> <urn:q> <urn:o> .\n" if second % 4 == 1 else ""
        common = f"{second}000\t<urn:{second}> <urn:p> <urn:o> .\n"
        (stream / f"{second:02d}.tnq").write_text(rare + common)
    setting = DirectJob(folder / "c")
    for name, iri, width, predicate in (("narrow", "s", 3, "q"), ("wide", "t", 90, "p")):
        setting.registry.add_stream(iri, FileSource(str(stream), files_per_batch=1))
        setting.register(COUNT.format(name=name, stream=iri, range=width, predicate=predicate))
    sink = All()
    control = setting.control
    batches = Batches(Delivery([sink], control.fail), limits=QueryLimits(rows=rows), sparing=sparing)
    control._next_batch = lambda: batches.number
    batches.over(Checkpoint.read(folder / "c"))
    heads = set()
    while batches.next() is not None:
        heads.add(batches.stores[0].head())
    failed = {name: each.reason for name, each in setting.failures.items()}
    return list(sink.lines), failed, len(heads)


@pytest.mark.parametrize("rows", [None, 8])
def test_answers_and_failures_are_those_of_states_that_are_all_stored(
    rows: int | None, tmp_path: Path
) -> None:
    stored = found(tmp_path / "stored", sparing=False, rows=rows)
    spared = found(tmp_path / "spared", sparing=True, rows=rows)
    assert spared[:2] == stored[:2]
    assert set(stored[1]) == ({"wide"} if rows else set())
    assert stored[0] and stored[2] > spared[2]


def test_a_long_while_is_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redoing, "_BATCHES", 3)
    lines, _, states = found(tmp_path, sparing=True, rows=None)
    assert lines
    assert states == FILES // 4
    since = Since()
    since.add(SlotBatch(0, []))
    assert not since.long
    since.messages = redoing._MESSAGES
    assert since.long
    since.forget()
    assert not since.long
