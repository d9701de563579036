"""What waits for SPARQL or for a batch holds up neither pushes nor those who follow results, nor a pause."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from server_kit import still_service
from weir.server.api import application
from weir.server.api.lanes import Lane
from weir.server.problems import Problem


def test_a_lane_runs_so_many_and_refuses_what_would_wait_too_long() -> None:
    held = threading.Event()

    async def all_of() -> tuple[list[int], str]:
        lane = Lane("things", 1, 2)

        def work(number: int) -> int:
            held.wait(60)
            return number

        begun = [asyncio.create_task(lane.run(work, number)) for number in range(3)]
        await asyncio.sleep(0)
        try:
            with pytest.raises(Problem) as refused:
                while True:
                    await asyncio.wait_for(lane.run(work, 9), 0.01)
        finally:
            held.set()
        return await asyncio.gather(*begun), str(refused.value)

    assert asyncio.run(all_of()) == ([0, 1, 2], "too many things are waiting")


def test_pushes_and_polls_go_on_while_every_sparql_query_hangs(tmp_path: Path) -> None:
    service = still_service(tmp_path)
    held = threading.Event()

    class Hanging:
        """A lock that nobody gets while something hangs."""

        def __enter__(self) -> None:
            held.wait(120)

        def __exit__(self, *_: object) -> None:
            pass

    service.job.graphs.extractor = SimpleNamespace(lock=Hanging(), graphs=None)  # type: ignore[assignment]
    service.running.register(
        "SELECT ?o WHERE { STREAM <http://e/s> [NOW] { ?s ?p ?o } }",
        name="q", dialect="cqels", evaluator="auto",
    )  # fmt: skip
    line = b"1000\t<http://e/s> <http://e/p> <http://e/o> .\n"

    async def all_of() -> tuple[set[int], int, int]:
        transport = httpx.ASGITransport(application(service), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as http:
            asked = [asyncio.create_task(http.get("/sparql", params={"query": "ASK {}"})) for _ in range(100)]
            while not any(task.done() for task in asked):
                await asyncio.sleep(0.01)
            headers = {"content-type": "application/x-tnq"}
            pushed = await http.post("/api/streams/s/messages", content=line, headers=headers)
            polled = await http.get("/api/queries/q/results")
            refused = {task.result().status_code for task in asked if task.done()}
            held.set()
            await asyncio.gather(*asked)
            return refused, pushed.status_code, polled.status_code

    assert asyncio.run(all_of()) == ({503}, 202, 200)


def test_a_query_is_paused_while_many_changes_wait_for_a_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = still_service(tmp_path)
    text = "SELECT ?o WHERE { STREAM <http://e/s> [NOW] { ?s ?p ?o } }"
    service.running.register(text, name="q", dialect="cqels", evaluator="auto")
    held, stuck = threading.Event(), threading.Event()
    register = service.running.register

    def registered(*values: Any, **options: Any) -> str:
        stuck.set()
        held.wait(120)
        return register(*values, **options)

    monkeypatch.setattr(service.running, "register", registered)

    async def all_of() -> tuple[list[int], set[int]]:
        transport = httpx.ASGITransport(application(service), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as http:
            asked = [{"text": text, "name": f"late{number}", "dialect": "cqels"} for number in range(100)]
            waiting = [asyncio.create_task(http.post("/api/queries", json=each)) for each in asked]
            while not stuck.is_set():
                await asyncio.sleep(0.01)
            paused = await http.post("/api/queries/q/pause")
            listed = await http.get("/api/queries")
            assert paused.json()["paused"] and not any(task.done() for task in waiting)
            held.set()
            made = await asyncio.gather(*waiting)
            return [paused.status_code, listed.status_code], {each.status_code for each in made}

    assert asyncio.run(all_of()) == ([200, 200], {201})
