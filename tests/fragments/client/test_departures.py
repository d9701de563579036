"""The example runs: its publisher, its query, the generator's sizes; and the benchmark's processes."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from fragments_kit import SECOND, T0, Crank, updates
from shared import ROOT
from weir.fragments.client import follow, result_lines, stream_lines
from weir.fragments.protocol.annotation import Annotation, Labeling, Method
from weir.fragments.server import Dataset, FragmentsApp
from weir_bench.fragments.costs import MODES, measure, running_server
from weir_bench.fragments.departures import TRAIN, Departures
from weir_bench.fragments.methods import controlled, history, iterate
from weir_bench.fragments.rates import KINDS, load, requests_for, write_data
from weir_bench.oxigraph import free_port

EXAMPLE = ROOT / "examples" / "departures"


def test_the_generator_makes_what_the_paper_describes() -> None:
    data = Departures(T0)
    assert len(data.static()) == len(set(data.static())) == 300
    facts = data.version(0, T0)
    assert len({fact.triple for fact in facts}) == 200
    assert {fact.predicate for fact in facts} == {f"<{TRAIN}delay>", f"<{TRAIN}platform>"}
    assert all(fact.end - fact.start == 10 * SECOND for fact in facts)
    assert data.version(0, T0) == facts != data.version(1, T0)
    assert "t:departureTime ?departureTime" in data.query()


def test_the_use_case_over_three_periods() -> None:
    clock = Crank()
    data = Departures(T0)
    dataset = Dataset("d", data.static(), static_age=3600 * SECOND)
    for number in range(3):
        dataset.push(data.version(number, T0 + number * data.period), T0)
    app = FragmentsApp([dataset], clock=clock.now)
    found = asyncio.run(updates(data.query(), app, clock, until=T0 + 25 * SECOND))
    assert [(update.at - T0) // SECOND for update in found] == [0, 10, 20]
    assert len(found[0].added) == data.expected(0) == 60
    assert all(len(update.added) == len(update.removed) > 30 for update in found[1:])
    assert all(update.statistics["requests"] == 2 for update in found[1:])


@pytest.mark.network
@pytest.mark.parametrize("labeling", ["expiration", "interval"])
def test_the_example_runs(labeling: str) -> None:
    port = free_port()
    command = [sys.executable, str(EXAMPLE / "publish.py"), "--port", str(port), "--period", "2"]
    process = subprocess.Popen([*command, "--labeling", labeling], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        for _ in range(200):
            try:
                urlopen(url, timeout=5).close()
                break
            except (URLError, OSError):
                time.sleep(0.05)
        query = (EXAMPLE / "departures.rq").read_text()
        seen = []
        for update in follow(query, url):
            seen.append(update)
            if len(seen) == 3:
                break
        assert len(seen[0].added) > 90 and all(update.added and update.removed for update in seen[1:])
        lines = list(result_lines(seen[1], "departures"))
        assert {line["op"] for line in lines} == {"I", "D"}
        assert set(lines[0]["bindings"]) == {"delay", "platform", "headSign", "routeLabel", "departureTime"}
    finally:
        process.terminate()
        process.wait(20)
        if process.stdout is not None:
            process.stdout.close()


def test_a_construct_query_becomes_a_stream() -> None:
    clock = Crank()
    data = Departures(T0, trains=3)
    dataset = Dataset("d", data.static())
    dataset.push(data.version(0, T0), T0)
    app = FragmentsApp([dataset], clock=clock.now)
    query = f"CONSTRUCT {{ ?x <{TRAIN}late> ?d }} {{ ?x <{TRAIN}delay> ?d }}"
    (update,) = asyncio.run(updates(query, app, clock, until=T0 + SECOND))
    lines = list(stream_lines(update))
    assert len(lines) == 3
    assert all(line.startswith(f"{T0 // 1000}\t<http") and line.endswith(" .\n") for line in lines)


@pytest.mark.network
def test_the_benchmarks_parts() -> None:
    """Small sizes of everything but the peers."""
    data = Departures(T0, trains=5)
    with controlled() as control:
        for plain in (False, True):
            run = iterate(
                control, Annotation(Method.IMPLICIT, Labeling.INTERVAL), data, 4, cache=True, plain=plain
            )
            assert len(run.seconds) == 4 and run.growth > 0
    moments = history((3, 6), trains=2, repeats=2)
    assert [moment.versions for moment in moments] == [3, 6]


@pytest.mark.network
@pytest.mark.parametrize("mode", ["fragments", "evaluated at the server (Weir)"])
def test_the_benchmarks_costs(mode: str) -> None:
    cost = measure(MODES[mode], 2, 2.0, 1)
    assert cost.updates >= 2 and cost.server >= 0 and cost.client >= 0


@pytest.mark.network
def test_the_benchmarks_load(tmp_path: Path) -> None:
    file = tmp_path / "data.ttl"
    write_data(file, things=300)
    with running_server({"file": str(file), "facts": 300}) as (base, process):
        for kind in KINDS:
            once = kind != "repeated"
            requests = requests_for(f"{base}/d", kind, single=False, things=300)
            assert len(set(requests)) == len(requests) or not once
            rate = load(f"{base}/d", requests, process.pid, 0.3, once=once)
            assert rate.per_second > 100
