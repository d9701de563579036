"""Kafka as a sink: its credentials come from the environment and are never told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from weir.errors import UsageError
from weir.runtime.output.sinks.kafka_sink import KafkaSink
from weir.runtime.output.sinks.making import sink_at

SECRET = "not to be seen"


def test_credentials_come_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    settings = {"sasl.mechanism": "PLAIN", "sasl.username": "weir", "sasl.password": SECRET}
    monkeypatch.setenv("KAFKA", json.dumps(settings))
    sink = sink_at("kafka://127.0.0.1:9/weir-{query}?config_env=KAFKA")(tmp_path)
    assert isinstance(sink, KafkaSink) and sink.servers == "127.0.0.1:9"
    sink.open()
    sink.close()
    assert SECRET not in repr(sink) and SECRET not in str(vars(sink))


@pytest.mark.parametrize("value", [None, f'"{SECRET}"', f"[{SECRET}", "5"])
def test_what_is_no_settings_is_refused_and_not_told(
    value: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if value is not None:
        monkeypatch.setenv("KAFKA", value)
    with pytest.raises(UsageError, match="the variable KAFKA does not hold a JSON object") as refused:
        KafkaSink("127.0.0.1:9", config_env="KAFKA").open()
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    "address", ["kafka://u:p@h:9/t", "kafka://h:9,u:p@h:8/t", "kafka://h:9/t?password=p"]
)
def test_addresses_have_no_credentials(address: str) -> None:
    with pytest.raises(UsageError):
        sink_at(address)
