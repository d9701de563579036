"""What the command line says about a run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

from weir.linked.graphs.parquet_store import GraphStore
from weir.runtime.output.metrics import Metrics
from weir.spark.load import load_graphs
from weir.spark.session import open_session


def summary(metrics: Metrics, dead_letters: Path | None) -> str:
    """One line at the end of a run; a second where something was set aside."""
    seconds = max(time.time() - metrics.started, 1e-9)
    line = (
        f"weir: {metrics.triples:,} triples in, {metrics.evaluations:,} evaluations, "
        f"{metrics.results:,} results, {metrics.batches:,} batches, {seconds:.1f} s"
    )
    kept = metrics.state
    if kept["rows"]:
        line += f", {kept['rows']:,} rows kept ({kept['bytes'] / 2**20:.1f} MB)"
    if metrics.interrupted:
        line += " (interrupted; run again with the same checkpoint to go on)"
    aside = []
    if metrics.rejected + metrics.ahead:
        aside.append(f"{metrics.rejected + metrics.ahead:,} set aside in {dead_letters}")
    if metrics.late:
        aside.append(f"{metrics.late:,} late")
    return line + (f"\nweir: {', '.join(aside)}" if aside else "")


def load_with_progress(
    sources: Sequence[tuple[str, Path]], into: Path, master: str | None = None
) -> GraphStore:
    """Load graphs into a store with a bar on standard error, where that is a terminal."""
    spark = open_session(master)
    columns = (TextColumn("reading"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=None)
        return load_graphs(
            spark, sources, into, progress=lambda done, total: bar.update(task, completed=done, total=total)
        )
