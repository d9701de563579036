"""Metrics as JSON and in Prometheus's text format, health, the freshness of remote views, examples."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response
from prometheus_client import generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric, SummaryMetricFamily

from weir.linked.service import HINT
from weir.runtime.output.text_columns import timestamp
from weir.server.api.access import ADMIN, READ, Here
from weir.server.api.models import PROBLEMS, NewSink, SinkInfo, Sinks
from weir.server.drawing import services_of
from weir.server.problems import Problem
from weir.server.resources import slug
from weir.server.service import facts_of

router = APIRouter(tags=["metrics"], responses=PROBLEMS)
EXAMPLES = Path(__file__).parents[1] / "examples"
_TEXT = "text/plain; version=0.0.4; charset=utf-8"


@router.get("/health")
async def health(service: Here) -> dict[str, Any]:
    """Whether the job runs; 503 where it does not."""
    if not service.healthy:
        raise Problem(503, "the job is not running", service.failure, headers={"Retry-After": "5"})
    return {"status": "ok", "version": metadata.version("weir")}


@router.get("/api/metrics", dependencies=[Depends(READ)])
def get_metrics(service: Here) -> dict[str, Any]:
    """All counters. Which queries failed is read where ``/api/queries`` reads it, so the two agree."""
    told = service.job.metrics.as_json()
    recent = list(service.job.metrics.seconds[-100:])
    return {
        **told,
        "failures": {name: each.reason for name, each in service.job.failures.items()},
        "uptime": time.time() - service.job.metrics.started,
        "sink_seconds": sum(recent) / len(recent) if recent else None,
        "subscribers": service.channels.followers,
        "restarts": service.restarts,
        "working": service.job.working(),
        "accepted": {iri: stream.accepted for iri, stream in service.pushed.items()},
        "backlog": {iri: stream.writer.backlog() for iri, stream in service.pushed.items()},
        "positions": {each.name: service.log.tail(each.name).end for each in service.job.queries()},
    }


@router.get("/metrics", dependencies=[Depends(READ)], response_class=Response)
def prometheus(service: Here) -> Response:
    """The same for Prometheus."""
    return Response(prometheus_text(get_metrics(service)), media_type=_TEXT)


_COUNTERS = ("batches", "triples", "bytes", "results", "rejected", "restarts")
_GAUGES = ("subscribers", "uptime")
_OF_STREAMS = {"messages": True, "late": True, "waiting": False}
_OF_QUERIES = {"evaluations": True, "results": True, "seconds": True, "live_rows": False, "bytes": False}
"""Which of them are counters."""
_HELP = {
    "batches": "Batches since the job started.",
    "triples": "Triples read since the job started.",
    "bytes": "Bytes read since the job started.",
    "results": "Results since the job started.",
    "rejected": "Lines and messages set aside as malformed.",
    "restarts": "Times that the job was started again after it had failed.",
    "subscribers": "Open subscriptions to results.",
    "uptime": "Seconds since the job started.",
    "batch_seconds": "Time from when a batch is planned until its results are delivered, in seconds.",
    "sink_seconds": "Mean time in which sinks wrote a batch, over the latest batches, in seconds.",
    "stream_messages": "Messages of a stream that were read.",
    "stream_late": "Messages of a stream that came too late.",
    "stream_waiting": "Messages of a stream that wait for their time.",
    "stream_accepted": "Messages that were pushed into a stream and are on stable storage.",
    "stream_backlog": "Bytes that were pushed into a stream and are not read yet.",
    "query_failed": "1 for each query that has failed.",
    "query_evaluations": "Evaluations of a query.",
    "query_results": "Results of a query.",
    "query_seconds": "Time of work that a query took, in seconds; its part where queries share.",
    "query_live_rows": "Rows that a query keeps.",
    "query_bytes": "Bytes that the rows of a query take.",
    "query_lag_seconds": "Event time between the newest message and what a query is done with, in seconds.",
}
"""What each metric counts, and in which unit."""


def prometheus_text(told: dict[str, Any]) -> bytes:
    """Prometheus's exposition format."""
    collected: Any = SimpleNamespace(collect=lambda: _families(told))
    return generate_latest(collected)


