"""A source and a sink of an installed package, wherever an address is taken."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import weir
from weir.extras import brought
from weir.runtime.ingest.receivers.brought_receiver import _micros
from weir.runtime.ingest.sources import source_at, source_of
from weir.runtime.output.sinks.making import sink_at

CODE = """
from datetime import datetime, UTC
from pathlib import Path
from weir.runtime.output.sinks.base import Sink

calls = []

def ticks(url, stopping):
    calls.append(url)
    if len(calls) == 1:
        yield "1000\\t<urn:a> <urn:p> <urn:b> ."
        raise RuntimeError("the line is dead")
    yield b"2000\\t<urn:c> <urn:p> <urn:b> ."
    stopping.wait()

class Lines(Sink):
    form, promise = "jsonl", "at least once"
    def __init__(self, address):
        self.path = Path(address.partition("://")[2])
    def write(self, batch, results):
        with self.path.open("a") as file:
            for each in results:
                file.writelines(each.table["line"].to_pylist())

def broken(address):
    return object()
"""
POINTS = """[weir.sources]
ticks = weir_test_connectors:ticks
[weir.sinks]
lines = weir_test_connectors:Lines
broken = weir_test_connectors:broken
"""
QUERY = "SELECT ?x FROM NAMED WINDOW <w> ON <s> [NOW] WHERE { WINDOW <w> { ?x ?p ?y } }"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package as pip leaves it: a module, and the entry points beside it."""
    (tmp_path / "weir_test_connectors.py").write_text(CODE)
    told = tmp_path / "weir_test_connectors-1.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: weir-test-connectors\nVersion: 1\n")
    (told / "entry_points.txt").write_text(POINTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    brought.cache_clear()
    yield tmp_path
    brought.cache_clear()
    sys.modules.pop("weir_test_connectors", None)


def test_an_engine_reads_and_writes_by_the_addresses_of_a_package(installed: Path) -> None:
    out = installed / "out.jsonl"
    engine = weir.Engine(runner="direct")
    engine.stream("s", "ticks://host/topic?rate=2#weir:max_message=100")
    engine.register(QUERY)
    job = engine.start(sinks=f"lines://{out}")
    until = time.monotonic() + 60
    try:
        while job.metrics.results < 1:
            assert time.monotonic() < until
            job.wait(1)
        (state,) = job.receivers.state().values()
        assert (state["kind"], state["messages"], state["connections"]) == ("brought", 2, 2)
    finally:
        job.stop()
    told = [json.loads(line)["bindings"]["x"]["value"] for line in out.read_text().splitlines()]
    assert told[:1] == ["urn:a"]


def test_the_command_line_takes_a_sink_of_a_package(installed: Path) -> None:
    (installed / "q.rspql").write_text(QUERY)
    (installed / "s.tnq").write_text("0\t<urn:a> <urn:p> <urn:b> .\n")
    run = [sys.executable, "-m", "weir", "try", "q.rspql", "--stream", "s=s.tnq", "--to", "lines://out.jsonl"]
    done = subprocess.run(run, cwd=installed, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    assert json.loads((installed / "out.jsonl").read_text())["bindings"]["x"]["value"] == "urn:a"


def test_a_source_of_a_package_is_kept_by_its_address(installed: Path) -> None:
    source = source_at("ticks://host/topic#weir:format=turtle")
    assert source_of(source.as_json()) == source
    assert source.address == "ticks://host/topic"
    with pytest.raises(weir.UsageError, match=r"unknown kind of stream tocks://[^$]*ticks://"):
        source_at("tocks://host")


def test_a_sink_that_is_none_is_refused(installed: Path) -> None:
    with pytest.raises(weir.UsageError, match="made an object, which is no sink: it has no form"):
        sink_at("broken://x")(installed)
    with pytest.raises(weir.UsageError, match=r"unknown kind of sink tocks://[^$]*lines://"):
        sink_at("tocks://x")


def test_times_of_messages() -> None:
    assert [_micros(each) for each in (None, 5, datetime(1970, 1, 1), datetime(1970, 1, 2, tzinfo=UTC))] == [
        *(None, 5_000, 0, 86_400_000_000)
    ]
