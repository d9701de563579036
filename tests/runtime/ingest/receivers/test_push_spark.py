"""All pushed streams through one job on Spark: each message once in the results, also across a restart."""

from __future__ import annotations

import json
import socket
import threading
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from kafka_broker import create_topic, kafka, produce
from network_peers import Events, event_server, mosquitto, until, websocket_server
from weir import Engine
from weir.runtime.output.sinks.result_files import FilePerQuery
from weir.runtime.running import RunningJob

pytestmark = [pytest.mark.network, pytest.mark.spark]
KINDS = ("mqtt", "ws", "sse", "tcp", "push", "kafka")
QUERY = """REGISTER RSTREAM <{kind}> AS SELECT ?s FROM NAMED WINDOW <w> ON <urn:{kind}>
[RANGE PT1S STEP PT1S] WHERE {{ WINDOW <w> {{ ?s <urn:p> ?o }} }}"""


def line(kind: str, number: int) -> str:
    """A message in the window that begins at ``number`` seconds."""
    return f"{number * 1000}\t<urn:{kind}/{number}> <urn:p> <urn:o> ."


def test_every_kind_of_push_and_a_restart(spark: SparkSession, tmp_path: Path) -> None:
    """Messages 1–3 in the first run, 4–6 in the second; one bad message each over MQTT and push."""
    with ExitStack() as stack:
        broker = stack.enter_context(mosquitto(tmp_path / "mosquitto"))
        servers = stack.enter_context(kafka(tmp_path / "kafka"))
        create_topic(servers, "t", 1)
        ready = threading.Event()

        def talk(connection: Any) -> None:
            for number in (4, 5, 6) if ready.is_set() else (1, 2, 3):
                connection.send(line("ws", number))
            connection.recv()

        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))

        def serve() -> None:
            for numbers in ((1, 2, 3), (4, 5, 6)):
                with listener.accept()[0] as peer:
                    peer.sendall("".join(f"{line('tcp', number)}\n" for number in numbers).encode())
                    peer.recv(1)

        threading.Thread(target=serve, daemon=True).start()
        port = stack.enter_context(websocket_server(talk))
        events = Events([line("sse", number) for number in range(1, 7)], each=3)
        base = stack.enter_context(event_server(events))
        addresses = {
            "mqtt": f"mqtt://127.0.0.1:{broker.port}/t/#",
            "ws": f"ws://127.0.0.1:{port}/",
            "sse": f"sse+{base}/events",
            "tcp": f"tcp://127.0.0.1:{listener.getsockname()[1]}",
            "push": "push:",
            "kafka": f"kafka://{servers}/t",
        }

        def started() -> RunningJob:
            engine = Engine(checkpoint=tmp_path / "checkpoint", spark=spark)
            for kind, address in addresses.items():
                engine.stream(f"urn:{kind}", address)
                engine.register(QUERY.format(kind=kind))
            files = FilePerQuery(tmp_path / "per", tmp_path / "logs")
            dead = tmp_path / "dead.jsonl"
            job = engine.start(out=tmp_path / "out.jsonl", sinks=[files], dead_letters=dead)
            until(lambda: job.receivers.state()["urn:mqtt"]["connected"])
            return job

        def push(job: RunningJob, numbers: tuple[int, ...]) -> None:
            for number in numbers:
                job.receivers.writer("urn:push").append(line("push", number).encode())
            produce(servers, "t", [(0, line("kafka", number).encode(), 0) for number in numbers])

        job = started()
        push(job, (1, 2, 3))
        job.receivers.writer("urn:push").append(b"no turtle", format="ttl", time=2_000_000)
        broker.publish([("t/a", line("mqtt", number).encode()) for number in (1, 2, 3)] + [("t/b", b"bad")])
        until(lambda: found(tmp_path, 2) >= 5, 90)
        job.stop()
        ready.set()
        broker.publish([("t/a", line("mqtt", number).encode()) for number in (4, 5, 6)])
        job = started()
        push(job, (4, 5, 6))
        until(
            lambda: all(job.receivers.state()[f"urn:{kind}"]["messages"] for kind in ("mqtt", "ws", "tcp")),
            30,
        )
        until(lambda: found(tmp_path, 5) >= 5, 90)
        job.finish()
        until(lambda: found(tmp_path, 6) >= 6, 90)
        job.stop()
    rows = [json.loads(text) for text in (tmp_path / "out.jsonl").read_text().splitlines()]
    seen = Counter(row["bindings"]["s"]["value"] for row in rows)
    assert seen == Counter(f"urn:{kind}/{number}" for kind in KINDS for number in range(1, 7))
    letters = [json.loads(text) for text in (tmp_path / "dead.jsonl").read_text().splitlines()]
    assert sorted((letter["stream"], letter["source"]) for letter in letters) == [
        ("urn:mqtt", "t/b"),
        ("urn:push", ""),
    ]
    assert len(list((tmp_path / "per").glob("*.jsonl"))) == 6


def found(folder: Path, number: int) -> int:
    """In how many streams the message of a number is among the results."""
    path = folder / "out.jsonl"
    return path.read_text().count(f'/{number}"') if path.exists() else 0
