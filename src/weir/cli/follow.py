"""``weir follow``: a query over time-annotated fragments."""

from __future__ import annotations

from contextlib import suppress
from json import dumps
from typing import Annotated

import typer

from weir.cli.options import QueryFile, read_query
from weir.fragments.client import Options, result_lines
from weir.fragments.client import follow as following


def follow(
    query: QueryFile,
    url: Annotated[str, typer.Argument(help="A fragments data set.", metavar="URL")],
    least: Annotated[float, typer.Option("--min", help="Least seconds between two polls.")] = 0.1,
    most: Annotated[float, typer.Option("--max", help="Most seconds between two polls.")] = 60.0,
    listen: Annotated[
        bool, typer.Option("--listen", help="Hear at once when facts are taken back before their time.")
    ] = False,
    once: Annotated[bool, typer.Option("--once", help="One evaluation, then end.")] = False,
) -> None:
    """Follow a SPARQL query over time-annotated fragments; results as JSON lines."""
    options = Options(min_interval=least, max_interval=most, listen=listen)
    with suppress(KeyboardInterrupt):
        for update in following(read_query(query), url, options=options):
            for line in result_lines(update, query.stem):
                typer.echo(dumps(line, ensure_ascii=False, separators=(",", ":")))
            if once:
                break
