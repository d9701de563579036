"""What commands say on standard error: errors with their exit status, and a line at the end of a run."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from weir.errors import CheckpointError, SyntaxError, TranslationError, UsageError, WeirError
from weir.runtime.output.metrics import Metrics

_USAGE = (SyntaxError, UsageError, TranslationError, CheckpointError)


@contextmanager
def reported() -> Iterator[None]:
    """Weir's errors as messages on standard error, with the exit status of their kind."""
    try:
        yield
    except WeirError as error:
        typer.echo(f"weir: {error}", err=True)
        raise typer.Exit(2 if isinstance(error, _USAGE) else 1) from None


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
