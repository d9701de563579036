"""Many queries at once: from one text, and as commands that come in a stream.

A text holds several queries, parted by lines of three hyphens. A query is called by its REGISTERed name or
else by the text's own name and a number. A command is a line of JSON: ``{"register": NAME, "query": TEXT}``,
with a ``dialect`` if it is to be told, or ``{"drop": NAME}``.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TypeAlias

from weir.errors import SyntaxError, UsageError
from weir.language import Query
from weir.plan.analysis.chain import parsed

_PARTING = re.compile(r"^---+[ \t]*\r?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Register:
    """Register ``query`` under ``name``; ``dialect`` is the one that was told."""

    name: str
    query: Query
    dialect: str = field(default="auto", compare=False)


@dataclass(frozen=True, slots=True)
class Drop:
    """Forget the query called ``name``."""

    name: str


Command: TypeAlias = Register | Drop


def parse_queries(
    text: str, name: str = "query", dialect: str = "auto", file: str | None = None
) -> dict[str, Query]:
    """The queries of a text by name; errors count lines from the top of the whole text. The only query of a
    text is called by the text's name alone."""
    found: dict[str, Query] = {}
    line = 0
    parts = _PARTING.split(text)
    single = sum(bool(part.strip()) for part in parts) == 1
    for number, part in enumerate(parts, 1):
        if part.strip() or len(parts) == 1:
            try:
                query = parsed(part, dialect)
            except SyntaxError as error:
                error.line += line
                error.source, error.file = text, error.file or file or name
                raise
            own = query.output or (name if single else f"{name}-{number}")
            if own in found:
                raise UsageError(f"two queries are called {own!r}", detail=f"the second is number {number}")
            found[own] = query
        line += part.count("\n")
    return found


def parse_command(line: str) -> Command:
    """The command that one line of a stream of commands holds."""
    try:
        values = json.loads(line)
    except json.JSONDecodeError as error:
        raise UsageError("a command is a line of JSON", detail=str(error)) from None
    match values:
        case {"drop": str(name)}:
            return Drop(name)
        case {"register": str(name), "query": str(text)}:
            dialect = str(values.get("dialect", "auto"))
            return Register(name, parsed(text, dialect), dialect)
    raise UsageError(
        "a command that is not known",
        detail=line.strip()[:200],
        hint='write {"register": NAME, "query": TEXT} or {"drop": NAME}',
    )
