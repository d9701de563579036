"""The demo's screen: live tables of results with throughput, latency and progress; plain lines in a pipe."""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table

from weir.engine import Engine
from weir.rdf.terms import Literal, parse_term
from weir.runtime.output.sinks.base import Results
from weir.runtime.output.text_columns import timestamp
from weir.runtime.running import RunningJob
from weir.spark.session import open_session
from weir_bench.demo.detections import Detections
from weir_bench.demo.world import FLOORPLAN, QUERIES, RFID, ROOMS, World

_SHOWN = 10
_WARM_UP = 30.0
_LIMIT = 55.0
_LOOK = 0.02
RATE = 1_000


class Board:
    """A sink that keeps what the screen shows. Latency is from the tag's clock to here."""

    form = "columns"
    promise = "at least once"

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.meetings: deque[tuple[str, ...]] = deque(maxlen=_SHOWN)
        self.crowd: dict[str, int] = {}
        self.counts = dict.fromkeys(QUERIES, 0)
        self.latencies: deque[float] = deque(maxlen=200_000)

    def open(self) -> None:
        """Nothing to open."""

    def write(self, batch: int, results: Sequence[Results]) -> None:
        now = time.time()
        with self.lock:
            for result in results:
                self.counts[result.name] += len(result)
                at = result.table["at"].to_numpy() / 1e6
                self.latencies.extend((now - at).tolist())
                if result.name == "coauthors":
                    self._meet(result)
                elif result.name == "crowd":
                    self._count(result)

    def close(self) -> None:
        """Nothing to close."""

    def latency(self, share: float) -> float:
        """A quantile of the latency, in seconds."""
        with self.lock:
            ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0

    def _meet(self, result: Results) -> None:
        last = result.table.slice(max(0, len(result) - _SHOWN))
        stamps = [timestamp(at)[11:23] for at in last["at"].to_pylist()]
        columns = [_lexicals(last[name].to_pylist()) for name in ("name", "coauthor", "place")]
        self.meetings.extend(zip(stamps, *columns, strict=True))

    def _count(self, result: Results) -> None:
        latest = max(result.table["at"].to_pylist())
        rows = zip(
            result.table["at"].to_pylist(),
            _lexicals(result.table["place"].to_pylist()),
            _lexicals(result.table["people"].to_pylist()),
            strict=True,
        )
        self.crowd = {place: int(people) for at, place, people in rows if at == latest}


def run(*, seconds: float = 15.0, plain: bool = False) -> None:
    """Start Spark, let the stream flow for ``seconds``, show what comes out, and end."""
    console = Console(file=sys.stdout)
    live = console.is_terminal and not plain
    console.print("weir: starting Spark …")
    spark = open_session()
    began = time.time()
    world = World.made()
    board = Board()
    with tempfile.TemporaryDirectory(prefix="weir-demo-") as name:
        folder = Path(name)
        (folder / "stream").mkdir()
        (folder / "floorplan.ttl").write_text(world.floorplan(), encoding="utf-8")
        (folder / "library.ttl").write_text(world.library(), encoding="utf-8")
        engine = Engine(spark=spark)
        engine.stream(RFID, folder / "stream", watch=True)
        engine.graph(FLOORPLAN, folder / "floorplan.ttl")
        engine.graph(None, folder / "library.ttl")
        for query, text in QUERIES.items():
            engine.register(text, name=query)
        stream = Detections(world, folder / "stream", RATE)
        stream.first()
        job = engine.start(sinks=[board])
        console.print("weir: warming up …")
        _until(lambda: job.metrics.batches, job, began + _WARM_UP)
        board.latencies.clear()
        stream.start()
        console.print(f"weir: {len(world.people)} people, {len(ROOMS)} rooms, {RATE:,} detections a second")
        try:
            if live:
                with Live(screen(board, job, stream), console=console, refresh_per_second=4) as view:
                    _follow(job, stream, began, seconds, lambda: view.update(screen(board, job, stream)))
            else:
                _follow(job, stream, began, seconds, _Ticker(console, board, job, stream))
        finally:
            stream.stop()
            job.stop()
    console.print(final(board, job, stream))
    spark.stop()


