"""A real service with two addresses and a real Chromium (Debian's): what the dashboard's tests stand on.

Its job runs in this process: the pages speak to the HTTP API alone, which is tested over Spark elsewhere.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import httpx
import pytest
import uvicorn
from playwright.sync_api import Locator, Page

from shared import ROOT
from weir.linked.serving.admission import Access
from weir.server.api.access import Gate
from weir.server.api.application import build
from weir.server.resources import slug
from weir.server.service import Service
from weir.server.settings import Settings, Token
from weir_bench.oxigraph import Oxigraph, free_port

ARTEFACTS = ROOT / "artefacts" / "dashboard"
TOKEN = "a-token-for-the-tests"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
OFFLINE = ("Could not resolve", "Temporary failure", "Could not connect", "Network is unreachable")
PATIENCE = 150_000
"""Milliseconds: a batch takes seconds where the machine is busy, and the first starts the workers."""


def chromium() -> str:
    """The browser's path. It is installed where that is possible; otherwise the tests are skipped, and in CI
    only a missing network excuses that."""
    if found := shutil.which("chromium"):
        return found
    reason, offline = "Chromium is not installed, and only root can install it", False
    if os.geteuid() == 0 and shutil.which("apt-get"):
        for command in (
            ["apt-get", "-o", "DPkg::Lock::Timeout=150", "update"],
            ["apt-get", "-o", "DPkg::Lock::Timeout=150", "install", "-y", "chromium"],
        ):
            done = subprocess.run(command, capture_output=True, text=True, timeout=280)
            offline = offline or any(text in done.stderr for text in OFFLINE)
        if found := shutil.which("chromium"):
            return found
        reason = f"Chromium cannot be installed: {done.stderr.strip()[-200:]}"
    if os.environ.get("CI") == "true" and not offline:
        pytest.fail(reason)
    pytest.skip(reason)


@dataclass
class Site:
    """The service, its open address, the one that asks for a token, and a remote endpoint that it may ask."""

    service: Service
    open: str
    guarded: str
    endpoint: Oxigraph

    def push(self, stream: str, *lines: str) -> None:
        """Lines of ``.tnq``."""
        address = f"{self.open}/api/streams/{slug(stream)}/messages"
        headers = {"Content-Type": "application/x-tnq"}
        reply = httpx.post(address, content="\n".join(lines) + "\n", headers=headers, timeout=PATIENCE / 1000)
        assert reply.status_code == 202, reply.text

    def disconnect(self, query: str) -> None:
        """End the event streams of a query; the query goes on."""
        channels = self.service.channels
        assert channels._loop is not None
        channels._loop.call_soon_threadsafe(channels.drop, query)


@contextmanager
def serving(data: Path, **settings: Any) -> Iterator[Site]:
    """Both servers in one event loop, for followers live in one loop; the first one starts the job."""
    with Oxigraph() as endpoint:
        yield from _serving(data, endpoint, settings)


def _serving(data: Path, endpoint: Oxigraph, given: dict[str, Any]) -> Iterator[Site]:
    first, second = free_port(), free_port()
    services = {endpoint.endpoint: {"budget": 5}}
    settings = Settings(port=first, data=data, runner="direct", services=services, **given)
    service = Service(settings)
    app = build(service)

    def server(access: Access, port: int, lifespan: Literal["on", "off"]) -> uvicorn.Server:
        gate = Gate(app, access, settings.limits)
        return uvicorn.Server(
            uvicorn.Config(gate, port=port, lifespan=lifespan, log_level="error", timeout_graceful_shutdown=1)
        )

    servers = [server(Access(), first, "on"), server(Access([Token(TOKEN, "admin")]), second, "off")]

    async def serve() -> None:
        await asyncio.gather(*(each.serve() for each in servers))

    thread = threading.Thread(target=asyncio.run, args=(serve(),), daemon=True)
    thread.start()
    try:
        end = time.monotonic() + 120
        while not all(each.started for each in servers):
            assert time.monotonic() < end and thread.is_alive(), "the service did not start"
            time.sleep(0.05)
        yield Site(service, f"http://127.0.0.1:{first}", f"http://127.0.0.1:{second}", endpoint)
    finally:
        for each in servers:
            each.should_exit = True
        thread.join(60)


def option(page: Page, name: str) -> Locator:
    """A query in the list."""
    return page.locator("#queries [role=option]", has=page.get_by_text(name, exact=True))


def options(page: Page) -> Locator:
    """All queries in the list."""
    return page.locator("#queries [role=option]")


def rows(page: Page) -> Locator:
    """The results in the table."""
    return page.locator("#results tbody tr")


def editor(page: Page) -> Locator:
    """The text area of the editor."""
    return page.get_by_label("Query", exact=True)


def write(page: Page, text: str, dialect: str = "auto") -> None:
    """A text into the editor, to be read in a dialect."""
    page.locator(f"input[name=dialect][value={dialect}]").check()
    editor(page).fill(text)


def keep(page: Page, name: str, whole: bool = False) -> Path:
    """A screenshot as an artefact."""
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"{name}.png", full_page=whole)
    return ARTEFACTS / f"{name}.png"
