"""Metrics, health, examples."""

from __future__ import annotations

from pathlib import Path

import weir
from server_kit import call, still_service
from weir.server.api.status_routes import examples, prometheus_text
from weir.server.pushed_streams import check_lines
from weir.server.service import Service
from weir.server.settings import Settings


def test_examples_parse_in_their_dialects() -> None:
    for example in examples()["examples"]:
        query = weir.parse(example["text"], dialect=example["dialect"])
        assert list(query.streams) == example["streams"]
        assert not check_lines(example["sample"].encode()).rejected


def test_prometheus_has_families_with_labels() -> None:
    told = {
        "batches": 3, "streams": {'a"b': {"messages": 4}}, "accepted": {}, "backlog": {"s": 1},
        "queries": {"q": {"results": 1, "total_seconds": 0.5, "seconds": 0.1, "routes": {}, "lag": 1.5}},
        "sink_seconds": 0.25, "batch_seconds": 1.5,
    }  # fmt: skip
    text = prometheus_text(told).decode()
    assert "# TYPE weir_batches_total counter\nweir_batches_total 3.0\n" in text
    assert 'weir_stream_messages_total{stream="a\\"b"} 4.0' in text
    assert 'weir_stream_backlog{stream="s"} 1.0' in text
    assert "weir_query_results_total" in text
    assert "# HELP weir_query_lag_seconds Event time between the newest message" in text
    assert 'weir_query_lag_seconds{query="q"} 1.5' in text and "weir_sink_seconds 0.25" in text
    assert "weir_batch_seconds_count 3.0\nweir_batch_seconds_sum 1.5\n" in text
    assert 'weir_query_seconds_total{query="q"} 0.5' in text
    assert "weir_query_bytes" not in text


def test_metrics_are_told_while_nothing_happens(tmp_path: Path) -> None:
    service = still_service(tmp_path)
    told = call(service, "GET", "/api/metrics").json()
    assert (told["batches"], told["subscribers"], told["accepted"]) == (0, 0, {"http://e/s": 0})
    text = call(service, "GET", "/metrics")
    assert text.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 'weir_stream_accepted_total{stream="http://e/s"} 0.0' in text.text
    assert call(service, "GET", "/api/services").json() == {"services": []}


def test_a_service_without_a_job_is_not_healthy(tmp_path: Path) -> None:
    assert call(Service(Settings(data=tmp_path)), "GET", "/health").status_code == 503
    assert call(still_service(tmp_path), "GET", "/health").json()["status"] == "ok"
