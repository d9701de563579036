"""``weir rescale``: another number of tasks for a job that is stopped."""

from __future__ import annotations

from typing import Annotated

import typer

from weir.cli.options import Master
from weir.spark.rescale import rescale as rescaled
from weir.storage.places import local_path


def rescale(
    checkpoint: Annotated[str, typer.Argument(help="The checkpoint of a job.", metavar="CHECKPOINT")],
    partitions: Annotated[int, typer.Option(help="Tasks that work side by side from now on.", min=1)],
    master: Master = None,
) -> None:
    """Spread the state of a stopped job over another number of tasks; its results go on equal."""
    before = rescaled(local_path(checkpoint, "a checkpoint").absolute(), partitions, master=master)
    typer.echo(f"weir: {checkpoint} has {partitions} partitions, and had {before}", err=True)
