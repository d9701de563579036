"""An endpoint with moods before a real store, which has the ``DATA`` of the test module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from service_servers import MoodyServer, moody
from weir_bench.oxigraph import Oxigraph


@pytest.fixture(scope="module")
def store(request: pytest.FixtureRequest) -> Iterator[Oxigraph]:
    with Oxigraph() as running:
        running.load(request.module.DATA)
        yield running


@pytest.fixture
def server(store: Oxigraph) -> Iterator[MoodyServer]:
    with moody(store.port) as running:
        yield running
