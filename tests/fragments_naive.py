"""A fragments server as simple as can be, without Weir's extensions, that can be made to misbehave."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from urllib.parse import parse_qsl, urlencode

from weir.fragments.protocol.annotation import Quad
from weir.fragments.protocol.controls import HYDRA, SD, VOID, text_of
from weir.rdf.terms import RDF, XSD

PLACES = ("subject", "predicate", "object", "graph")


class NaiveServer:
    """An ASGI application. Attributes change what it says: counts, links, bodies, delays."""

    def __init__(
        self, quads: Callable[[], Iterable[Quad]], page_size: int = 3, *, graphs: bool = True
    ) -> None:
        self.quads = quads
        self.page_size = page_size
        self.graphs = graphs
        self.requests: list[str] = []
        self.count: Callable[[int], str] = str
        self.following: Callable[[int, bool], int | None] = lambda page, more: page + 1 if more else None
        self.body: Callable[[str], str] = lambda text: text
        self.status: Callable[[int], int] = lambda number: 200
        self.headers: dict[str, str] = {}
        self.media_type = "application/n-quads"
        self.form = True
        self.extra: list[str] = []

    async def __call__(self, scope, receive, send) -> None:  # type: ignore[no-untyped-def]
        if scope["type"] != "http":
            return
        query = scope["query_string"].decode()
        host = dict(scope["headers"])[b"host"].decode()
        dataset = f"http://{host}{scope['path']}"
        self.requests.append(query)
        status = self.status(len(self.requests))
        body = self.body(self.page(dataset, query)).encode()
        headers = {"content-type": self.media_type, **self.headers}
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": raw})
        await send({"type": "http.response.body", "body": body})

    def page(self, dataset: str, query: str) -> str:
        fields = dict(parse_qsl(query))
        page = int(fields.pop("page", "1"))
        wanted = [None if (v := fields.get(name)) is None else text_of(v) for name in PLACES]
        if fields.get("graph") == "urn:ldf:defaultGraph":
            wanted[3] = ""
        found = [
            quad
            for quad in self.quads()
            if all(not isinstance(w, str) or w == part for w, part in zip(wanted, quad, strict=True))
        ]
        shown = found[(page - 1) * self.page_size : page * self.page_size]
        here = f"{dataset}?{query}" if query else dataset
        fragment = f"{dataset}?{urlencode(fields)}" if fields else dataset
        meta = f"<{fragment}#metadata>"
        names = PLACES if self.graphs else PLACES[:3]
        lines = [
            f"{meta} <http://xmlns.com/foaf/0.1/primaryTopic> <{here}> {meta} .",
            f"<{dataset}#dataset> <{VOID}subset> <{here}> {meta} .",
            f'<{here}> <{HYDRA}totalItems> "{self.count(len(found))}"^^<{XSD}integer> {meta} .',
            f'<{here}> <{HYDRA}itemsPerPage> "{self.page_size}"^^<{XSD}integer> {meta} .',
        ]
        if self.form:
            lines += [
                f"<{dataset}#dataset> <{HYDRA}search> _:form {meta} .",
                f'_:form <{HYDRA}template> "{dataset}{{?{",".join(names)}}}" {meta} .',
            ]
            for name in names:
                meaning = SD + "graph" if name == "graph" else RDF + name
                lines += [
                    f"_:form <{HYDRA}mapping> _:{name} {meta} .",
                    f'_:{name} <{HYDRA}variable> "{name}" {meta} .',
                    f"_:{name} <{HYDRA}property> <{meaning}> {meta} .",
                ]
        following = self.following(page, page * self.page_size < len(found))
        if following is not None:
            address = f"{dataset}?{urlencode({**fields, 'page': following})}"
            lines.append(f"<{here}> <{HYDRA}next> <{address}> {meta} .")
        lines += [f"{s} {p} {o} {g} ." if g else f"{s} {p} {o} ." for s, p, o, g in shown]
        return "\n".join(lines + self.extra) + "\n"