def _follow(job: RunningJob, stream: Detections, began: float, seconds: float, show: object) -> None:
    """Until the stream has flowed for ``seconds`` of results, then to its end; never past the limit."""
    assert callable(show)
    first: float | None = None
    _until(lambda: job.metrics.batches > 1 and job.metrics.results, job, began + _LIMIT - 10)
    finished = False
    while not job.wait(1) and not job.metrics.ended and time.time() - began < _LIMIT:
        show()
        if first is None and job.metrics.batches > 1:
            first = time.time()
        flowed = first is not None and time.time() - first >= seconds
        if not finished and (flowed or time.time() - began > _LIMIT - 10):
            stream.stop()
            job.finish()
            finished = True
    show()


def _until(true: Callable[[], object], job: RunningJob, last: float) -> None:
    """Wait for it, as long as the job runs and until ``last``: what is there is shown at once."""
    while not true() and job.active and time.time() < last:
        time.sleep(_LOOK)


class _Ticker:
    """A line every two seconds, for logs and pipes."""

    def __init__(self, console: Console, board: Board, job: RunningJob, stream: Detections) -> None:
        self.parts = console, board, job, stream
        self._last = 0.0

    def __call__(self) -> None:
        console, board, job, stream = self.parts
        if time.time() - self._last < 2:
            return
        if not self._last:
            console.print("weir: the first live results")
        self._last = time.time()
        counts = ", ".join(f"{name} {count:,}" for name, count in board.counts.items())
        console.print(f"weir: {status(board, job, stream)}; {counts}", soft_wrap=True)
        for meeting in list(board.meetings)[-2:]:
            at, name, coauthor, place = meeting
            console.print(f"  {at}  {name} and {coauthor} are both in {place}", soft_wrap=True)


def status(board: Board, job: RunningJob, stream: Detections) -> str:
    """Throughput, latency and progress in one line."""
    metrics = job.metrics
    elapsed = max(time.time() - metrics.started, 1e-9)
    reached = metrics.streams.get(RFID, {}).get("high")
    lag = f"{time.time() - reached / 1e6:.1f} s behind" if reached else "no data yet"
    return (
        f"{metrics.triples:,} of {stream.written:,} detections, {metrics.triples / elapsed:,.0f}/s, "
        f"{metrics.batches} batches, latency p50 {board.latency(0.5):.2f} s, {lag}"
    )


def screen(board: Board, job: RunningJob, stream: Detections) -> RenderableType:
    """The live screen."""
    meetings = Table(title="Co-authors in one room", title_justify="left", expand=True)
    for name in ("at", "author", "co-author", "room"):
        meetings.add_column(name)
    with board.lock:
        for meeting in board.meetings:
            meetings.add_row(*meeting)
        crowd = Table(title="People per room", title_justify="left")
        crowd.add_column("room")
        crowd.add_column("people")
        for place, people in sorted(board.crowd.items(), key=lambda item: -item[1]):
            crowd.add_row(place, "█" * people + f" {people}")
        counts = ", ".join(f"{name} {count:,}" for name, count in board.counts.items())
    head = Panel(f"{status(board, job, stream)}\nresults: {counts}", title="Weir: a conference, live")
    return Group(head, Columns([meetings, crowd]))


def final(board: Board, job: RunningJob, stream: Detections) -> str:
    """The summary."""
    metrics = job.metrics
    return (
        f"weir: done. {metrics.triples:,} of {stream.written:,} detections, "
        f"{metrics.evaluations:,} evaluations, {sum(board.counts.values()):,} results "
        f"({', '.join(f'{name} {count:,}' for name, count in board.counts.items())}), "
        f"{metrics.batches} batches, latency p50 {board.latency(0.5):.2f} s, "
        f"p95 {board.latency(0.95):.2f} s, {metrics.late:,} late, {metrics.rejected:,} set aside"
    )


def _lexicals(texts: Sequence[str | None]) -> list[str]:
    out = []
    for text in texts:
        term = None if text is None else parse_term(text)
        out.append(term.lexical if isinstance(term, Literal) else str(term or ""))
    return out
