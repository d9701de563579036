"""What commands share: options and how their texts are read, errors as exit states, the line after a run."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from weir.errors import CheckpointError, SyntaxError, TranslationError, UsageError, WeirError
from weir.runtime.output.metrics import Metrics

QueryFiles = Annotated[list[Path], typer.Argument(help="Query files.", metavar="QUERY...")]
QueryFile = Annotated[Path, typer.Argument(help="A query file.", metavar="QUERY")]
Dialect = Annotated[str, typer.Option(help="auto, rspql, cqels, csparql or sparqlstream.")]
Routing = Annotated[str, typer.Option(help="How joins are ordered while they run: cost or cardinality.")]
Master = Annotated[str | None, typer.Option(help="The Spark master; all local cores by default.")]


def pair(text: str, option: str, form: str) -> tuple[str, str]:
    """IRI and source. An IRI may contain ``=``: the first cut that leaves something to read counts."""
    places = [place for place, sign in enumerate(text) if sign == "="]
    if not places:
        raise UsageError(f"{option} takes {form}, not {text!r}")
    for place in places:
        source = text[place + 1 :]
        path = source.removeprefix("replay:").partition("?")[0]
        if Path(source).exists() or (path and Path(path).exists()) or "://" in source:
            return text[:place].strip("<>"), source
    return text[: places[0]].strip("<>"), text[places[0] + 1 :]


def read_query(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UsageError(f"no such query file: {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the query file {path}", detail=str(error)) from None


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
