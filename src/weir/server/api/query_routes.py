"""Continuous queries over HTTP: register, list, explain, pause, drop, publish."""

from __future__ import annotations

import json
from collections import Counter
from typing import Annotated, Any, get_args

from fastapi import APIRouter, Depends, Response
from fastapi import Query as Param

from weir.language import parse, translate
from weir.runtime.control.registration import choice_of
from weir.runtime.control.registry import QueryInfo
from weir.runtime.output.text_columns import timestamp
from weir.server.api.access import ADMIN, READ, Here, Threads, changing
from weir.server.api.models import (
    PROBLEMS,
    Id,
    NewQuery,
    Publication,
    Published,
    Queries,
    RegisteredQuery,
    Sort,
    Status,
    Text,
    Translation,
)
from weir.server.drawing import (
    activity_of,
    counted,
    form_of,
    plan_graph,
    variables_of,
    windows_of,
)
from weir.server.resources import slug
from weir.server.service import Service, explained, facts_of

router = APIRouter(prefix="/api", tags=["queries"], responses=PROBLEMS)
_NUMERIC = ("integer", "decimal", "double", "float", "long", "int", "short", "byte")
_LOOKED_AT = 20
_COSTS = {
    "seconds": "total_seconds",
    "rows": "live_rows",
    "bytes": "bytes",
    "results": "results",
    "evaluations": "evaluations",
}
"""What queries can be sorted by, as the metrics call it."""


def query_json(service: Service, info: QueryInfo) -> RegisteredQuery:
    """A query with what is known of its running."""
    query, failure = info.query, info.failure
    told = facts_of(service.job, info.name)
    tail = service.log.tail(info.name)
    through = told.get("through")
    lag = told.get("through") and service.job.metrics.lag(info.name, info.reads)
    return RegisteredQuery(
        id=slug(info.name),
        name=info.name,
        text=info.text,
        dialect=query.dialect.value,
        evaluator=info.evaluator,
        reason=None if failure is None else failure.reason,
        paused=info.paused,
        failed=failure is not None,
        failed_at=None if failure is None or failure.at is None else timestamp(failure.at),
        since=service.records.get("queries", info.name).get("since"),
        evaluations=int(told.get("evaluations", 0)),
        results=int(told.get("results", 0)),
        seconds=float(told.get("total_seconds", 0.0)),
        batch_seconds=float(told.get("seconds", 0.0)),
        rows=int(told.get("live_rows", 0)),
        bytes=int(told.get("bytes", 0)),
        together=int(told.get("together", 1)),
        position=tail.end,
        oldest=tail.start,
        numeric=_numeric(service, info),
        variables=variables_of(query),
        form=form_of(query),
        reads=[str(each) for each in info.reads],
        output=info.output,
        published=info.name in service.sink.publishers,
        through=None if through is None else timestamp(through),
        lag=lag,
        latency=service.latency(info.reads),
        warnings=list(service.job.warnings(info.name)),
    )


def _numeric(service: Service, info: QueryInfo) -> list[str]:
    """Variables that are numbers by the query, or were in the latest results."""
    known = counted(info.query)
    seen: dict[str, bool] = {}
    for line in service.log.tail(info.name).latest(_LOOKED_AT):
        for name, value in json.loads(line).get("bindings", {}).items():
            number = value.get("datatype", "").rpartition("#")[2] in _NUMERIC
            seen[name] = seen.get(name, True) and number
    return [name for name in variables_of(info.query) if name in known or seen.get(name)]


@router.get("/queries", dependencies=[Depends(READ)])
def list_queries(
    service: Here,
    sort: Sort | None = None,
    search: Annotated[str, Param(max_length=200, description="In the name or the text.")] = "",
    status: Status | None = None,
    offset: Annotated[int, Param(ge=0)] = 0,
    limit: Annotated[int | None, Param(ge=0, le=10_000)] = None,
) -> Queries:
    """The queries in the order of registration; by ``sort`` those first that cost most, by name, or the
    newest first. Of many, ``limit`` are listed from ``offset`` on."""
    known = service.job.queries()
    counts = dict.fromkeys(get_args(Status), 0) | Counter(map(status_of, known))
    wanted = search.casefold()
    found = [
        each
        for each in known
        if (status is None or status_of(each) == status)
        and (not wanted or wanted in each.name.casefold() or wanted in each.text.casefold())
    ]
    if sort == "name":
        found.sort(key=lambda each: each.name.casefold())
    elif sort == "since":
        found.sort(key=lambda each: -each.since)
    elif sort is not None:
        cost = service.told(_COSTS[sort])
        found.sort(key=lambda each: -cost.get(each.name, 0))
    end = None if limit is None else offset + limit
    shown = [query_json(service, each) for each in found[offset:end]]
    return Queries(queries=shown, total=len(found), counts=counts)


def status_of(info: QueryInfo) -> Status:
    """Whether a query runs."""
    return "failed" if info.failure is not None else "paused" if info.paused else "running"


