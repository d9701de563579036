"""``weir bench``: the papers' experiments, and measurements of the pipeline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weir.cli.reporting import reported
from weir.errors import UsageError
from weir.extras import load

BENCHMARKS = ("conference", "matching", "freshness", "fragments", "spark", "language", "service")


def bench(
    name: Annotated[str, typer.Argument(help=f"{', '.join(BENCHMARKS)}, or all.")],
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes: minutes instead of an hour.")] = False,
    json: Annotated[Path | None, typer.Option(help="Write the report.", metavar="FILE")] = None,
    plot: Annotated[Path | None, typer.Option(help="Write plots.", metavar="DIR")] = None,
) -> None:
    """Reproduce the papers' experiments, and measure the pipeline."""
    with reported():
        names = BENCHMARKS if name == "all" else (name,)
        for each in names:
            if each not in BENCHMARKS:
                raise UsageError(f"unknown benchmark {each!r}", hint=f"one of {', '.join(BENCHMARKS)}, all")
        short = [each for each in names if not _bench(each, quick, json, plot, several=len(names) > 1)]
        if short:
            typer.echo(f"weir: goals not met in {', '.join(short)}", err=True)


def _bench(name: str, quick: bool, json: Path | None, plot: Path | None, *, several: bool) -> bool:
    target = json.with_stem(f"{json.stem}-{name}") if json and several else json
    report = load(f"weir_bench.{name}.benchmark").run(quick=quick, plot=plot)
    if target is not None:
        report.write(target)
    typer.echo(f"{name}\n{report.summary()}")
    return bool(report.holds)
