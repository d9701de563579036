"""Queries over given messages in this process: every stage of the product's pipeline but Spark.

Lines go in, result lines come out as bytes, a batch at a time; whoever measures decides what comes with what.
State is stored now and then, as the direct runner does.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO

from weir.linked.graphs import GraphSources
from weir.plan.analysis.chain import streams_read
from weir.rdf.formats.tnq import parse_lines
from weir.runtime.control.catalog import Catalog, Registration, StreamEntry, entry_of
from weir.runtime.control.registration import registrations_of
from weir.runtime.direct import DirectJob, MemoryStore
from weir.runtime.ingest.frames import Frame
from weir.runtime.ingest.parts import LaneInput, dead_letters
from weir.runtime.output.sinks.base import Results, Sink
from weir.runtime.output.sinks.result_files import json_lines_sink
from weir.runtime.pipeline import Delivery, SlotBatch, SlotWork
from weir.runtime.redoing import Since, advance_keeping


class Lines(Sink):
    """Result lines to a file, as the product writes them; ``rows`` is how many the last batch gave."""

    form = "jsonl"
    promise = "at least once"

    def __init__(self, out: IO[bytes]) -> None:
        self.rows = 0
        self._sink = json_lines_sink(out)

    def write(self, batch: int, results: Sequence[Results]) -> None:
        self.rows = sum(map(len, results))
        self._sink.write(batch, results)


class Replay:
    """Queries over streams whose lines are handed over by ``batch``. Results go to ``out``, a file in a
    temporary folder by default. ``graphs`` are files by IRI, None for the default graph."""

    def __init__(
        self,
        queries: Mapping[str, str],
        graphs: Mapping[str | None, Path] | None = None,
        dialect: str = "auto",
        key: bytes = b"weir_bench",
        out: IO[bytes] | None = None,
    ) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="weir-replay-"))
        self._key = key
        library = GraphSources()
        for iri, path in (graphs or {}).items():
            library.add(iri, path)
        self._job = DirectJob(self._folder / "job", library=library, key=key)
        self._results = self._folder / "results.jsonl"
        self._out = out or self._results.open("w+b")
        self._sink = Lines(self._out)
        self._delivery = Delivery([self._sink])
        self._store, self._since = MemoryStore(), Since()
        self._batch = 0
        offers = [Registration(name, text, dialect) for name, text in queries.items()]
        read = dict.fromkeys(iri for each in offers for iri in streams_read(each.query, ()))
        self._reached = dict.fromkeys(read, 0)
        entries: list[StreamEntry | Registration] = []
        entries += [StreamEntry(iri, number=number) for number, iri in enumerate(read)]
        extractor = self._job.extractor if graphs else None
        entries += registrations_of(offers, Catalog(), tuple(read), 1, extractor, finite=tuple(read))
        self._job.control.append(lambda batch: [entry_of(each, batch) for each in entries])

    @property
    def streams(self) -> list[str]:
        return list(self._reached)

    @property
    def rows(self) -> int:
        """How many rows the last batch gave."""
        return self._sink.rows

    @property
    def text(self) -> bytes:
        """All result lines so far, read from the file."""
        self._out.flush()
        return self._results.read_bytes()

    def batch(self, lines: Mapping[str, bytes], ended: bool = False) -> None:
        """Deliver lines by stream. ``ended`` says that nothing more will come."""
        place = self._job.place
        plan = place.match_plan(self._batch)
        frames: dict[int, list[Frame]] = {slot: [] for slot in plan.active}
        for stream, position in self._reached.items():
            data = lines.get(stream, b"")
            found = parse_lines(data, scope=stream, key=self._key, base=position)
            dead = dead_letters(stream, found.rejected, source=stream)
            given = LaneInput("0", found, position, len(data), dead, ended=ended)
            self._reached[stream] = position + len(data)
            for slot, frame in plan.frames(stream, given):
                frames[slot].append(frame)
        for slot, taken in frames.items():
            work = SlotWork(place, slot, self._store, self._delivery.forms)
            _, rows = advance_keeping(work, SlotBatch(self._batch, taken), self._since)
            self._delivery.take(self._batch, rows)
        self._batch += 1

    def close(self) -> None:
        if self._results.exists():
            self._out.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Replay:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
