"""Results over HTTP: event streams, WebSockets, long polls; from any position that is still kept."""

from __future__ import annotations

import json
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request, Response, WebSocket
from starlette.concurrency import run_in_threadpool

from weir.runtime.output.subscriptions import EVENT_STREAM, PAUSE, Channel, event_response, send_messages
from weir.server.api.access import READ, Here, chosen
from weir.server.api.models import PROBLEMS, Id
from weir.server.api.result_formats import (
    BATCHES,
    END,
    EVENTS,
    batch,
    jsonld,
    nquads,
    results,
    shortened,
    sparql_json,
)
from weir.server.drawing import variables_of
from weir.server.problems import Problem

router = APIRouter(prefix="/api/queries", tags=["results"], responses=PROBLEMS)

TYPES = (
    "application/json",
    EVENT_STREAM,
    "application/sparql-results+json",
    "application/ld+json",
    "application/n-quads",
)
_MOST = 2**53

From = Annotated[
    int | None,
    Query(
        alias="from",
        ge=-_MOST,
        le=_MOST,
        description="The position of the first result; negative: so many before the end.",
    ),
]


def position_of(channel: Channel, given: int | None, last: str | None, otherwise: int) -> int:
    """Where a follower begins: after the last event it has, or where it asks to."""
    lines = channel.lines
    if last is not None and last.strip().isdigit() and len(last) < 17:
        return min(int(last) + 1, lines.end)
    if given is None:
        return otherwise
    return min(given, lines.end) if given >= 0 else max(lines.start, lines.end + given)


@router.get(
    "/{id}/results",
    dependencies=[Depends(READ)],
    response_class=Response,
    responses={200: {"description": "Results", "content": {each: {} for each in TYPES}}},
)
async def get_results(
    service: Here,
    id: Id,
    request: Request,
    start: From = None,
    wait: Annotated[float, Query(ge=0, le=3600, description="Seconds to wait for a result.")] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1_000,
    last_event_id: Annotated[str | None, Header(max_length=20)] = None,
) -> Response:
    """The results of a query. As ``text/event-stream`` they flow for as long as the query lives: from now on,
    or from a position, or after ``Last-Event-ID``. Otherwise they are a batch, from the oldest that is kept
    or from a position, after ``wait`` seconds at most; ``next`` is where to go on."""
    info = await run_in_threadpool(service.query, id)
    channel = service.channels[info.name]
    media_type = chosen(request, TYPES)
    if media_type == EVENT_STREAM:
        if service.channels.followers >= service.settings.limits.subscribers:
            raise Problem(503, "there are too many subscribers", headers={"Retry-After": "10"})
        position = position_of(channel, start, last_event_id, channel.lines.end)
        return event_response(channel.follow(position, EVENTS, PAUSE), END)
    position = position_of(channel, start, None, channel.lines.start)
    if wait:
        await channel.wait(position, min(wait, service.settings.limits.wait))
    chunk = shortened(await run_in_threadpool(channel.lines.read, position), limit)
    headers = {"Cache-Control": "no-store", "Weir-Next": str(chunk.next), "Weir-Missed": str(chunk.missed)}
    if media_type == "application/json":
        return Response(batch(chunk), media_type=media_type, headers=headers)
    lines = results(chunk)
    if media_type == "application/sparql-results+json":
        found = sparql_json(lines, variables_of(info.query))
        data = json.dumps(found, ensure_ascii=False).encode()
    else:
        data = nquads(lines) if media_type == "application/n-quads" else jsonld(lines)
    return Response(data, media_type=media_type, headers=headers)


@router.websocket("/{id}/results/ws")
async def follow_results(socket: WebSocket, service: Here, id: str, start: From = None) -> None:
    """Batches as JSON messages, each like the answer to a poll; nothing is expected from the client."""
    try:
        READ(socket)
        info = await run_in_threadpool(service.query, id)
    except Problem as problem:
        await socket.close(1008, str(problem)[:120])
        return
    if service.channels.followers >= service.settings.limits.subscribers:
        await socket.close(1013, "there are too many subscribers")
        return
    channel = service.channels[info.name]
    await socket.accept()
    position = position_of(channel, start, None, channel.lines.end)
    await send_messages(socket, channel.follow(position, BATCHES, PAUSE), 1000, "the query is gone")
