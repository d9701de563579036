"""``kill -9`` of the whole server under load: subscribers resume without gaps or doubles."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import httpx
import pytest

from server_kit import Server, Subscriber, until

pytestmark = [pytest.mark.spark, pytest.mark.network]

QUERY = (
    "SELECT ?who ?n WHERE { STREAM <http://e/load> [NOW] { ?who <http://e/n> ?n } }"  # an answer a message
)


class Pusher(threading.Thread):
    """Numbered messages; remembers which were acknowledged."""

    def __init__(self, base: str) -> None:
        super().__init__(daemon=True)
        self.base = base
        self.acknowledged: list[int] = []
        self.number = 0
        self.stopped = threading.Event()

    def run(self) -> None:
        while not self.stopped.is_set():
            first, count = self.number, 20
            lines = "".join(
                f"{1_000_000 + n}\t<http://e/m{n}> <http://e/n> {n} .\n".replace(f" {n} .", f' "{n}" .')
                for n in range(first, first + count)
            )
            self.number += count
            try:
                answer = httpx.post(
                    f"{self.base}/api/streams/load/messages",
                    content=lines,
                    headers={"content-type": "application/x-tnq"},
                    timeout=10,
                )
                if answer.status_code == 202:
                    self.acknowledged += range(first, first + count)
            except httpx.TransportError:
                pass
            time.sleep(0.05)


@pytest.mark.timeout(600)
def test_nothing_is_lost_or_doubled_when_the_server_is_killed(tmp_path: Path) -> None:
    server = Server(tmp_path).start()
    try:
        with httpx.Client(base_url=server.base, timeout=120) as api:
            assert api.post("/api/streams", json={"iri": "http://e/load", "id": "load"}).status_code == 201
            assert api.post("/api/queries", json={"text": QUERY, "name": "each"}).status_code == 201
        pusher = Pusher(server.base)
        with (
            Subscriber(server.base, "each", start=0) as early,
            Subscriber(server.base, "each", start=0) as other,
        ):
            pusher.start()
            until(lambda: len(early.seen) > 100, 200)
            server.kill()
            time.sleep(0.5)
            server.start()
            reached = len(early.seen)
            until(lambda: len(early.seen) > reached + 100, 200)
            pusher.stopped.set()
            pusher.join(30)
            for later in (10_000, 20_000):
                at = 1_000_000 + pusher.number + later
                httpx.post(
                    f"{server.base}/api/streams/load/messages",
                    content=f'{at}\t<http://e/end> <http://e/n> "end" .\n',
                    headers={"content-type": "application/x-tnq"},
                    timeout=60,
                ).raise_for_status()
            for each in (early, other):
                until(lambda each=each: any(is_end(line) for line in each.seen[-5:]), 200)  # type: ignore[misc]
        for each in (early, other):
            assert [line["position"] for line in each.seen] == list(range(len(each.seen)))
            numbers = [int(line["bindings"]["n"]["value"]) for line in each.seen if not is_end(line)]
            assert len(numbers) == len(set(numbers)), "an answer was doubled"
            assert set(pusher.acknowledged) <= set(numbers), "an acknowledged message was lost"
            assert each.missed == 0
            assert each.connections > 1
        with httpx.Client(base_url=server.base, timeout=60) as api:
            assert [each["id"] for each in api.get("/api/queries").json()["queries"]] == ["each"]
            assert [each["id"] for each in api.get("/api/streams").json()["streams"]] == ["load"]
    finally:
        server.stop()


def is_end(line: dict) -> bool:  # type: ignore[type-arg]
    return bool(line["bindings"]["n"]["value"] == "end")
