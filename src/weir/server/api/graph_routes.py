"""Static graphs over HTTP: load, update, list; and SPARQL 1.1 Protocol queries over them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from weir.errors import UsageError, WeirError
from weir.kernel.contract import Background, GraphTable
from weir.language import parse
from weir.language.algebra.query import Ask, Select
from weir.linked.graphs import RemoteGraph
from weir.linked.graphs.graph_files import TYPES, fetch
from weir.linked.graphs.large_scans import LARGE
from weir.linked.graphs.triple_tables import DEFAULT
from weir.linked.http.allowed_hosts import Forbidden
from weir.linked.http.headers import media_type as media_type_of
from weir.runtime.control.graph_updates import minus
from weir.server.api.access import ADMIN, READ, WRITE, Body, Here, Threads, changing, chosen
from weir.server.api.models import PROBLEMS, Graph, Graphs, GraphUrl, Id, IriText, Updated, described_body
from weir.server.drawing import services_of
from weir.server.problems import Problem
from weir.server.resources import slug
from weir.server.service import Service
from weir.server.sparql_process import GRAPHS, SOLUTIONS, Overdue, over, present, task_of

router = APIRouter(tags=["graphs"], responses=PROBLEMS)
_FORM = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
_RDF = described_body(*TYPES, **{"application/json": GraphUrl.model_json_schema()})
_UPDATE = described_body("application/sparql-update")
_ASKED = described_body("application/sparql-query", **{"application/x-www-form-urlencoded": _FORM})
_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"description": "The answer", "content": {each: {} for each in (*SOLUTIONS, *GRAPHS)}}
}
Iri = Annotated[IriText | None, Query(description="The IRI of a graph that is new.")]
When = Annotated[str | None, Query(max_length=40, description="From when on it counts: an xsd:dateTime.")]


def _names(service: Service) -> dict[str, str | None]:
    """The graphs by id; the default graph is None."""
    extractor = service.job.graphs.extractor
    found: dict[str, str | None] = {"default": None}
    if extractor is not None:
        found |= {_id(service, name): name for name in extractor.graphs.names()}
    return found


def _id(service: Service, iri: str) -> str:
    """The id under which a graph was made, or else that of its IRI."""
    return str(service.records.get("graphs", iri).get("id") or slug(iri))


def _graph(service: Service, id: str, iri: str | None) -> str | None:
    known = _names(service)
    if id in known:
        return known[id]
    made = iri or f"urn:weir:graph:{id}"
    if made in known.values():
        raise Problem(409, f"the graph <{made}> has another id", f"it is {_id(service, made)!r}")
    if _id(service, made) != id:
        service.records.put("graphs", made, {"id": id})
    return made


@router.get("/api/graphs", dependencies=[Depends(READ)])
def list_graphs(service: Here) -> Graphs:
    """The static graphs with their sizes; the default graph has no IRI. A graph has the id under which it was
    made."""
    names = _names(service)
    return Graphs(graphs=[Graph(id=id, iri=iri, triples=_size(service, iri)) for id, iri in names.items()])


def _size(service: Service, iri: str | None) -> int:
    """How many triples a graph has; counted once after each update that touches it, unless it is large."""
    extractor = service.job.graphs.extractor
    if extractor is None:
        return 0
    graphs, name = extractor.graphs, iri or DEFAULT
    known = graphs.size(name)
    if known is not None:
        return known
    base = graphs.source.size(name)
    if base > LARGE:
        return base
    number, size = service.sizes.get(name, (-1, 0))
    if number != graphs.delta.number:
        with extractor.lock:
            number, found = graphs.delta.number, _whole(service, iri)
        table = found.default if iri is None else found.named.get(iri, GraphTable.empty())
        size = len(table.subject)
        service.sizes[name] = number, size
    return size


@router.post("/api/graphs/update", dependencies=[Depends(WRITE)], openapi_extra=_UPDATE)
@changing
def update_graphs(service: Here, request: Request, body: Body, at: When = None) -> Updated:
    """SPARQL Update: INSERT DATA and DELETE DATA. It is an evaluation time under TICK CHANGE."""
    _expect(request, "application/sparql-update")
    text = _text(body)
    return Updated(update=service.running.update(text, moment(at)))


@router.post("/api/graphs/{id}", dependencies=[Depends(WRITE)], openapi_extra=_RDF)
@changing
def add_to_graph(
    service: Here, id: Id, request: Request, body: Body, iri: Iri = None, at: When = None
) -> Updated:
    """Add triples to a graph, from the body or from an allowed URL."""
    with _document(service, id, request, body) as path:
        return Updated(update=service.running.insert(_graph(service, id, iri), path, moment(at)))


@router.put("/api/graphs/{id}", dependencies=[Depends(WRITE)], openapi_extra=_RDF)
@changing
def replace_graph(service: Here, id: Id, request: Request, body: Body, iri: Iri = None) -> Updated:
    """Replace a graph's triples by those of the body or of an allowed URL."""
    with _document(service, id, request, body) as path, service.job.graphs.lock:
        graph = _graph(service, id, iri)
        new = _extractor(service).file(graph, path)
        old = _whole(service, graph)
        return Updated(update=service.running.graphs.replace(minus(new, old), minus(old, new)))


