"""Real peers on the loopback interface: mosquitto, a WebSocket server, a server of events.

A peer that is missing is installed where that can be done; else the test is skipped with the reason, which in
CI has to be the network.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import uvicorn
import websockets.sync.server
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from weir.runtime.ingest.receivers import Receivers
from weir.runtime.ingest.sources import Place
from weir.runtime.ingest.sources.feeds import Reached
from weir.runtime.ingest.sources.log_source import LogSource, Record, log_folder, records
from weir.runtime.ingest.sources.source_addresses import source_from
from weir.runtime.mqtt_clients import leave
from weir.storage.segments import Segments
from weir_bench.oxigraph import free_port

_OFFLINE = (
    "Could not resolve",
    "Temporary failure",
    "Unable to connect",
    "Connection timed out",
    "Unable to fetch",
)


def unavailable(reason: str, *, offline: bool) -> None:
    """Skip, or fail in CI where the network is not to blame."""
    if os.environ.get("CI") == "true" and not offline:
        pytest.fail(reason)
    pytest.skip(reason)


def until(condition: Callable[[], Any], seconds: float = 20.0) -> Any:
    """What ``condition`` gives once it is true."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not come about in time"
        time.sleep(0.01)
    return found


def _records(place: Place) -> list[Record]:
    log = Segments(log_folder(place))
    return [record for number in log.numbers for record in records(log.path(number).read_bytes(), 0)]


def logged(place: Place) -> list[tuple[str, bytes]]:
    """Every record of a stream's log, as (lane, payload); heartbeats left out."""
    return [
        (record.lane, record.payload.rstrip(b"\n"))
        for record in _records(place)
        if not record.reason and not record.payload.endswith(b"\t\n")
    ]


def dead(place: Place) -> list[str]:
    """The reasons of what was set aside before the log."""
    return [record.reason for record in _records(place) if record.reason]


def debian_command(command: str, package: str) -> str:
    """A server from the system's packages, installed where it is missing."""
    found = shutil.which(command, path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if found is not None:
        return found
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        unavailable(f"{command} is not installed, and only root can install it with apt-get", offline=False)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    reason = ""
    for step in (["install"], ["update"], ["install"]):
        extra = ["-y", "--no-install-recommends", package] if step == ["install"] else []
        run = subprocess.run(
            ["apt-get", "-o", "DPkg::Lock::Timeout=150", *step, *extra],
            env=environment,
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        reason = run.stderr[-300:]
        if step == ["install"] and run.returncode == 0:
            return debian_command(command, package)
    unavailable(
        f"apt-get cannot install {package}: {reason}", offline=any(word in reason for word in _OFFLINE)
    )
    raise AssertionError


class Broker:
    """A mosquitto that can be killed and started again; it remembers its sessions."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self._command = debian_command("mosquitto", "mosquitto")
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        os.chmod(folder, 0o777)
        lines = [
            f"listener {self.port} 127.0.0.1",
            "allow_anonymous true",
            "persistence true",
            "max_queued_messages 0",
            "max_inflight_messages 0",
            f"persistence_location {folder}/",
            "user root" if os.geteuid() == 0 else "",
        ]
        (folder / "mosquitto.conf").write_text("\n".join(lines) + "\n")
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        log = (self._folder / "mosquitto.out").open("ab")
        with log:
            self._process = subprocess.Popen(
                [self._command, "-c", str(self._folder / "mosquitto.conf")], stdout=log, stderr=log
            )
        until(lambda: listens(self.port))

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(10)
            self._process = None

    def publish(self, messages: list[tuple[str, bytes]], *, retain: bool = False) -> None:
        """Publish at QoS 1, and wait until the broker has all."""
        client = Client(CallbackAPIVersion.VERSION2)
        client.connect("127.0.0.1", self.port)
        client.loop_start()
        for token in [client.publish(topic, payload, qos=1, retain=retain) for topic, payload in messages]:
            token.wait_for_publish(10)
        leave(client)


@contextmanager
def mosquitto(folder: Path) -> Iterator[Broker]:
    """A running broker."""
    broker = Broker(folder)
    broker.start()
    try:
        yield broker
    finally:
        broker.stop()


@contextmanager
def websocket_server(handler: Callable[[Any], None], port: int = 0, **options: Any) -> Iterator[int]:
    """A WebSocket server; its port."""

    def quiet(connection: Any) -> None:
        with suppress(websockets.exceptions.ConnectionClosed):
            handler(connection)

    with websockets.sync.server.serve(quiet, "127.0.0.1", port, **options) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.socket.getsockname()[1]
        server.shutdown()
        thread.join(5)


class Events:
    """A server of events with ids 1, 2, …; it breaks every connection after ``each`` events."""

    def __init__(self, events: list[str], each: int) -> None:
        self.events = events
        self.each = each
        self.asked: list[str | None] = []

    async def endless(self, request: Request) -> Response:
        last = request.headers.get("last-event-id")
        self.asked.append(last)
        begin = int(last or 0)

        async def body() -> AsyncIterator[str]:
            yield "retry: 20\n\n: welcome\n\n"
            for number, text in enumerate(self.events[begin : begin + self.each], begin + 1):
                data = "\n".join(f"data: {line}" for line in text.split("\n"))
                yield f"id: {number}\n{data}\n\n"

        if begin >= len(self.events):
            return Response(status_code=204)
        return StreamingResponse(body(), media_type="text/event-stream")

    async def elsewhere(self, request: Request) -> Response:
        return RedirectResponse("/events")


@contextmanager
def event_server(events: Events) -> Iterator[str]:
    """The address of a running server."""
    routes = [Route("/events", events.endless), Route("/moved", events.elsewhere)]
    config = uvicorn.Config(Starlette(routes=routes), port=free_port(), log_level="error", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until(lambda: server.started)
    yield f"http://127.0.0.1:{config.port}"
    server.should_exit = True
    thread.join(10)


def everything(place: Place) -> Reached:
    """How far a stream's log goes."""
    return LogSource().feed(place).latest({}, False)


def listens(port: int) -> bool:
    """Whether somebody takes connections at a port of this machine."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def opened(place: Place, address: str) -> Receivers:
    """Receivers with the stream of a place, from an address."""
    receivers = Receivers(place.own)
    source = source_from(address)
    assert source is not None
    receivers.open(place.stream, source, place.log_name)
    return receivers


def line(number: int) -> str:
    """A stream line of its own time."""
    return f"{number}\t<urn:s{number}> <urn:p> <urn:o> ."
