"""``parse``: text → algebra, with the dialect found where it is not given."""

from __future__ import annotations

from weir.errors import UsageError, kind_of
from weir.language.algebra.fold import DEPTH, deeper_than
from weir.language.algebra.query import Dialect, Query
from weir.language.presets import SPARQL
from weir.language.syntax.lexer import Source, Tokens
from weir.language.syntax.queries import QueryParser

_SHORT = 2 * DEPTH
"""No shorter text can be too deep: a level takes at least two characters."""


def dialect_named(name: str) -> Dialect | None:
    """The dialect of a name as the command line takes it; None for ``auto``."""
    try:
        return None if name == "auto" else Dialect(name)
    except ValueError:
        known = ", ".join(dialect.value for dialect in Dialect)
        raise UsageError(f"unknown dialect '{name}'", hint=f"known are auto, {known}") from None


def parse(text: str, dialect: str = "auto", file: str | None = None, base: str | None = None) -> Query:
    """The query that a text means (raises ``weir.SyntaxError``).

    A text without stream constructs is plain SPARQL, unless a dialect is asked for. Under ``auto`` a text
    that fits several dialects must mean the same in all of them.
    """
    if not isinstance(text, str):
        raise UsageError(f"a query is a text, not {kind_of(text)}", hint="for a file, its read_text()")
    source = Source(text, file)
    wanted = dialect_named(dialect)
    parser = QueryParser(Tokens(source), wanted, base)
    try:
        draft = parser.draft()
        plain = wanted is None and not parser.used
        first, *others = (SPARQL,) if plain else parser.presets
        query = draft.query(first)
        if len(text) > _SHORT and deeper_than(query.pattern, DEPTH):
            raise source.error(0, f"operators nest more than {DEPTH} deep")
        for other in others:
            if draft.query(other) != query:
                raise source.error(
                    0,
                    f"the query fits {first.title} and {other.title}, which give it different meanings",
                    f"say which with the dialect {first.dialect.value} or {other.dialect.value}",
                )
    except RecursionError:
        raise source.error(0, "the query nests too deeply") from None
    return query
