"""What commands share: arguments and options, and how their texts are read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weir.errors import UsageError

QueryFiles = Annotated[list[Path], typer.Argument(help="Query files.", metavar="QUERY...")]
QueryFile = Annotated[Path, typer.Argument(help="A query file.", metavar="QUERY")]
Dialect = Annotated[str, typer.Option(help="auto, rspql, cqels, csparql or sparqlstream.")]
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
