"""SERVICE through the whole pipeline, with a real endpoint: frames, groups, state, Spark, command line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from cli_kit import json_lines, weir
from service_servers import MoodyServer, moody
from weir.language import parse
from weir.runtime.control.catalog import Catalog, Registration
from weir.runtime.control.registration import placed
from weir.testing import Scenario
from weir_bench.oxigraph import Oxigraph

pytestmark = pytest.mark.network

E = "http://e/"
DATA = " ".join(
    [f"<{E}t{n}> <{E}mentions> <{E}u{n % 3}> ." for n in range(9)]
    + [f"<{E}u{n}> <{E}followers> {10 * n} ." for n in range(3)]
)
LINES = [f"{1000 * n + 500}\t<{E}t{n}> <{E}by> <{E}a{n % 2}> .\n" for n in range(8)]


@pytest.fixture(scope="module")
def server() -> Iterator[Oxigraph]:
    with Oxigraph() as running:
        running.load(DATA)
        yield running


@pytest.fixture
def proxy(server: Oxigraph) -> Iterator[MoodyServer]:
    """The server behind a proxy that counts."""
    with moody(server.port) as running:
        yield running


def query(endpoint: str, name: str = "out") -> str:
    return f"""PREFIX : <{E}>
    REGISTER RSTREAM <{name}> AS SELECT ?t ?n FROM NAMED WINDOW <w> ON <s> [RANGE PT2S STEP PT1S]
    WHERE {{ WINDOW <w> {{ ?t :by ?a }} SERVICE <{endpoint}> {{ ?t :mentions ?u . ?u :followers ?n }} }}"""


def values(lines: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    return [
        (line["at"][17:19], line["bindings"]["t"]["value"][len(E) :], line["bindings"]["n"]["value"])
        for line in lines
    ]


EXPECTED = sorted((f"{n + k:02d}", f"t{n}", str(10 * (n % 3))) for n in range(8) for k in (1, 2))


@pytest.mark.parametrize("evaluator", ["interval", "reference"])
@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize("hint", ["", "#weir:budget=20&interval=60s", "#weir:cache=60s"])
def test_scripted(proxy: MoodyServer, evaluator: str, restarts: bool, hint: str) -> None:
    """The same answers however it runs; a view or cache that survives restarts is asked for once."""
    scenario = Scenario(query(proxy.endpoint + hint), evaluator=evaluator, restarts=restarts)
    found = scenario.run(LINES, "s")
    assert sorted(values(found)) == EXPECTED
    asked = sum(body.count(b"%2Ft") for body in proxy.bodies)
    assert asked == (8 if hint else 16)
    if hint and not restarts:
        (account,) = scenario.group.services.freshness("query")
        assert account.share == 1.0


def test_queries_on_one_endpoint_run_together() -> None:
    texts = {
        "a": query("http://x/q"),
        "b": query("http://x/q#weir:budget=3", "two"),
        "c": query("http://y/q", "three"),
    }
    queries = {name: parse(text) for name, text in texts.items()}
    slots = placed(queries, Catalog(), {}, 4, {})
    assert slots["a"] == slots["b"] != slots["c"]
    late = placed({"d": parse(query("http://y/q", "four"))}, _catalog(texts, slots), queries, 4, {})
    assert late["d"] == slots["c"]


def _catalog(texts: dict[str, str], slots: dict[str, int]) -> Catalog:
    return Catalog(queries={n: Registration(n, text, slots=(slots[n],)) for n, text in texts.items()})


@pytest.mark.spark
@pytest.mark.parametrize("evaluator", ["interval", "reference"])
def test_on_spark(
    proxy: MoodyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: SparkSession, evaluator: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("q.rq").write_text(query(proxy.endpoint))
    source = Path("s")
    source.mkdir()
    for number, line in enumerate(LINES):
        (source / f"{number}.tnq").write_text(line)
    options = ["--stream", "s=s", "--files-per-batch", "3", "--evaluator", evaluator]
    options += ["--service", f"{proxy.endpoint}#weir:budget=20&interval=60s"]
    done = weir("run", "q.rq", *options, "--format", "jsonl", "--out", "out.jsonl")
    assert done.exit_code == 0, done.stderr
    assert sorted(values(json_lines(Path("out.jsonl")))) == EXPECTED
    assert sum(body.count(b"%2Ft") for body in proxy.bodies) == 8


@pytest.mark.spark
def test_wrong_settings_are_bad_usage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("q.rq").write_text(query("http://x/q"))
    done = weir("run", "q.rq", "--service", "http://x/q#weir:bugdet=3")
    assert done.exit_code == 2 and "unknown service setting" in done.stderr
