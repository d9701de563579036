"""``weir translate``: a query in another dialect."""

from __future__ import annotations

from typing import Annotated

import typer

from weir.cli.options import Dialect, QueryFile, read_query
from weir.cli.reporting import reported
from weir.language import parse
from weir.language import translate as translated


def translate(
    query: QueryFile,
    to: Annotated[str, typer.Option(help="The dialect to write.", metavar="DIALECT")],
    dialect: Dialect = "auto",
) -> None:
    """Write a query in another dialect, or say what that dialect cannot express."""
    with reported():
        found = translated(parse(read_query(query), dialect=dialect, file=str(query)), to)
        texts = [found] if isinstance(found, str) else [f"# {name}\n{text}" for name, text in found]
        typer.echo("\n\n".join(texts))
