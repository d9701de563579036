"""One real server for all tests of the API: uvicorn and Spark in a process of their own."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from server_kit import Server

CONFIG = """
[limits]
body = 200000
sparql = 5.0
window = 3600.0
subscribers = 50

[allow]
hosts = ["example.org", "localhost"]

[services."http://127.0.0.1:9/sparql"]
budget = 2
"""


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    made = Server(tmp_path_factory.mktemp("service"), CONFIG).start()
    yield made
    made.stop()


@pytest.fixture(scope="session")
def api(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.base, timeout=120) as client:
        yield client
