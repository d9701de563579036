"""What the command line says about a run."""

from __future__ import annotations

import time
from pathlib import Path

from weir.runtime.metrics import Metrics


def summary(metrics: Metrics, dead_letters: Path | None) -> str:
    """One line at the end of a run; a second where something was set aside."""
    seconds = max(time.time() - metrics.started, 1e-9)
    line = (
        f"weir: {metrics.triples:,} triples in, {metrics.evaluations:,} evaluations, "
        f"{metrics.results:,} results, {metrics.batches:,} batches, {seconds:.1f} s"
    )
    if metrics.interrupted:
        line += " (interrupted; run again with the same checkpoint to go on)"
    aside = []
    if metrics.rejected + metrics.ahead:
        aside.append(f"{metrics.rejected + metrics.ahead:,} set aside in {dead_letters}")
    if metrics.late:
        aside.append(f"{metrics.late:,} late")
    return line + (f"\nweir: {', '.join(aside)}" if aside else "")
