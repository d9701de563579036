"""Queries that read each other's output, and what keeps a set of queries from running together."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter

from weir.errors import UsageError
from weir.language import parse
from weir.language.algebra.query import Construct, Query
from weir.rdf.terms import Variable


@lru_cache(maxsize=1 << 16)
def parsed(text: str, dialect: str) -> Query:
    """A registered query; the same object for the same text, so that nothing is parsed twice."""
    return parse(text, dialect=dialect)


def evaluation_order(queries: Mapping[str, Query]) -> tuple[str, ...]:
    """Names such that a query comes after those whose output it reads; refuses cycles and SELECT sources."""
    makers: dict[str, str] = {}
    for name, query in queries.items():
        if query.output is not None:
            if query.output in makers:
                raise UsageError(f"two queries write the stream <{query.output}>")
            makers[query.output] = name
    needs: dict[str, set[str]] = {}
    for name, query in queries.items():
        needs[name] = {makers[s] for s in query.streams if isinstance(s, str) and s in makers}
        for source in needs[name]:
            if not isinstance(queries[source].form, Construct):
                raise UsageError(
                    f"query {name!r} reads the output of {source!r}, which makes no triples",
                    hint="only the output of a CONSTRUCT query is a stream",
                )
    try:
        return tuple(TopologicalSorter({name: sorted(needs[name]) for name in sorted(needs)}).static_order())
    except CycleError as error:
        raise UsageError(f"queries read each other in a circle: {' -> '.join(error.args[1])}") from None


def streams_read(query: Query, streams: Collection[str]) -> tuple[str, ...]:
    """The streams that a query reads; a variable ranges over the registered ``streams``."""
    found: dict[str, None] = {}
    for stream in query.streams:
        found |= dict.fromkeys(streams if isinstance(stream, Variable) else (stream,))
    return tuple(found)


def refuse_bad_chains(queries: Mapping[str, Query], streams: Collection[str]) -> None:
    """Raise where a stream is unknown or has two makers, where queries read each other in a circle, and where
    one reads what makes no triples."""
    for name, query in queries.items():
        if query.output in streams:
            raise UsageError(
                f"query {name!r} writes the stream <{query.output}>, which has a source of its own",
                hint="give the output or the stream another name",
            )
    evaluation_order(queries)
    outputs = {query.output: name for name, query in queries.items() if query.output is not None}
    for name, query in queries.items():
        for stream in query.streams:
            if isinstance(stream, Variable) and not streams:
                raise UsageError(f"query {name!r} ranges over the registered streams, and there is none")
            if isinstance(stream, str) and stream not in streams and stream not in outputs:
                known = ", ".join(f"<{iri}>" for iri in streams) or "none"
                raise UsageError(
                    f"query {name!r} reads the unknown stream <{stream}>",
                    detail=f"known streams: {known}",
                    hint=f"give it with --stream {stream}=SOURCE",
                )


def readers_of(output: str | None, queries: Mapping[str, Query]) -> list[str]:
    """The queries that name a stream as theirs."""
    return [name for name, query in queries.items() if output is not None and output in query.streams]
