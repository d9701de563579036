"""A query that holds its worker, on Spark: it is ended by its limit, or paused, and nobody waits for it.

A function of the query is replaced in the workers. On one text it never lets go of the interpreter, so that
neither an exception nor a thread of Python ends it; on another one it sleeps for ever.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from server_kit import Server, until

pytestmark = [pytest.mark.spark, pytest.mark.network, pytest.mark.long, pytest.mark.timeout(900)]

CONFIG = "[limits]\nbatch_seconds = 6.0\n"
HOLD = """
import re
import time
from weir.kernel.functions.builtins import BUILTINS
from weir.language.algebra.expressions import Builtin

real = BUILTINS[Builtin.UCASE]

def held(text):
    if text.lexical == "hold":
        re.match("(a+)+$", "a" * 60 + "b")
    while text.lexical == "sleep":
        time.sleep(0.01)
    return real(text)

BUILTINS[Builtin.UCASE] = held
"""
GOOD = "SELECT ?n WHERE { STREAM <http://e/s> [NOW] { ?x <http://e/n> ?n } }"
BAD = "SELECT ?m WHERE { STREAM <http://e/s> [NOW] { ?x <http://e/n> ?n } BIND(UCASE(?n) AS ?m) }"


def found(api: httpx.Client, name: str) -> dict[str, Any]:
    told: dict[str, Any] = api.get(f"/api/queries/{name}").json()
    return told


def push(api: httpx.Client, time: int, value: str) -> None:
    line = f'{time}\t<http://e/x{time}> <http://e/n> "{value}" .\n'
    sent = api.post("/api/streams/s/messages", content=line, headers={"content-type": "application/x-tnq"})
    assert sent.status_code == 202


@contextmanager
def served(folder: Path, monkeypatch: pytest.MonkeyPatch, config: str) -> Iterator[httpx.Client]:
    """A server with both queries, which have answered."""
    (folder / "patched").mkdir()
    (folder / "patched" / "sitecustomize.py").write_text(HOLD)
    monkeypatch.setenv("PYTHONPATH", str(folder / "patched"), prepend=":")
    server = Server(folder, config).start()
    try:
        with httpx.Client(base_url=server.base, timeout=60) as api:
            assert api.post("/api/streams", json={"iri": "http://e/s", "id": "s"}).status_code == 201
            for name, text, evaluator in (("good", GOOD, "auto"), ("bad", BAD, "reference")):
                told = {"text": text, "name": name, "evaluator": evaluator}
                assert api.post("/api/queries", json=told).status_code == 201
            push(api, 1000, "first")
            push(api, 2000, "second")
            until(lambda: "first" in api.get("/api/queries/bad/results").text.lower(), 120)
            yield api
    finally:
        server.stop()


def test_it_is_ended_while_its_batch_is_stuck_and_nobody_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(tmp_path, monkeypatch, CONFIG) as api:
        push(api, 3000, "hold")
        push(api, 4000, "after")
        answered = 0
        while not found(api, "bad")["failed"]:
            assert api.get("/sparql", params={"query": "ASK {}"}).status_code == 200
            assert [api.get(f"/api/{each}").status_code for each in ("queries", "streams")] == [200, 200]
            answered += 1
        assert answered > 3
        assert "longer than 6 s" in found(api, "bad")["reason"]
        until(lambda: api.get("/health").status_code == 200, 300)
        push(api, 5000, "last")
        until(lambda: "after" in api.get("/api/queries/good/results").text, 300)
        assert not found(api, "good")["failed"]


def test_it_is_paused_while_its_batch_is_stuck(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long before its limit. A query that is registered meanwhile waits for the batch, and many that are do
    not hold up the pause."""
    with served(tmp_path, monkeypatch, "[limits]\nbatch_seconds = 600.0\n") as api:
        push(api, 3000, "sleep")
        push(api, 4000, "after")
        until(lambda: api.get("/api/metrics").json()["working"].get("bad", 0.0) > 3, 120)
        with ThreadPoolExecutor(60) as pool:
            told = [{"text": GOOD, "name": f"late{number}"} for number in range(60)]
            late = [pool.submit(api.post, "/api/queries", json=each, timeout=500) for each in told]
            time.sleep(2)
            assert not any(each.done() for each in late)
            began = time.monotonic()
            assert api.get("/sparql", params={"query": "ASK {}"}).status_code == 200
            paused = api.post("/api/queries/bad/pause")
            taken = time.monotonic() - began
            assert (paused.status_code, paused.json()["paused"], paused.json()["failed"]) == (
                200,
                True,
                False,
            )
            assert {each.result().status_code for each in late} == {201}
        print(f"paused after {taken:.2f} s, the batch went on {time.monotonic() - began - taken:.1f} s later")
        push(api, 5000, "last")
        until(lambda: "after" in api.get("/api/queries/good/results").text, 300)
        assert found(api, "bad")["paused"] and not found(api, "bad")["failed"]
        assert api.get("/api/metrics").json()["failures"] == {}
