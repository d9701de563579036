"""``follow``: continuously updating results of a plain SPARQL query over a fragments server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import httpx

from weir.fragments.client.streamer import Options, Streamer, Update
from weir.fragments.protocol.annotation import time_text
from weir.language import Query, parse
from weir.linked.http.clocks import Clock
from weir.rdf.terms import Literal, Term, json_term, parse_term


async def follow_async(
    query: str | Query,
    url: str,
    *,
    options: Options | None = None,
    clock: Clock | None = None,
    client: httpx.AsyncClient | None = None,
) -> AsyncGenerator[Update, None]:
    """Every evaluation of a query over the data set at ``url``, as it becomes due.

    The first update adds all results there are. Ends by itself where nothing is dynamic. A client given
    here is used and left open; it decides proxies, certificates and credentials.
    """
    parsed = query if isinstance(query, Query) else parse(query, dialect="sparql")
    async with _client(client) as http:
        streamer = Streamer(parsed, url, http, options=options, clock=clock)
        async with aclosing(streamer.updates()) as updates:
            async for update in updates:
                yield update


def follow(
    query: str | Query,
    url: str,
    *,
    options: Options | None = None,
    clock: Clock | None = None,
) -> Iterator[Update]:
    """As ``follow_async``, for code without an event loop. Waits between updates."""
    updates = follow_async(query, url, options=options, clock=clock)
    with asyncio.Runner() as runner:
        try:
            while True:
                update = runner.run(_step(updates))
                if update is None:
                    return
                yield update
        finally:
            runner.run(updates.aclose())


async def _step(updates: AsyncIterator[Update]) -> Update | None:
    return await anext(updates, None)


@asynccontextmanager
async def _client(given: httpx.AsyncClient | None) -> AsyncIterator[httpx.AsyncClient]:
    if given is not None:
        yield given
        return
    limits = httpx.Limits(max_connections=16, max_keepalive_connections=16, keepalive_expiry=30.0)
    async with httpx.AsyncClient(
        follow_redirects=True, max_redirects=5, limits=limits, timeout=20.0, headers={"User-Agent": "weir"}
    ) as client:
        yield client


def result_lines(update: Update, query: str) -> Iterator[dict[str, Any]]:
    """An update as result lines (docs/semantics.md, "Result lines"): removals, then additions."""
    at = parse_term(time_text(update.at // 1000 * 1000))
    assert isinstance(at, Literal)
    stamp = at.lexical if "." in at.lexical else at.lexical[:-1] + ".000Z"
    for op, rows in (("D", update.removed), ("I", update.added)):
        triples = [row for row in rows if isinstance(row, tuple)]
        if triples:
            lines = [f"{s} {p} {o} ." for s, p, o in triples]
            yield {"query": query, "at": stamp, "op": op, "triples": lines}
        for row in rows:
            if isinstance(row, dict):
                yield {"query": query, "at": stamp, "op": op, "bindings": _bindings(row)}
            elif isinstance(row, bool):
                yield {"query": query, "at": stamp, "op": op, "boolean": row}


def stream_lines(update: Update) -> Iterator[str]:
    """The triples that an update of a CONSTRUCT query adds, as lines of a ``.tnq`` stream file."""
    for row in update.added:
        if isinstance(row, tuple):
            yield f"{update.at // 1000}\t{row[0]} {row[1]} {row[2]} .\n"


def _bindings(row: dict[str, Term]) -> dict[str, dict[str, str]]:
    return {name: json_term(term) for name, term in row.items()}
