"""What tests of the service share: results by hand, and a real server in a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa

from weir.runtime.output.sinks.base import Results


def answers(name: str, first: int, count: int) -> Results:
    """Results of a query, numbered from ``first``."""
    lines = [json.dumps({"query": name, "n": number}) + "\n" for number in range(first, first + count)]
    return Results(name, pa.table({"at": pa.array(range(count)), "line": pa.array(lines, pa.large_string())}))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """``weir serve`` in a process of its own, over a folder; it can be killed and started again."""

    def __init__(self, folder: Path, config: str = "", *options: str) -> None:
        self.folder = folder
        self.options = options
        self.port = free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        self.log = folder / "server.log"
        self.config = folder / "weir.toml"
        self.config.write_text(config)
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, patience: float = 180) -> Server:
        command = [sys.executable, "-m", "weir", "serve", "--config", str(self.config)]
        command += ["--port", str(self.port), "--data", str(self.folder / "data"), "--master", "local[2]"]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*command, *self.options], stdout=log, stderr=log, start_new_session=True
            )
        until = time.monotonic() + patience
        while time.monotonic() < until:
            if self.process.poll() is not None:
                break
            try:
                if httpx.get(f"{self.base}/health", timeout=5).status_code == 200:
                    return self
            except httpx.TransportError:
                pass
            time.sleep(0.2)
        raise AssertionError(f"the server does not start:\n{self.log.read_text()[-3000:]}")

    def kill(self) -> None:
        """``kill -9`` of the whole process group: the server, the JVM and the workers."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(30)
        self.process = None

    def stop(self) -> None:
        """An orderly end."""
        if self.process is None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.kill()
        self.process = None


def until(condition: Callable[[], object], patience: float = 60) -> None:
    """Wait until something holds."""
    end = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


class Subscriber:
    """Follows the events of a query in a thread; comes back after a break, from where it was."""

    def __init__(self, base: str, query: str, *, start: int | None = None, last: int | None = None) -> None:
        self.address = f"{base}/api/queries/{query}/results"
        self.start = start
        self.last = last
        self.seen: list[dict[str, Any]] = []
        self.missed = 0
        self.connections = 0
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Subscriber:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join(10)

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._follow()
            except httpx.TransportError:
                time.sleep(0.2)

    def _follow(self) -> None:
        headers = {"accept": "text/event-stream"}
        if self.last is not None:
            headers["last-event-id"] = str(self.last)
        params = {} if self.start is None else {"from": self.start}
        timeout = httpx.Timeout(5, read=2)
        with httpx.stream("GET", self.address, params=params, headers=headers, timeout=timeout) as response:
            if response.status_code != 200:
                time.sleep(0.2)
                return
            self.connections += 1
            event = ""
            with contextlib.suppress(httpx.ReadTimeout):
                for line in response.iter_lines():
                    if self._stopped.is_set():
                        return
                    event = line[7:] if line.startswith("event: ") else event if line else ""
                    if line.startswith("data: "):
                        told = json.loads(line[6:])
                        if event == "missed":
                            self.missed += told["missed"]
                        elif not event:
                            self.seen.append(told)
                            self.last = told["position"]
