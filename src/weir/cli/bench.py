"""``weir bench``, ``weir demo`` and ``weir generate``: what the benchmarks beside Weir bring."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from weir.cli.options import Master
from weir.errors import UsageError
from weir.extras import load

BENCHMARKS = (
    "conference",
    "matching",
    "freshness",
    "fragments",
    "spark",
    "language",
    "service",
    "scale",
    "start",
    "city",
    "peers",
    "suites",
)


def bench(
    name: Annotated[str, typer.Argument(help=f"{', '.join(BENCHMARKS)}, or all; or report.")],
    folder: Annotated[
        Path | None, typer.Argument(help="For report: where the JSON of the runs is.", metavar="[DIR]")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes: minutes instead of an hour.")] = False,
    json: Annotated[Path | None, typer.Option(help="Write the report.", metavar="FILE")] = None,
    plot: Annotated[Path | None, typer.Option(help="Write plots.", metavar="DIR")] = None,
    data: Annotated[Path | None, typer.Option(help="A clone of CityBench, for city.", metavar="DIR")] = None,
    graph: Annotated[
        int | None, typer.Option(help="For scale: a static graph of so many triples.", min=10_000)
    ] = None,
    simulate: Annotated[
        bool, typer.Option("--simulate", help="For scale: a cluster of up to 1,000 cores, simulated.")
    ] = False,
    rival: Annotated[
        list[str] | None, typer.Option(help="An engine that you have, for peers.", metavar="NAME=COMMAND")
    ] = None,
    docs: Annotated[
        Path | None, typer.Option(help="For report: put page, plots and runs there.", metavar="DIR")
    ] = None,
) -> None:
    """Reproduce the papers' experiments, and measure the pipeline; report makes a page of the runs in DIR."""
    if (name == "report") != (folder is not None):
        raise UsageError(
            "weir bench report takes a folder, and nothing else does", hint="weir bench report DIR"
        )
    if folder is not None:
        typer.echo(load("weir_bench.pages").write_pages(folder, docs))
        return
    given: dict[str, dict[str, Any]] = {
        "city": {"data": data},
        "peers": {"rival": rival or ()},
        "scale": {"graph": graph, "simulate": simulate},
    }
    every = [each for each in BENCHMARKS if each != "city" or data is not None]
    names = every if name == "all" else [name]
    for each in names:
        if each not in BENCHMARKS:
            raise UsageError(f"unknown benchmark {each!r}", hint=f"one of {', '.join(BENCHMARKS)}, all")
    short = []
    for each in names:
        report = load(f"weir_bench.{each}.benchmark").run(quick=quick, plot=plot, **given.get(each, {}))
        if json is not None:
            report.write(json.with_stem(f"{json.stem}-{each}") if len(names) > 1 else json)
        typer.echo(f"{each}\n{report.summary()}")
        short += [] if report.holds else [each]
    if short:
        typer.echo(f"weir: goals not met in {', '.join(short)}", err=True)


def demo(
    seconds: Annotated[float, typer.Option(help="How long the stream flows.")] = 15.0,
    plain: Annotated[bool, typer.Option("--plain", help="Lines instead of a live table.")] = False,
) -> None:
    """The conference: people, rooms and papers, with live results."""
    load("weir_bench.demo").run(seconds=seconds, plain=plain)


def generate(
    into: Annotated[Path, typer.Argument(help="The folder to write to.", metavar="DIR")],
    triples: Annotated[int, typer.Option(help="Triples of the library.")] = 100_000,
    sightings: Annotated[int, typer.Option(help="Messages of the stream.")] = 100_000,
    rate: Annotated[float, typer.Option(help="Messages a second, in the data.")] = 100.0,
    seed: Annotated[int, typer.Option(help="Decides everything.")] = 42,
    master: Master = None,
) -> None:
    """Write the conference scenario by Spark: library/, floorplan.nt and the stream rfid/."""
    if min(triples, sightings) < 1000 or rate <= 0:
        raise UsageError("a conference has at least 1,000 triples, 1,000 sightings and a rate above 0")
    data, written = load("weir_bench.data.conference"), load("weir_bench.data.conference_files")
    session = load("weir.spark.session").open_session(master)
    world = data.conference(triples, seed=seed)
    written.write_conference(session, world, into.absolute(), sightings, rate, seed)
    typer.echo(f"weir: {triples:,} triples, {sightings:,} sightings in {into}", err=True)
