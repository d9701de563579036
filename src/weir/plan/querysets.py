"""Many queries from one text, parted by lines of three hyphens.

A query is called by its REGISTERed name or else by the text's own name and a number.
"""

from __future__ import annotations

import re

from weir.errors import SyntaxError, UsageError
from weir.language import Query
from weir.plan.analysis.chain import parsed

_PARTING = re.compile(r"^---+[ \t]*\r?$", re.MULTILINE)


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
