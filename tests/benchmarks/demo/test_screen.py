"""What the demo shows of results."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa
from rich.console import Console

from weir.runtime.output.metrics import Metrics
from weir.runtime.output.sinks.base import Results
from weir_bench.demo.screen import Board, final, screen, status


def results(query: str, at: list[int], **columns: list[str]) -> Results:
    return Results(query, pa.table({"at": pa.array(at, pa.int64()), **columns}))


def shown() -> tuple[Board, Any, Any]:
    """A board with results, a job and a stream as the screen sees them."""
    board = Board()
    board.write(
        0,
        [
            results("coauthors", [1_000_000], name=['"Ada"'], coauthor=['"Alan"'], place=['"Library"']),
            results("crowd", [0, 2_000_000], place=['"Garden"', '"Library"'], people=['"9"', '"3"']),
        ],
    )
    job = SimpleNamespace(metrics=Metrics())
    return board, job, SimpleNamespace(written=5)


def test_a_board_keeps_meetings_counts_and_the_latest_crowd() -> None:
    board, _, _ = shown()
    assert list(board.meetings) == [("00:00:01.000", "Ada", "Alan", "Library")]
    assert board.crowd == {"Library": 3}
    assert board.counts == {"reachable": 0, "coauthors": 1, "crowd": 2}
    assert board.latency(0.5) > 0


def test_the_screen_and_the_summary_tell_of_them() -> None:
    board, job, stream = shown()
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(screen(board, cast(Any, job), cast(Any, stream)))
    text = console.export_text()
    assert "Ada" in text and "███ 3" in text
    assert "no data yet" in status(board, job, stream)
    assert "3 results (reachable 0, coauthors 1, crowd 2)" in final(board, job, stream)
