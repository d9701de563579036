"""Static graphs over HTTP: load, update, list; and SPARQL 1.1 Protocol queries over them."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from weir.errors import UsageError, WeirError
from weir.kernel.contract import Background
from weir.language import parse
from weir.language.algebra.query import Ask, Select
from weir.linked.graphs import RemoteGraph
from weir.linked.graphs.remote_graph import TYPES, fetch
from weir.linked.http.allowed_hosts import Forbidden
from weir.runtime.control.refresh import minus
from weir.server.api.dependencies import ADMIN, READ, WRITE, Here, chosen
from weir.server.api.models import PROBLEMS, GraphUrl, Id, IriText, Updated, body_of, media_type_of
from weir.server.drawing import services_of
from weir.server.problems import Problem
from weir.server.resources import slug
from weir.server.service import Service
from weir.server.sparql_process import GRAPHS, SOLUTIONS, Overdue, over, present, task_of

router = APIRouter(tags=["graphs"], responses=PROBLEMS)
_FORM = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
_RDF = body_of(*TYPES, **{"application/json": GraphUrl.model_json_schema()})
_UPDATE = body_of("application/sparql-update")
_ASKED = body_of("application/sparql-query", **{"application/x-www-form-urlencoded": _FORM})
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
        found |= {slug(name): name for name in extractor.graphs.names()}
    return found


def _graph(service: Service, id: str, iri: str | None) -> str | None:
    known = _names(service)
    if id in known:
        return known[id]
    return iri or f"urn:weir:graph:{id}"


@router.get("/api/graphs", dependencies=[Depends(READ)])
def list_graphs(service: Here) -> dict[str, Any]:
    """The static graphs; the default graph has no IRI."""
    return {"graphs": [{"id": id, "iri": iri} for id, iri in _names(service).items()]}


@router.post(
    "/api/graphs/update",
    dependencies=[Depends(WRITE)],
    response_model=Updated,
    openapi_extra=_UPDATE,
)
async def update_graphs(service: Here, request: Request, at: When = None) -> Any:
    """SPARQL Update: INSERT DATA and DELETE DATA. It triggers no evaluation by itself."""
    _expect(request, "application/sparql-update")
    text = _text(await request.body())
    return Updated(update=await run_in_threadpool(service.running.update, text, moment(at)))


@router.post(
    "/api/graphs/{id}",
    dependencies=[Depends(WRITE)],
    response_model=Updated,
    openapi_extra=_RDF,
)
async def add_to_graph(service: Here, id: Id, request: Request, iri: Iri = None, at: When = None) -> Any:
    """Add triples to a graph, from the body or from an allowed URL."""
    body = await request.body()
    return Updated(update=await run_in_threadpool(_load, service, id, iri, request, body, at, False))


@router.put(
    "/api/graphs/{id}",
    dependencies=[Depends(WRITE)],
    response_model=Updated,
    openapi_extra=_RDF,
)
async def replace_graph(service: Here, id: Id, request: Request, iri: Iri = None) -> Any:
    """Replace a graph's triples by those of the body or of an allowed URL."""
    body = await request.body()
    return Updated(update=await run_in_threadpool(_load, service, id, iri, request, body, None, True))


@router.delete("/api/graphs/{id}", dependencies=[Depends(ADMIN)], response_model=Updated)
def clear_graph(service: Here, id: Id) -> Any:
    """Remove all triples of a graph."""
    known = _names(service)
    if id not in known:
        raise Problem(404, "there is no such graph", f"none has the id {id!r}")
    return Updated(update=service.running.graphs.replace(Background(), _whole(service, known[id])))


def _load(
    service: Service, id: str, iri: str | None, request: Request, body: bytes, at: str | None, whole: bool
) -> int:
    graph = _graph(service, id, iri)
    media_type = media_type_of(request)
    with tempfile.TemporaryDirectory(prefix="weir-graph-") as folder:
        if media_type == "application/json":
            url = GraphUrl.model_validate_json(body).url
            path = _fetched(service, url, Path(folder))
        elif media_type in TYPES:
            path = Path(folder) / f"{slug(id)}{TYPES[media_type]}"
            path.write_bytes(body)
        else:
            raise Problem(
                415, f"unknown type of graphs: {media_type[:80] or 'none'}", f"known: {', '.join(TYPES)}"
            )
        if not whole:
            return int(service.running.insert(graph, path, moment(at)))
        extractor = service.job.graphs.extractor
        assert extractor is not None
        with service.job.graphs.lock:
            new = extractor.file(graph, path)
            old = _whole(service, graph)
            return int(service.running.graphs.replace(minus(new, old), minus(old, new)))


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
    extractor = service.job.graphs.extractor
    assert extractor is not None
    return present(extractor.graphs, parse(f"SELECT * {pattern}", dialect="sparql"))


def moment(at: str | None) -> int | str | None:
    return int(at) * 1000 if at is not None and at.isdigit() and len(at) < 15 else at


@router.get("/sparql", dependencies=[Depends(READ)], response_class=Response, responses=_ANSWERS)
async def sparql_get(service: Here, request: Request, query: Annotated[str, Query()]) -> Response:
    """A SPARQL 1.1 query over the static graphs as they stand (SPARQL 1.1 Protocol)."""
    parameters = parse_qs(request.url.query, keep_blank_values=True)
    return await _ask(service, request, query, parameters)


@router.post(
    "/sparql",
    dependencies=[Depends(READ)],
    response_class=Response,
    responses=_ANSWERS,
    openapi_extra=_ASKED,
)
async def sparql_post(service: Here, request: Request) -> Response:
    """The same by POST: the query as the body, or as a form."""
    body = _text(await request.body())
    media_type = media_type_of(request)
    parameters = parse_qs(request.url.query, keep_blank_values=True)
    if media_type == "application/x-www-form-urlencoded":
        form = parse_qs(body, keep_blank_values=True, max_num_fields=100)
        if len(form.get("query", ())) != 1:
            raise Problem(400, "the form has no query")
        return await _ask(service, request, form["query"][0], {**parameters, **form})
    _expect(request, "application/sparql-query")
    return await _ask(service, request, body, parameters)


async def _ask(service: Service, request: Request, text: str, parameters: dict[str, list[str]]) -> Response:
    if len(text) > service.settings.limits.query_text:
        raise Problem(413, "the query is too long")
    query = parse(text, dialect="sparql")
    query = over(query, parameters.get("default-graph-uri", []), parameters.get("named-graph-uri", []))
    if services_of(query.pattern):
        raise Problem(403, "SERVICE is not followed here", "register a continuous query instead")
    solutions = isinstance(query.form, (Select, Ask))
    media_type = chosen(request, SOLUTIONS if solutions else GRAPHS)

    def work() -> bytes:
        extractor = service.job.graphs.extractor
        assert extractor is not None
        with service.job.graphs.lock:
            task = task_of(extractor.graphs, query, media_type)
        return service.sparql.ask(task)

    try:
        return Response(await run_in_threadpool(work), media_type=media_type)
    except Overdue as error:
        raise Problem(503, error.primary, hint=error.hint, headers={"Retry-After": "5"}) from None


def _expect(request: Request, media_type: str) -> None:
    given = media_type_of(request)
    if given != media_type:
        raise Problem(415, f"the body has to be {media_type}", f"it is {given[:80] or 'not said what'}")


def _text(body: bytes) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError("the body is not UTF-8") from None
