"""The real fragments peers: from npm @ldf/server to measure against, Comunica and ldes-client to be
understood by; and Varnish, as a shared cache on the way.

Each is installed once, in a folder of its own (their component versions clash), by the npm on PATH. Their
install scripts are left out: the one that takes minutes compiles a store (HDT) that nobody here uses.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

from weir.errors import RemoteError
from weir_bench.oxigraph import free_port

PACKAGES = {
    "comunica": "@comunica/query-sparql@4",
    "ldes-client": "ldes-client@0.3.0",
    "ldf-server": "@ldf/server@3.3.0",
    "rsp-js": "rsp-js@1.3.5",
}
"""Comunica 5 needs a newer Node than 20."""

_OFFLINE = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT", "ECONNRESET", "ENETUNREACH", "network")
_CONTEXT = "https://linkedsoftwaredependencies.org/bundles/npm/@ldf/server/^3.0.0/components/context.jsonld"


class PeerUnavailable(RemoteError):
    """A peer that cannot be installed; ``offline`` where the network is to blame."""

    def __init__(self, primary: str, *, offline: bool, detail: str | None = None) -> None:
        super().__init__(primary, detail=detail)
        self.offline = offline


def peers_folder() -> Path:
    """Where peers are installed: ``$WEIR_PEERS``, or ``weir/peers`` in the user's cache folder."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("WEIR_PEERS") or caches / "weir" / "peers").resolve()


def install(name: str, timeout: float = 280) -> Path:
    """The folder of an installed peer; several processes may ask at once."""
    home = peers_folder() / name
    home.mkdir(parents=True, exist_ok=True)
    with (home / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = home / ".installed"
        if stamp.exists() and stamp.read_text() == PACKAGES[name]:
            return home
        if shutil.which("npm") is None or shutil.which("node") is None:
            raise PeerUnavailable("node and npm are not installed", offline=False)
        (home / "package.json").write_text('{"private": true}\n')
        options = ["--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts"]
        command = ["npm", "install", *options, PACKAGES[name]]
        try:
            run = subprocess.run(
                command, cwd=home, capture_output=True, text=True, timeout=timeout, check=False
            )
        except subprocess.TimeoutExpired:
            raise PeerUnavailable(f"npm took too long to install {PACKAGES[name]}", offline=True) from None
        if run.returncode:
            offline = any(word in run.stderr for word in _OFFLINE)
            raise PeerUnavailable(
                f"npm cannot install {PACKAGES[name]}", offline=offline, detail=run.stderr[-400:]
            )
        stamp.write_text(PACKAGES[name])
        return home


@dataclass(frozen=True, slots=True)
class Peer:
    """A running server: the address above its data sets, and the process that does the work."""

    base: str
    pid: int


@contextmanager
def ldf_server(data: Mapping[str, Path], timeout: float = 60) -> Iterator[Peer]:
    """A running @ldf/server with one worker over Turtle or TriG files, by the names of their data sets."""
    home = install("ldf-server")
    port = free_port()
    config = {
        "@context": _CONTEXT,
        "@id": "urn:ldf-server:my",
        "import": "preset-qpf:config-defaults.json",
        "title": "peer",
        "baseURL": f"http://127.0.0.1:{port}/",
        "datasources": [
            {
                "@id": f"urn:ldf-server:{name}",
                "@type": "TrigDatasource" if file.suffix == ".trig" else "TurtleDatasource",
                "datasourceTitle": name,
                "datasourcePath": name,
                "file": str(file),
            }
            for name, file in data.items()
        ],
    }
    first, file = next(iter(data.items()))
    path = file.with_suffix(".config.json")
    path.write_text(json.dumps(config))
    log = file.with_suffix(".log")
    command = ["node", "node_modules/@ldf/server/bin/ldf-server", str(path), str(port), "1"]
    with log.open("w") as out:
        process = subprocess.Popen(command, cwd=home, stdout=out, stderr=subprocess.STDOUT)
    base = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{base}/{first}", process, log, timeout)
        yield Peer(base, _worker(log, process.pid))
    finally:
        end_process(process)


@contextmanager
def varnish(origin: str, folder: Path, command: str | None = None) -> Iterator[str]:
    """A Varnish as it comes, before a server of this machine; its address."""
    command = command or shutil.which("varnishd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if command is None:
        raise PeerUnavailable("varnishd is not installed", offline=False)
    port = free_port()
    options = [
        *("-F", "-j", "none", "-n", str(folder / "varnish"), "-s", "malloc,64m"),
        *("-a", f"127.0.0.1:{port}", "-b", origin.removeprefix("http://")),
        *("-p", "thread_pool_min=10", "-p", "thread_pools=1"),
    ]
    log = folder / "varnish.out"
    with log.open("wb") as out:
        process = subprocess.Popen([command, *options], stdout=out, stderr=subprocess.STDOUT)
    try:
        wait_for(f"http://127.0.0.1:{port}/", process, log, 60)
        yield f"http://127.0.0.1:{port}"
    finally:
        end_process(process)


def end_process(process: subprocess.Popen[Any]) -> None:
    """Ask a process to end, and make it if it is too busy to."""
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(20)


def _worker(log: Path, fallback: int) -> int:
    """The worker's process id, as the server's log says it."""
    for line in log.read_text().splitlines():
        words = line.split()
        if words[:1] == ["Worker"] and len(words) > 1 and words[1].isdecimal():
            return int(words[1])
    return fallback


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path, timeout: float) -> None:
    """Wait until a server answers."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RemoteError("the peer ended", detail=log.read_text()[-2000:])
        try:
            with urlopen(Request(url, headers={"Accept": "application/n-quads"}), timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.1)
    raise RemoteError("the peer did not start in time", detail=log.read_text()[-2000:])
