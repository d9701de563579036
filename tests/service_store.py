"""An endpoint inside the test's own process: a pyoxigraph store that answers at once and counts."""

from __future__ import annotations

from concurrent.futures import Future

import pyoxigraph

from weir.errors import RemoteError
from weir.linked.http import Gate
from weir.linked.service.config import ServiceConfig
from weir.linked.service.endpoint import Answer
from weir.linked.service.remote_query import parse_results

E = "http://e/"


class StoreLoop:
    """Stands for ``RemoteLoop``: requests are answered from ``store`` when they are made.

    ``broken`` makes them fail; while ``holding`` they are kept back until ``release``.
    """

    def __init__(self, turtle: str = "") -> None:
        self.store = pyoxigraph.Store()
        self.texts: list[str] = []
        self.broken = False
        self.holding = False
        self.valid_for: float | None = None
        self._held: list[tuple[Future[Answer], str]] = []
        self.load(turtle)

    def load(self, turtle: str) -> None:
        """Add triples; the prefix ``:`` is ``http://e/``."""
        self.store.load(f"@prefix : <{E}> . {turtle}".encode(), format=pyoxigraph.RdfFormat.TURTLE)

    def update(self, text: str) -> None:
        self.store.update(f"PREFIX : <{E}> {text}")

    def submit(
        self,
        endpoint: str,
        config: ServiceConfig,
        query: str,
        gate: Gate | None = None,
        attempts: int | None = None,
    ) -> Future[Answer]:
        self.texts.append(query)
        future: Future[Answer] = Future()
        if self.broken:
            future.set_exception(RemoteError(f"{endpoint} failed"))
        elif self.holding:
            self._held.append((future, query))
        else:
            future.set_result(self._answer(query, 0.001))
        return future

    def release(self, seconds: float = 0.001) -> None:
        """Answer what was held back, from the store as it is now."""
        held, self._held = self._held, []
        for future, query in held:
            future.set_result(self._answer(query, seconds))

    def _answer(self, query: str, seconds: float) -> Answer:
        found = self.store.query(query)
        assert isinstance(found, pyoxigraph.QuerySolutions)
        body = found.serialize(format=pyoxigraph.QueryResultsFormat.JSON)
        assert body is not None
        return Answer(parse_results(body, "application/json"), self.valid_for, seconds, 1)

    def breaker(self, endpoint: str, config: ServiceConfig) -> None:
        return None
