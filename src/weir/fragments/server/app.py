"""The fragments server as a plain ASGI application: mount it anywhere, or serve it alone.

``/`` lists the data sets, ``/NAME`` holds the fragments of one. Nothing is remembered of a client.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Iterable
from urllib.parse import parse_qsl, unquote

from starlette.types import Receive, Scope, Send

from weir.errors import DataError, UsageError
from weir.fragments.protocol.annotation import TripleText
from weir.fragments.protocol.controls import DATASET, MEMBER, TITLE
from weir.fragments.server.dataset import Dataset, Limits
from weir.fragments.server.metadata import Metadata
from weir.fragments.server.publish import end_document, push_document
from weir.fragments.server.request import TooLarge, safe
from weir.fragments.server.responses import CORS, HOST, Responder, Response, failure, understands_gzip
from weir.fragments.server.serialize import HTML, index_page, media_type_for, write_document
from weir.linked.http import WallClock
from weir.rdf.terms import RDF, Literal

_PREFLIGHT = [
    *CORS,
    (b"access-control-allow-methods", b"GET, HEAD, OPTIONS, POST, DELETE"),
    (b"access-control-allow-headers", b"Accept, Authorization, Content-Type, If-None-Match"),
    (b"access-control-max-age", b"86400"),
    (b"content-length", b"0"),
]


class FragmentsApp:
    """``push`` is False (nobody may push), True (anybody may) or a bearer token.

    ``base`` is the public address of the mount point; without it the Host header is believed.
    """

    def __init__(
        self,
        datasets: Iterable[Dataset] = (),
        *,
        push: bool | str = False,
        base: str | None = None,
        title: str = "Weir fragments",
        static_age: int = 3600,
        clock: Callable[[], int] = WallClock.now,
        limits: Limits | None = None,
    ) -> None:
        self.datasets: dict[str, Dataset] = {}
        for dataset in datasets:
            self.add(dataset)
        self.push = push
        self.base = base.rstrip("/") if base else None
        self.title = title
        self.clock = clock
        self.limits = limits or Limits()
        self.responder = Responder(clock, static_age=static_age, cache_bytes=self.limits.cache_bytes)

    def add(self, dataset: Dataset) -> Dataset:
        """Publish one more data set."""
        if dataset.name in self.datasets:
            raise UsageError(f"there is a data set named {dataset.name!r} already")
        self.datasets[dataset.name] = dataset
        return dataset

    def remove(self, name: str) -> None:
        """Take a data set down."""
        if self.datasets.pop(name, None) is None:
            raise UsageError(f"there is no data set named {name!r}")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise UsageError(f"fragments are served over HTTP, not {scope['type']}")
        headers = dict(scope["headers"])
        mount = scope.get("root_path", "")
        path = scope["path"].removeprefix(mount)
        query = safe(scope["query_string"].decode("latin-1"))
        base = self.base_of(scope["scheme"], headers.get(b"host", b""), mount)
        method = scope["method"]
        if method == "OPTIONS":
            await send({"type": "http.response.start", "status": 204, "headers": _PREFLIGHT})
            await send({"type": "http.response.body", "body": b""})
            return
        if base is None:
            response = failure(400, "the Host header is malformed")
        elif method in ("GET", "HEAD"):
            response = self.get(base, path, query, headers.get(b"accept", b"").decode("latin-1"))
        elif method in ("POST", "DELETE"):
            response = await self._change(method, base, path, query, headers, receive)
        else:
            response = failure(405, f"the method {method[:20]} is not allowed")
        tags = headers.get(b"if-none-match") if method in ("GET", "HEAD") else None
        packs = understands_gzip(headers.get(b"accept-encoding", b""))
        sent, body = response.reply(self.clock(), tags, packs)
        fields = sent.headers
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
        return f"{scheme}://{name}{mount}" if HOST.fullmatch(name) else None

    def get(self, base: str, path: str, query: str, accept: str) -> Response:
        """The response to a GET, from the cache where it can be; the query string must be ``safe``."""
        name = path.strip("/")
        if not name:
            return self._index(base, accept)
        dataset = self.datasets.get(name) or self.datasets.get(unquote(name))
        if dataset is None:
            return failure(404, f"there is no data set named {name[:80]!r}")
        return self.responder.respond(dataset, base, query, accept)

    def _index(self, base: str, accept: str) -> Response:
        media_type = media_type_for(accept)
        if media_type is None:
            return failure(406, "none of the RDF syntaxes nor HTML is acceptable")
        sets = list(self.datasets.values())
        if media_type == HTML:
            listed = [(f"{base}/{one.name}", one.title, one.description) for one in sets]
            return Response(200, HTML, index_page(self.title, listed).encode())
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
        self, method: str, base: str, path: str, query: str, headers: dict[bytes, bytes], receive: Receive
    ) -> Response:
        dataset = self.datasets.get(path.strip("/"))
        if dataset is None:
            return failure(404, "there is no such data set")
        if self.push is False:
            return failure(403, "this server takes no facts")
        if isinstance(self.push, str):
            given = headers.get(b"authorization", b"")
            if not hmac.compare_digest(given, b"Bearer " + self.push.encode()):
                return failure(401, "the bearer token is missing or wrong")
        try:
            body = await _body(receive, headers, dataset.limits.push_bytes)
            media_type = headers.get(b"content-type", b"").decode("latin-1").partition(";")[0].strip().lower()
            address = f"{base}/{dataset.name}"
            now = self.clock()
            if method == "DELETE":
                report = {"ended": end_document(dataset, body, media_type, address, now)}
            else:
                options = dict(parse_qsl(query, keep_blank_values=True))
                report = push_document(dataset, body, media_type, options, address, now)
        except TooLarge as error:
            return failure(error.status, str(error))
        except (UsageError, DataError) as error:
            return failure(400, str(error))
        return Response(200, "application/json", json.dumps(report).encode())


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
