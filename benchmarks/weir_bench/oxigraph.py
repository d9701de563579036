"""The real SPARQL server of the benchmarks and tests: the ``oxigraph`` package's, on the loopback."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType

import httpx

from weir.errors import UsageError


def free_port() -> int:
    """A port of the loopback that nobody listens on at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Oxigraph:
    """A server with an empty store in memory; the store is lost when it ends or is killed."""

    def __init__(self, port: int | None = None) -> None:
        found = shutil.which("oxigraph", path=str(Path(sys.executable).parent)) or shutil.which("oxigraph")
        if found is None:
            raise UsageError("the oxigraph server is not installed", hint="pip install 'weir[bench]'")
        self._program = found
        self.port = port or free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._http = httpx.Client(timeout=10, trust_env=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def endpoint(self) -> str:
        """The address of queries."""
        return f"{self.url}/query"

    def __enter__(self) -> Oxigraph:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        self._http.close()

    def start(self) -> None:
        """Start (again, on the same port) and wait until it answers."""
        address = f"127.0.0.1:{self.port}"
        self._process = subprocess.Popen(
            [self._program, "serve", "--bind", address], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        until = time.monotonic() + 20
        while True:
            try:
                self._http.get(self.url)
                return
            except httpx.TransportError:
                if self._process.poll() is not None or time.monotonic() > until:
                    raise UsageError(f"the oxigraph server did not start on {address}") from None
                time.sleep(0.02)

    def kill(self) -> None:
        """End it at once, as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def stall(self) -> None:
        """Stop it in its tracks: it accepts connections and says nothing."""
        if self._process is not None:
            self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a stalled server go on."""
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)

    def load(self, turtle: str) -> None:
        """Add triples to the default graph."""
        response = self._http.post(
            f"{self.url}/store?default", content=turtle.encode(), headers={"Content-Type": "text/turtle"}
        )
        response.raise_for_status()

    def update(self, text: str) -> None:
        """Run a SPARQL update."""
        self._http.post(f"{self.url}/update", data={"update": text}).raise_for_status()
