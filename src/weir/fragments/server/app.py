"""The fragments server as a plain ASGI application: mount it anywhere, or serve it alone.

``/`` lists the data sets, ``/NAME`` holds the fragments of one, ``/NAME/ldes`` its event stream, and
``/NAME/withdrawals`` events of facts that are taken back. Nothing is remembered of a client.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from urllib.parse import parse_qsl, unquote

from starlette.types import Receive, Scope, Send

from weir.errors import DataError, StorageError, UsageError
from weir.fragments.protocol.annotation import TripleText
from weir.fragments.protocol.controls import DATASET, MEMBER, TITLE
from weir.fragments.server.dataset import Dataset, Limits
from weir.fragments.server.ldes_view import STREAM, event_stream
from weir.fragments.server.metadata import Metadata
from weir.fragments.server.publish import end_document, push_document
from weir.fragments.server.request import TooLarge, safe
from weir.fragments.server.responses import CORS, HOST, Responder, Response, failure, understands_gzip
from weir.fragments.server.serialize import HTML, index_page, media_type_for, write_document
from weir.fragments.server.withdrawals import WITHDRAWALS, send_withdrawals
from weir.linked.http import WallClock
from weir.linked.serving.admission import host_name, is_loopback, same_secret
from weir.rdf.terms import RDF, Literal

_PREFLIGHT = [
    *CORS,
    (b"access-control-allow-methods", b"GET, HEAD, OPTIONS, POST, DELETE"),
    (b"access-control-allow-headers", b"Accept, Authorization, Content-Type, If-None-Match"),
    (b"access-control-max-age", b"86400"),
    (b"content-length", b"0"),
]


ADMITTED = "weir.admitted"
"""The key of a scope under which a server around this one says that it may change something."""


class FragmentsApp:
    """``push`` is False (nobody may push), True (anybody may) or a bearer token; pages of other sites never.

    ``base`` is the public address of the mount point; without it the Host header is believed, where ``local``
    only if it names this machine. ``cors`` lets pages of other sites read, as fragments on the web do.
    """

    def __init__(
        self,
        datasets: Iterable[Dataset] = (),
        *,
        push: bool | str = False,
        base: str | None = None,
        local: bool = False,
        cors: bool = True,
        clock: Callable[[], int] = WallClock.now,
        limits: Limits | None = None,
    ) -> None:
        self.datasets: dict[str, Dataset] = {}
        for dataset in datasets:
            self.add(dataset)
        self.push = push
        self.base = base.rstrip("/") if base else None
        self.local = local
        self.cors = cors
        self.clock = clock
        self.limits = limits or Limits()
        self.responder = Responder(clock, self.limits.cache_bytes)
        self.listening = 0

    def add(self, dataset: Dataset) -> Dataset:
        """Publish one more data set."""
        if dataset.name in self.datasets:
            raise UsageError(f"there is a data set named {dataset.name!r} already")
        self.datasets[dataset.name] = dataset
        return dataset

    def remove(self, name: str) -> Dataset:
        """Take a data set down."""
        dataset = self.datasets.pop(name, None)
        if dataset is None:
            raise UsageError(f"there is no data set named {name!r}")
        return dataset

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise UsageError(f"fragments are served over HTTP, not {scope['type']}")
        headers = dict(scope["headers"])
        mount = scope.get("root_path", "")
        path = scope["path"].removeprefix(mount)
        query = safe(scope["query_string"].decode("latin-1"))
        base = self.base_of(scope["scheme"], headers.get(b"host", b""), mount)
        method = scope["method"]
        if method == "OPTIONS" and self.cors:
            await send({"type": "http.response.start", "status": 204, "headers": _PREFLIGHT})
            await send({"type": "http.response.body", "body": b""})
            return
        if method == "GET" and base is not None and path.endswith(f"/{WITHDRAWALS}"):
            told = self.datasets.get(path.strip("/").removesuffix(f"/{WITHDRAWALS}"))
            if told is not None and self.listening < self.limits.listeners:
                self.listening += 1
                try:
                    await send_withdrawals(told, receive, send, CORS if self.cors else ())
                finally:
                    self.listening -= 1
                return
        if base is None:
            response = failure(400, "the Host header is malformed, or not a name of this machine")
        elif method in ("GET", "HEAD"):
            response = self.get(base, path, query, headers.get(b"accept", b"").decode("latin-1"))
        elif method in ("POST", "DELETE"):
            admitted = bool(scope.get(ADMITTED))
            response = await self._change(method, base, path, query, headers, receive, admitted)
        else:
            response = failure(405, f"the method {method[:20]} is not allowed")
        tags = headers.get(b"if-none-match") if method in ("GET", "HEAD") else None
        packs = understands_gzip(headers.get(b"accept-encoding", b""))
        sent, body = response.reply(self.clock(), tags, packs)
        fields = [each for each in sent.headers if self.cors or not each[0].startswith(b"access-control-")]
        if sent.status != 304:
            fields.append((b"content-length", b"%d" % len(body)))
        if sent.status in (401, 405):
            unknown = sent.status == 401
            fields.append((b"www-authenticate", b"Bearer") if unknown else (b"allow", b"GET, HEAD, OPTIONS"))
        await send({"type": "http.response.start", "status": sent.status, "headers": fields})
        await send({"type": "http.response.body", "body": b"" if method == "HEAD" else body})

    def base_of(self, scheme: str, host: bytes, mount: str) -> str | None:
        """The address of the mount point; None where the Host header cannot be believed."""
        if self.base is not None:
            return self.base
        name = host.decode("latin-1")
        believed = HOST.fullmatch(name) and (not self.local or is_loopback(host_name(name)))
        return f"{scheme}://{name}{mount}" if believed else None

    def get(self, base: str, path: str, query: str, accept: str) -> Response:
        """The response to a GET, from the cache where it can be; the query string must be ``safe``."""
        name, _, rest = path.strip("/").partition("/")
        if not name:
            return self._index(base, accept)
        dataset = self.datasets.get(name) or self.datasets.get(unquote(name))
        if dataset is None:
            return failure(404, f"there is no data set named {name[:80]!r}")
        if rest:
            kind, _, page = rest.partition("/")
            if kind == WITHDRAWALS:
                return failure(503, "too many clients listen already")
            if kind != STREAM:
                return failure(404, f"a data set has nothing named {rest[:80]!r}")
            return event_stream(dataset, base, page, accept)
        return self.responder.respond(dataset, base, query, accept)

    def _index(self, base: str, accept: str) -> Response:
        media_type = media_type_for(accept)
        if media_type is None:
            return failure(406, "none of the RDF syntaxes nor HTML is acceptable")
        sets = list(self.datasets.values())
        if media_type == HTML:
            listed = [(f"{base}/{one.name}", one.title) for one in sets]
            return Response(200, HTML, index_page(listed).encode())
        triples: list[TripleText] = [(f"<{base}/#dataset>", f"<{RDF}type>", DATASET)]
        for one in sets:
            source = f"<{base}/{one.name}#dataset>"
            triples += [
                (f"<{base}/#dataset>", MEMBER, source),
                (source, f"<{RDF}type>", DATASET),
                (source, TITLE, str(Literal.tagged(one.title, "en"))),
            ]
        document = write_document(media_type, [], Metadata(f"<{base}/#metadata>", triples))
        return Response(200, media_type, document)

    async def _change(
        self,
        method: str,
        base: str,
        path: str,
        query: str,
        headers: dict[bytes, bytes],
        receive: Receive,
        admitted: bool,
    ) -> Response:
        dataset = self.datasets.get(path.strip("/"))
        if dataset is None:
            return failure(404, "there is no such data set")
        if not admitted and (refused := self._refused(headers)) is not None:
            return refused
        try:
            body = await _body(receive, headers, dataset.limits.push_bytes)
            media_type = headers.get(b"content-type", b"").decode("latin-1").partition(";")[0].strip().lower()
            address = f"{base}/{dataset.name}"
            now = self.clock()
            if method == "DELETE":
                ended = await asyncio.to_thread(end_document, dataset, body, media_type, address, now)
                report = {"ended": ended}
            else:
                options = dict(parse_qsl(query, keep_blank_values=True))
                report = await asyncio.to_thread(
                    push_document, dataset, body, media_type, options, address, now
                )
        except TooLarge as error:
            return failure(error.status, str(error))
        except (UsageError, DataError) as error:
            return failure(400, str(error))
        except StorageError as error:
            return failure(503, f"the facts could not be kept: {error.primary}")
        return Response(200, "application/json", json.dumps(report).encode())

    def _refused(self, headers: dict[bytes, bytes]) -> Response | None:
        """Why who asks may not change anything; None if it may."""
        if self.push is False:
            return failure(403, "this server takes no facts")
        origin = headers.get(b"origin")
        if origin is not None and origin.partition(b"://")[2] != headers.get(b"host"):
            return failure(403, "another page may not change anything here")
        given = headers.get(b"authorization", b"").decode("latin-1")
        if isinstance(self.push, str) and not same_secret(given, f"Bearer {self.push}"):
            return failure(401, "the bearer token is missing or wrong")
        return None


async def _body(receive: Receive, headers: dict[bytes, bytes], most: int) -> bytes:
    declared = headers.get(b"content-length", b"0")
    if declared.isdigit() and int(declared) > most:
        raise TooLarge(f"the document is longer than {most} bytes")
    body = bytearray()
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise UsageError("the client left before the document was complete")
        body += message.get("body", b"")
        if len(body) > most:
            raise TooLarge(f"the document is longer than {most} bytes")
        more = message.get("more_body", False)
    return bytes(body)