def _families(told: dict[str, Any]) -> Iterator[Metric]:
    """Counters of a moment as families of metrics."""
    for name in (*_COUNTERS, *_GAUGES):
        yield from _family(name, name in _COUNTERS, {"": told.get(name)})
    for name, counter in _OF_STREAMS.items():
        values = {iri: each.get(name) for iri, each in told["streams"].items()}
        yield from _family(f"stream_{name}", counter, values, "stream")
    yield from _family("stream_accepted", True, told["accepted"], "stream")
    yield from _family("stream_backlog", False, told["backlog"], "stream")
    yield from _family("query_failed", False, dict.fromkeys(told.get("failures", ()), 1), "query")
    for name, counter in _OF_QUERIES.items():
        key = "total_seconds" if name == "seconds" else name
        values = {query: each.get(key) for query, each in told["queries"].items()}
        yield from _family(f"query_{name}", counter, values, "query")
    lags = {query: each.get("lag") for query, each in told["queries"].items()}
    yield from _family("query_lag_seconds", False, lags, "query")
    took = told.get("batch_seconds")
    if took is not None:
        yield SummaryMetricFamily("weir_batch_seconds", _HELP["batch_seconds"], int(told["batches"]), took)
    yield from _family("sink_seconds", False, {"": told.get("sink_seconds")})


def _family(name: str, counter: bool, values: Mapping[str, Any], label: str = "") -> Iterator[Metric]:
    """One family, where any of its values is a number."""
    kind = CounterMetricFamily if counter else GaugeMetricFamily
    family = kind(f"weir_{name}", _HELP[name], labels=[label] if label else None)
    for key, value in values.items():
        if isinstance(value, (int, float)):
            family.add_metric([key] if label else [], value)
    if family.samples:
        yield family


@router.get("/api/services", dependencies=[Depends(READ)])
def services(service: Here) -> dict[str, Any]:
    """How fresh what queries took from endpoints was at their latest evaluation: ``fresh`` is the share of
    rows that can be expected to be true, ``audited`` the share that was, among rows checked at random."""
    out = []
    for info in service.job.queries():
        accounts = facts_of(service.job, info.name).get("services", [])
        calls = services_of(info.query.pattern)
        for place, account in enumerate(accounts):
            call = calls[place] if len(calls) == len(accounts) else None
            out.append(
                {
                    "query": slug(info.name),
                    "endpoint": None if call is None else str(call.name).strip("<>").partition(HINT)[0],
                    "rows": account["rows"],
                    "fresh": account["share"] if account["estimate"] is None else account["estimate"],
                    "audited": account["audited"],
                    "confidence": account["confidence"],
                    "age": account["oldest"] / 1_000_000,
                    "refreshes": account["refreshed"],
                    "missing": account["missing"],
                    "error": f"{account['failed']} requests failed" if account["failed"] else None,
                    "at": timestamp(account["at"]),
                }
            )
    return {"services": out}


@router.get("/api/vocabulary", dependencies=[Depends(READ)])
def vocabulary(service: Here) -> dict[str, Any]:
    """What an editor can complete: prefixes, and predicates with the streams and graphs they were seen in."""
    return service.vocabulary.of(service.job)


@router.get("/api/sinks", dependencies=[Depends(READ)])
def list_sinks(service: Here) -> Sinks:
    """Where results go beside the service's own log."""
    given = [SinkInfo(address=each, added=False) for each in service.settings.sinks]
    failures = dict(service.added.failures)
    added = [SinkInfo(address=each, added=True, failure=why) for each, why in failures.items()]
    return Sinks(sinks=given + added)


@router.post("/api/sinks", dependencies=[Depends(ADMIN)], status_code=201)
def add_sink(service: Here, body: NewSink) -> SinkInfo:
    """Send all results to an address that the service allows as well, from now on."""
    service.add_sink(body.address)
    return SinkInfo(address=body.address, added=True)


@router.delete("/api/sinks", dependencies=[Depends(ADMIN)], status_code=204)
def drop_sink(service: Here, address: Annotated[str, Query(max_length=2048)]) -> Response:
    """Send results there no longer."""
    service.drop_sink(address)
    return Response(status_code=204)


@router.get("/api/examples", dependencies=[Depends(READ)])
def examples() -> dict[str, Any]:
    """Queries to begin with, each with the streams it reads and messages to push."""
    found = json.loads((EXAMPLES / "examples.json").read_text(encoding="utf-8"))
    told = [
        {
            **{name: value for name, value in each.items() if name not in ("query", "data")},
            "text": (EXAMPLES / each["query"]).read_text(encoding="utf-8"),
            "sample": (EXAMPLES / each["data"]).read_text(encoding="utf-8"),
        }
        for each in found
    ]
    return {"examples": told}
