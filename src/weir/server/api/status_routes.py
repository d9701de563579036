"""Metrics as JSON and in Prometheus's text format, health, the freshness of remote views, examples."""

from __future__ import annotations

import json
import time
from importlib import metadata
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Depends, Response
from starlette.concurrency import run_in_threadpool

from weir.linked.service import HINT
from weir.runtime.output.writing import timestamp
from weir.server.api.access import READ
from weir.server.api.dependencies import Here
from weir.server.api.models import PROBLEMS
from weir.server.drawing import services_of
from weir.server.problems import Problem
from weir.server.resource_ids import slug
from weir.server.service import Service, facts_of, parsed

router = APIRouter(tags=["metrics"], responses=PROBLEMS)
EXAMPLES = Path(__file__).parents[1] / "examples"
_TEXT = "text/plain; version=0.0.4; charset=utf-8"


@router.get("/health")
async def health(service: Here) -> dict[str, Any]:
    """Whether the job runs; 503 where it does not."""
    if not service.healthy:
        raise Problem(503, "the job is not running", service.failure, headers={"Retry-After": "5"})
    return {"status": "ok", "version": metadata.version("weir")}


def metrics_json(service: Service) -> dict[str, Any]:
    """The job's counters, and the service's own."""
    told = service.job.metrics.as_json()
    recent = list(service.job.metrics.seconds[-100:])
    return {
        **told,
        "uptime": time.time() - service.job.metrics.started,
        "sink_seconds": sum(recent) / len(recent) if recent else None,
        "subscribers": service.channels.followers,
        "restarts": service.restarts,
        "accepted": {iri: flow.accepted for iri, flow in service.flows.items()},
        "backlog": {iri: flow.writer.backlog() for iri, flow in service.flows.items()},
        "positions": {each.name: service.log.tail(each.name).end for each in service.queries()},
    }


@router.get("/api/metrics", dependencies=[Depends(READ)])
async def get_metrics(service: Here) -> dict[str, Any]:
    """All counters."""
    return await run_in_threadpool(metrics_json, service)


@router.get("/metrics", dependencies=[Depends(READ)], response_class=Response)
async def prometheus(service: Here) -> Response:
    """The same for Prometheus."""
    told = await run_in_threadpool(metrics_json, service)
    return Response(prometheus_text(told), media_type=_TEXT)


_WHOLE = {
    "batches": "counter",
    "triples": "counter",
    "bytes": "counter",
    "results": "counter",
    "rejected": "counter",
    "subscribers": "gauge",
    "restarts": "counter",
    "uptime": "gauge",
}
_STREAM = {"messages": "counter", "late": "counter", "waiting": "gauge"}
_QUERY = {"evaluations": "counter", "results": "counter", "live_rows": "gauge", "bytes": "gauge"}


def prometheus_text(told: dict[str, Any]) -> str:
    """Prometheus's exposition format."""
    lines: list[str] = []

    def family(name: str, kind: str, samples: list[tuple[str, Any]]) -> None:
        values = [(label, value) for label, value in samples if isinstance(value, (int, float))]
        if values:
            full = f"weir_{name}{'_total' if kind == 'counter' else ''}"
            lines.append(f"# TYPE {full} {kind}")
            lines.extend(f"{full}{label} {value}" for label, value in values)

    for name, kind in _WHOLE.items():
        family(name, kind, [("", told.get(name))])
    for name, kind in _STREAM.items():
        samples = [(_label("stream", iri), each.get(name)) for iri, each in told["streams"].items()]
        family(f"stream_{name}", kind, samples)
    for name in ("accepted", "backlog"):
        kind = "counter" if name == "accepted" else "gauge"
        family(f"stream_{name}", kind, [(_label("stream", iri), n) for iri, n in told[name].items()])
    for name, kind in _QUERY.items():
        samples = [(_label("query", query), each.get(name)) for query, each in told["queries"].items()]
        family(f"query_{name}", kind, samples)
    return "\n".join(lines) + "\n"


def _label(name: str, value: str) -> str:
    escaped = value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return f'{{{name}="{escaped}"}}'


@router.get("/api/services", dependencies=[Depends(READ)])
async def services(service: Here) -> dict[str, Any]:
    """How fresh what queries took from endpoints was at their latest evaluation."""
    return {"services": await run_in_threadpool(views_json, service)}


def views_json(service: Service) -> list[dict[str, Any]]:
    """The latest account of each call: the share of fresh rows, the age of the oldest in seconds."""
    out = []
    for info in service.queries():
        accounts = facts_of(service.job, info.name).get("services", [])
        calls = services_of(parsed(info.text, info.dialect).pattern)
        for place, account in enumerate(accounts):
            call = calls[place] if len(calls) == len(accounts) else None
            out.append(
                {
                    "query": slug(info.name),
                    "endpoint": None if call is None else str(call.name).strip("<>").partition(HINT)[0],
                    "rows": account["rows"],
                    "fresh": account["share"],
                    "age": account["oldest"] / 1_000_000,
                    "refreshes": account["refreshed"],
                    "missing": account["missing"],
                    "error": f"{account['failed']} requests failed" if account["failed"] else None,
                    "at": timestamp(account["at"]),
                }
            )
    return out


@router.get("/api/examples", dependencies=[Depends(READ)])
async def examples() -> dict[str, Any]:
    """Queries to begin with, each with the streams it reads and messages to push."""
    return {"examples": await run_in_threadpool(read_examples)}


def read_examples() -> list[dict[str, Any]]:
    """The examples that come with the package."""
    found = json.loads((EXAMPLES / "examples.json").read_text(encoding="utf-8"))
    return [
        {
            **{name: value for name, value in each.items() if name not in ("query", "data")},
            "text": (EXAMPLES / each["query"]).read_text(encoding="utf-8"),
            "sample": (EXAMPLES / each["data"]).read_text(encoding="utf-8"),
        }
        for each in found
    ]
