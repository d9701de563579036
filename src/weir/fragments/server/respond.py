"""Requests to responses, without a server: negotiation, selection, caching.

A response is cached under what was asked, with the version of the facts it depends on and the time up to
which it holds; one look-up tells whether it can be sent again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache

from weir.errors import UsageError
from weir.fragments.protocol.annotation import FOREVER, Quad
from weir.fragments.server.dataset import Dataset, Selection
from weir.fragments.server.formats import HTML, OFFERED, WITH_GRAPHS, negotiate
from weir.fragments.server.html import fragment_page
from weir.fragments.server.metadata import Described
from weir.fragments.server.request import FragmentRequest, TooLarge, parse_request
from weir.fragments.server.response import SECOND, Response, failure
from weir.fragments.server.templates import Templates

_SETTLED = 60 * SECOND


class Responder:
    """Answers GET for fragments of one data set after the other; holds the cache they share."""

    def __init__(self, clock: Callable[[], int], *, static_age: int, cache_bytes: int) -> None:
        self.clock = clock
        self.static_age = static_age * SECOND
        self.cache_bytes = cache_bytes
        self.templates = Templates()
        self._cache: OrderedDict[tuple[str, str, str], Response] = OrderedDict()
        self._held = 0
        self.counters = {"requests": 0, "hits": 0}

    def respond(self, dataset: Dataset, index: str, address: str, query: str, accept: str) -> Response:
        """The page of ``dataset`` that lies at ``address`` for a query string."""
        now = self.clock()
        self.counters["requests"] += 1
        key = (address, query, accept)
        cached = self._cache.get(key)
        if cached is not None:
            if cached.dataset is dataset and cached.current(now):
                self._cache.move_to_end(key)
                self.counters["hits"] += 1
                return cached
            self._drop(key)
        media_type = negotiate(accept)
        if media_type is None:
            return failure(406, "none of the RDF syntaxes nor HTML is acceptable")
        try:
            request = parse_request(query, dataset, now)
            response = self._make(dataset, request, index, address, media_type, now)
        except TooLarge as error:
            return failure(error.status, str(error))
        except UsageError as error:
            return failure(400, str(error))
        if response.status == 200:
            self._keep(key, response)
        return response

    def _make(
        self,
        dataset: Dataset,
        request: FragmentRequest,
        index: str,
        address: str,
        media_type: str,
        now: int,
    ) -> Response:
        predicate, fixed = request.predicate, request.fixed
        with dataset.lock:
            version = dataset.version(predicate)
            selection = dataset.select(request.patterns, now, request.instant, address)
            total = selection.total
            labels: list[Quad] = []
            offset = (request.page - 1) * dataset.page_size
            if request.overlapping:
                distinct = _distinct(selection, dataset.limits.overlap)
                total, data = len(distinct), distinct[offset : offset + dataset.page_size]
            else:
                data = selection.page(offset, dataset.page_size)
                if dataset.store.segments and media_type in WITH_GRAPHS:
                    labels = selection.labels(offset, dataset.page_size)
        if request.page > 1 and not data:
            return failure(404, f"no such page: {request.page}")
        changes = selection.changes
        about = Described(
            request, index, address, dataset.title, dataset.annotation, total, dataset.page_size, changes
        )
        if media_type == HTML:
            pieces: tuple[bytes, ...] = (fragment_page(about, data).encode("utf-8", "replace"),)
        else:
            pieces = self.templates.write(dataset, media_type, about, data, labels)
        response = Response(200, media_type, pieces, etag(dataset.nonce, media_type, version, changes))
        response.dataset, response.predicate, response.version = dataset, predicate, version
        response.size = sum(map(len, pieces))
        if not version[1] or not dataset.dynamic(request.patterns, predicate, address):
            response.age = self.static_age
        elif not fixed:
            response.until = changes if changes < FOREVER else None
        elif request.instant is not None and request.instant < now - _SETTLED:
            response.age = _SETTLED
        if not fixed:
            response.holds = changes
        return response

    def _keep(self, key: tuple[str, str, str], response: Response) -> None:
        size = _size(key, response)
        if size > self.cache_bytes // 8:
            return
        self._cache[key] = response
        self._held += size
        while self._held > self.cache_bytes:
            self._drop(next(iter(self._cache)))

    def _drop(self, key: tuple[str, str, str]) -> None:
        self._held -= _size(key, self._cache.pop(key))


@lru_cache(maxsize=1024)
def etag(nonce: bytes, media_type: str, version: tuple[int, int], changes: int) -> bytes:
    """A tag of all that the body at one address depends on: the syntax, the facts' version, and between
    which of their boundaries the present lies (that is told by the next one)."""
    return b'"%s-%d-%x-%x-%x"' % (nonce, OFFERED.index(media_type), *version, changes % 2**64)


def _size(key: tuple[str, str, str], response: Response) -> int:
    return response.size + sum(map(len, key)) + 600


def _distinct(selection: Selection, most: int) -> list[Quad]:
    if selection.total > most:
        raise TooLarge(f"more than {most} quads match bindings that overlap")
    return list(dict.fromkeys(selection.page(0, most)))