@router.post("/queries", dependencies=[Depends(ADMIN)], status_code=201)
@changing
def register_query(service: Here, body: NewQuery, response: Response) -> RegisteredQuery:
    """Register a continuous query in any dialect; it sees messages from now on."""
    made = service.register(body.text, body.name, body.dialect, body.evaluator)
    response.headers["Location"] = f"/api/queries/{slug(made.name)}"
    told = query_json(service, made)
    if body.name is not None and body.name != made.name:
        told.warnings.append(f"the name is {made.name!r}, that of REGISTER, and not {body.name!r}")
    return told


@router.get("/queries/{id}", dependencies=[Depends(READ)])
def get_query(service: Here, id: Id) -> RegisteredQuery:
    """One query."""
    return query_json(service, service.query(id))


@router.delete("/queries/{id}", dependencies=[Depends(ADMIN)], status_code=204)
async def drop_query(service: Here, lanes: Threads, id: Id) -> Response:
    """Drop a query and its results; those who follow it are told by the end of their stream."""
    name = (await lanes.results.run(service.query, id)).name
    await lanes.changes.run(service.drop, id)
    service.channels.drop(name)
    return Response(status_code=204)


@router.post("/queries/{id}/pause", dependencies=[Depends(ADMIN)])
async def pause_query(service: Here, lanes: Threads, id: Id) -> RegisteredQuery:
    """Stop a query and remember it; its windows are forgotten. This waits for no batch that is under way."""
    paused = await lanes.pauses.run(service.pause, id)
    return await lanes.results.run(query_json, service, paused)


@router.post("/queries/{id}/resume", dependencies=[Depends(ADMIN)])
@changing
def resume_query(service: Here, id: Id) -> RegisteredQuery:
    """Go on with a paused or failed query; it sees messages from now on."""
    return query_json(service, service.resume(id))


@router.put("/queries/{id}/fragments", dependencies=[Depends(ADMIN)])
def publish_query(service: Here, id: Id, body: Publication) -> Published:
    """Publish a query's results as a fragments data set, with their validity."""
    query = service.query(id)
    name = service.publish(id, body.model_dump(mode="json"))
    said = {"ask": ["boolean"], "select": variables_of(query.query)}.get(form_of(query.query).lower(), [])
    publisher = service.sink.publishers[query.name]
    return Published(
        dataset=f"/fragments/{name}", predicates={each: publisher.predicate(each) for each in said}
    )


@router.delete("/queries/{id}/fragments", dependencies=[Depends(ADMIN)], status_code=204)
def unpublish_query(service: Here, id: Id) -> Response:
    """Take the data set down."""
    service.unpublish(id)
    return Response(status_code=204)


@router.get("/queries/{id}/explain", dependencies=[Depends(READ)])
def explain_query(service: Here, id: Id) -> dict[str, Any]:
    """Every stage of a query as text, its plan as a graph with live row counts, and the routes it takes."""
    info = service.query(id)
    query = info.query
    told = facts_of(service.job, info.name)
    reason = choice_of(query, info.reads).reason
    return {
        "text": explained(info.text, info.dialect, info.routing),
        "plan": plan_graph(query, info.reads, told),
        "routing": {
            "evaluator": info.evaluator,
            **({"reason": f"interval does not cover {reason}"} if reason else {}),
            "slots": ", ".join(map(str, info.slots)),
            **{f"route taken {count}×": route for route, count in told.get("routes", {}).items()},
        },
        "windows": windows_of(query),
    }


@router.get("/queries/{id}/activity", dependencies=[Depends(READ)])
def query_activity(service: Here, id: Id) -> dict[str, Any]:
    """What is happening: windows with their recent messages, evaluation times, rows of operators.

    Messages are known for streams that are pushed into, since the service started; evaluation times are
    computed from the windows and the time through which the query was evaluated.
    """
    info = service.query(id)
    told = facts_of(service.job, info.name)
    recent = {iri: list(stream.recent) for iri, stream in service.pushed.items()}
    return activity_of(info.query, info.reads, told, recent)


@router.post("/parse", dependencies=[Depends(READ)])
def parse_query(service: Here, body: Text) -> dict[str, Any]:
    """Check a text without registering it; a syntax error has its place."""
    query = parse(body.text, dialect=body.dialect)
    return {
        "ok": True,
        "dialect": query.dialect.value,
        "form": form_of(query),
        "variables": variables_of(query),
        "numeric": counted(query),
        "windows": windows_of(query),
        "streams": [str(each) for each in query.streams],
        "output": query.output,
        "warnings": list(query.warnings),
    }


@router.post("/translate", dependencies=[Depends(READ)])
def translate_query(service: Here, body: Translation) -> dict[str, Any]:
    """A query in another dialect, or what that dialect cannot express."""
    found = translate(parse(body.text, dialect=body.dialect), body.to)
    parts = [("", found)] if isinstance(found, str) else found
    return {
        "text": "\n\n".join(f"# {name}\n{text}" if name else text for name, text in parts),
        "dialect": body.to,
        "queries": [{"name": name or None, "text": text} for name, text in parts],
    }
