"""The alternatives to polling: a server that evaluates its clients' queries and pushes results over SSE.

``shared`` evaluates each distinct query once per change and sends the outcome to all who asked for it: the
cheapest way to push the same results. ``each`` evaluates every client's query by itself, as a server must
where queries differ: the paper's C-SPARQL and CQELS. Two evaluators: pyoxigraph's store and Weir's own.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, Literal
from urllib.parse import parse_qs

import pyoxigraph as ox
from starlette.types import Receive, Scope, Send

from weir.fragments.client.evaluation import answer
from weir.fragments.protocol.annotation import Quad
from weir.fragments.server import FragmentsApp
from weir.language import Query, parse
from weir.rdf.terms import json_term

Evaluator = Literal["oxigraph", "weir"]


class PushingApp:
    """A fragments application that also takes subscriptions at ``/subscribe?query=…``.

    Facts are pushed to it as to the fragments application. It evaluates when they change, not when they
    expire, so their lifetimes must touch.
    """

    def __init__(self, app: FragmentsApp, evaluator: Evaluator, *, shared: bool) -> None:
        self.app = app
        self.evaluator = evaluator
        self.shared = shared
        self.clients: list[tuple[str, Query, asyncio.Queue[bytes]]] = []
        self.evaluations = 0
        (self.dataset,) = app.datasets.values()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == "/subscribe":
            await self._subscribe(scope, receive, send)
        else:
            await self.app(scope, receive, send)
            if scope["type"] == "http" and scope["method"] == "POST":
                self._changed()

    async def _subscribe(self, scope: Scope, receive: Receive, send: Send) -> None:
        text = parse_qs(scope["query_string"].decode())["query"][0]
        client = (text, parse(text, dialect="sparql"), asyncio.Queue[bytes]())
        self.clients.append(client)
        headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        client[2].put_nowait(self._evaluate(client[0], client[1], self._facts()))
        left = asyncio.ensure_future(receive())
        try:
            while True:
                event = asyncio.ensure_future(client[2].get())
                done, _ = await asyncio.wait({event, left}, return_when=asyncio.FIRST_COMPLETED)
                if left in done and left.result()["type"] == "http.disconnect":
                    event.cancel()
                    return
                if left in done:
                    left = asyncio.ensure_future(receive())
                body = b"data: " + await event + b"\n\n"
                await send({"type": "http.response.body", "body": body, "more_body": True})
        finally:
            left.cancel()
            self.clients.remove(client)

    def _facts(self) -> list[Quad]:
        """The graph as it is now."""
        now = self.app.clock()
        run = self.dataset.static.find((None, None, None, None))
        quads = [] if run is None else self.dataset.static.slice(run, 0, run.high)
        for segment in self.dataset.store.upcoming(now):
            quads += [(*fact.triple, "") for fact in segment.facts() if fact.start <= now < fact.end]
        return quads

    def _changed(self) -> None:
        if not self.clients:
            return
        facts = self._facts()
        evaluate = self._evaluator(facts)
        results: dict[str, bytes] = {}
        for text, query, queue in self.clients:
            if self.shared:
                if text not in results:
                    results[text] = evaluate(text, query)
                queue.put_nowait(results[text])
            else:
                queue.put_nowait(evaluate(text, query))

    def _evaluate(self, text: str, query: Query, facts: list[Quad]) -> bytes:
        return self._evaluator(facts)(text, query)

    def _evaluator(self, facts: list[Quad]) -> Callable[[str, Query], bytes]:
        if self.evaluator == "weir":

            def by_weir(text: str, query: Query) -> bytes:
                self.evaluations += 1
                rows: list[Any] = answer(query, facts, self.app.clock())
                return json.dumps([{n: json_term(t) for n, t in row.items()} for row in rows]).encode()

            return by_weir
        store = ox.Store()
        lines = "".join(f"{s} {p} {o} .\n" for s, p, o, _ in facts)
        store.load(lines.encode(), format=ox.RdfFormat.N_TRIPLES)

        def by_oxigraph(text: str, query: Query) -> bytes:
            self.evaluations += 1
            found = store.query(text)
            assert isinstance(found, ox.QuerySolutions)
            return found.serialize(format=ox.QueryResultsFormat.JSON) or b""

        return by_oxigraph
