"""``weir generate``: the data of the conference scenario, by Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weir.cli.options import Master
from weir.cli.reporting import reported
from weir.errors import UsageError
from weir.extras import load
from weir.spark.session import open_session


def generate(
    into: Annotated[Path, typer.Argument(help="The folder to write to.", metavar="DIR")],
    triples: Annotated[int, typer.Option(help="Triples of the library.")] = 100_000,
    sightings: Annotated[int, typer.Option(help="Messages of the stream.")] = 100_000,
    rate: Annotated[float, typer.Option(help="Messages a second, in the data.")] = 100.0,
    seed: Annotated[int, typer.Option(help="Decides everything.")] = 42,
    master: Master = None,
) -> None:
    """Write the conference scenario by Spark: library/, floorplan.nt and the stream rfid/."""
    with reported():
        if min(triples, sightings) < 1000 or rate <= 0:
            raise UsageError("a conference has at least 1,000 triples, 1,000 sightings and a rate above 0")
        data, written = load("weir_bench.data.conference"), load("weir_bench.data.conference_files")
        session = open_session(master)
        world = data.conference(triples, seed=seed)
        written.write_conference(session, world, into.absolute(), sightings, rate, seed)
        typer.echo(f"weir: {triples:,} triples, {sightings:,} sightings in {into}", err=True)
