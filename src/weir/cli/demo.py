"""``weir demo``: the conference, live."""

from __future__ import annotations

from typing import Annotated

import typer

from weir.cli.reporting import reported
from weir.extras import load


def demo(
    seconds: Annotated[float, typer.Option(help="How long the stream flows.")] = 15.0,
    plain: Annotated[bool, typer.Option("--plain", help="Lines instead of a live table.")] = False,
) -> None:
    """The conference: people, rooms and papers, with live results."""
    with reported():
        load("weir_bench.demo").run(seconds=seconds, plain=plain)
