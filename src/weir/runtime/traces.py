"""OpenTelemetry traces of a running job: a span for each batch, in it one for each query and the delivery.

An observer of the job (``Engine.run(observer=Traces())``); without one nothing is traced. Spans are made once
a batch is done. That of a query is as long as all slots worked on it in the batch, and ends where the answers
were handed to the sinks.
"""

from __future__ import annotations

import logging
import os
from importlib import metadata

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from weir.errors import UsageError
from weir.runtime.output.metrics import LatestBatch, Metrics

_PATH = "/v1/traces"
_TIMEOUT, _PATIENCE = "OTEL_EXPORTER_OTLP_TIMEOUT", 3
"""Seconds for which a collector is waited for, unless that variable says another number."""
_NANO = 1_000_000_000


class Traces:
    """Spans by ``provider``, or by the one that the program has set up."""

    def __init__(self, provider: trace.TracerProvider | None = None) -> None:
        self._tracer = trace.get_tracer("weir", metadata.version("weir"), tracer_provider=provider)
        self._failed: set[str] = set()

    def __call__(self, metrics: Metrics) -> None:
        with metrics.lock:
            batch, failures = metrics.latest, dict(metrics.failures)
        if batch is None:
            return
        planned, handed, done = (int(each * _NANO) for each in batch.times)
        span = self._tracer.start_span("weir.batch", start_time=planned, attributes=_batch_attributes(batch))
        inside = trace.set_span_in_context(span)
        for name, told in batch.queries.items():
            worked = float(told.get("seconds", 0.0))
            attributes: dict[str, str | int | float] = {
                "weir.query": name,
                "weir.seconds": worked,
                "weir.evaluations": int(told.get("evaluations", 0)),
                "weir.rows": int(told.get("live_rows", 0)),
            }
            begun = max(planned, handed - int(worked * _NANO))
            self._tracer.start_span("weir.query", inside, start_time=begun, attributes=attributes).end(handed)
        for name in failures.keys() - self._failed:
            failed = self._tracer.start_span(
                "weir.query", inside, start_time=planned, attributes={"weir.query": name}
            )
            failed.set_status(trace.Status(trace.StatusCode.ERROR, failures[name].reason))
            failed.end(handed)
        self._failed = set(failures)
        self._tracer.start_span("weir.deliver", inside, start_time=handed).end(done)
        span.end(done)


def traces_to(address: str) -> Traces:
    """Traces that go to a collector over OTLP by HTTP; what it does not take is lost, and harms nothing. The
    variables of OpenTelemetry (``OTEL_SERVICE_NAME``, ``OTEL_EXPORTER_OTLP_HEADERS``, …) count."""
    if not address.startswith(("http://", "https://")):
        raise UsageError(f"not the address of a collector: {address}", hint="http://localhost:4318")
    scheme, _, rest = address.partition("://")
    endpoint = address if rest.partition("/")[2] else f"{scheme}://{rest.rstrip('/')}{_PATH}"
    own = {} if "OTEL_SERVICE_NAME" in os.environ else {"service.name": "weir"}
    provider = TracerProvider(resource=Resource.create(own))
    patience = None if _TIMEOUT in os.environ else _PATIENCE
    logging.getLogger(OTLPSpanExporter.__module__).setLevel(logging.ERROR)  # Nothing of each attempt.
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint, timeout=patience)))
    return Traces(provider)


def _batch_attributes(batch: LatestBatch) -> dict[str, int]:
    return {"weir.batch": batch.batch, "weir.triples": batch.triples, "weir.results": batch.results}