@router.delete("/api/graphs/{id}", dependencies=[Depends(ADMIN)])
@changing
def clear_graph(service: Here, id: Id) -> Updated:
    """Remove all triples of a graph."""
    known = _names(service)
    if id not in known:
        raise Problem(404, "there is no such graph", f"none has the id {id!r}")
    return Updated(update=service.running.graphs.replace(Background(), _whole(service, known[id])))


@contextmanager
def _document(service: Service, id: str, request: Request, body: bytes) -> Iterator[Path]:
    """The document of a request, or the one whose URL it has, as a file whose ending says its format."""
    media_type = media_type_of(request.headers)
    with tempfile.TemporaryDirectory(prefix="weir-graph-") as folder:
        if media_type == "application/json":
            yield _fetched(service, _url_in(body), Path(folder))
        elif media_type in TYPES:
            path = Path(folder) / f"{slug(id)}{TYPES[media_type]}"
            path.write_bytes(body)
            yield path
        else:
            kind = media_type[:80] or "none"
            raise Problem(415, f"unknown type of graphs: {kind}", f"known: {', '.join(TYPES)}")


def _url_in(body: bytes) -> str:
    try:
        return GraphUrl.model_validate_json(body).url
    except ValidationError as error:
        told = [{**each, "loc": ("body", *each["loc"])} for each in error.errors()]
        raise RequestValidationError(told) from None


def _fetched(service: Service, url: str, folder: Path) -> Path:
    """A document fetched on behalf of a client; a host that is not allowed is a 403."""
    limits = service.settings.limits
    try:
        service.settings.allowed.check(url)
        graph = RemoteGraph(url, timeout=limits.fetch, max_bytes=limits.fetch_bytes)
        return fetch(graph, folder, service.settings.allowed)
    except WeirError as error:
        status = 403 if isinstance(error, Forbidden) else 422
        raise Problem(status, error.primary, error.detail, hint=error.hint) from None


def _whole(service: Service, graph: str | None) -> Background:
    """All triples of a graph as it stands."""
    pattern = "{ ?s ?p ?o }" if graph is None else f"{{ GRAPH <{graph}> {{ ?s ?p ?o }} }}"
    with _extractor(service).lock:
        return present(_extractor(service).graphs, parse(f"SELECT * {pattern}", dialect="sparql"))


def _extractor(service: Service) -> Any:
    """What holds the graphs of a running job."""
    extractor = service.job.graphs.extractor
    assert extractor is not None
    return extractor


def moment(at: str | None) -> int | str | None:
    """Microseconds where milliseconds are given; other texts are left to the job."""
    return int(at) * 1000 if at is not None and at.isdigit() and len(at) < 15 else at


@router.get("/sparql", dependencies=[Depends(READ)], response_class=Response, responses=_ANSWERS)
async def sparql_get(
    service: Here, lanes: Threads, request: Request, query: Annotated[str, Query()]
) -> Response:
    """A SPARQL 1.1 query over the static graphs as they stand (SPARQL 1.1 Protocol)."""
    return await lanes.sparql.run(_ask, service, request, query, {})


@router.post(
    "/sparql",
    dependencies=[Depends(READ)],
    response_class=Response,
    responses=_ANSWERS,
    openapi_extra=_ASKED,
)
async def sparql_post(service: Here, lanes: Threads, request: Request, body: Body) -> Response:
    """The same by POST: the query as the body, or as a form."""
    return await lanes.sparql.run(_ask_body, service, request, body)


def _ask_body(service: Service, request: Request, body: bytes) -> Response:
    if media_type_of(request.headers) == "application/x-www-form-urlencoded":
        form = parse_qs(_text(body), keep_blank_values=True, max_num_fields=100)
        if len(form.get("query", ())) != 1:
            raise Problem(400, "the form has no query")
        return _ask(service, request, form["query"][0], form)
    _expect(request, "application/sparql-query")
    return _ask(service, request, _text(body), {})


def _ask(service: Service, request: Request, text: str, form: dict[str, list[str]]) -> Response:
    """The answer to a query; the parameters of the protocol are those of the address and of a form."""
    if len(text) > service.settings.limits.query_text:
        raise Problem(413, "the query is too long")
    given = {**parse_qs(request.url.query, keep_blank_values=True), **form}
    query = parse(text, dialect="sparql")
    query = over(query, given.get("default-graph-uri", []), given.get("named-graph-uri", []))
    if services_of(query.pattern):
        raise Problem(403, "SERVICE is not followed here", "register a continuous query instead")
    media_type = chosen(request, SOLUTIONS if isinstance(query.form, (Select, Ask)) else GRAPHS)
    try:
        with _extractor(service).lock:
            task = task_of(_extractor(service).graphs, query, media_type)
        return Response(service.sparql.ask(task), media_type=media_type)
    except Overdue as error:
        raise Problem(503, error.primary, hint=error.hint, headers={"Retry-After": "5"}) from None


def _expect(request: Request, media_type: str) -> None:
    given = media_type_of(request.headers)
    if given != media_type:
        raise Problem(415, f"the body has to be {media_type}", f"it is {given[:80] or 'not said what'}")


def _text(body: bytes) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError("the body is not UTF-8") from None
