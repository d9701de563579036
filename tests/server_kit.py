"""What tests of the service share: results by hand, and a real server in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pyarrow as pa

from weir.runtime.sinks.base import Results


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
