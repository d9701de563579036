"""The server of ``weir serve`` with a certificate: requests, events and sockets; no Spark behind it."""

from __future__ import annotations

import json
import ssl
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from itertools import islice

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from server_kit import CHIEF, READER, TOKENS, StillJob, answers, certificate_in
from weir.server import server as server_of
from weir.server.service import Service
from weir.server.settings import Settings
from weir_bench.oxigraph import free_port

pytestmark = pytest.mark.network

TEXT = "SELECT * { STREAM <http://e/s> [NOW] { ?a ?b ?c } }"
RESULTS = "/api/queries/q/results"


class StillService(Service):
    """A service over a job that never runs a batch; the query q has three results."""

    def start(self) -> None:
        self._job = StillJob(self.settings.data / "job")  # type: ignore[assignment]
        self.add_stream("http://e/s", "s")
        self.register(TEXT, "q", "cqels", "auto")
        self.log.open()
        self.log.write(0, [answers("q", 0, 3)])

    def stop(self) -> None:
        self.sparql.close()
        self.log.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, ssl.SSLContext]]:
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = certificate_in(folder)
    told = {"certificate": certificate, "key": key, "tokens": TOKENS, "port": free_port()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules[server_of.__module__], "Service", StillService)
        server = server_of(Settings(data=folder / "data", **told), timeout_graceful_shutdown=1)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    end = time.monotonic() + 60
    while not server.started:
        assert time.monotonic() < end and thread.is_alive(), "it does not start"
        time.sleep(0.02)
    yield f"https://127.0.0.1:{told['port']}", ssl.create_default_context(cafile=certificate)
    server.should_exit = True
    thread.join(30)


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def test_requests_events_and_sockets_come_with_tls(served: tuple[str, ssl.SSLContext]) -> None:
    base, trusted = served
    events = {"accept": "text/event-stream"}
    with httpx.Client(base_url=base, verify=trusted, timeout=30) as client:
        for path, token, status in (("/health", "", 200), (RESULTS, "", 401), (RESULTS, READER, 200)):
            assert client.get(path, headers=bearer(token) if token else {}).status_code == status
        pushed = '1000\t<http://e/a> <http://e/p> "x" .\n'
        tnq = {"content-type": "application/x-tnq", **bearer(CHIEF)}
        assert client.post("/api/streams/s/messages", content=pushed, headers=tnq).status_code == 202
        with client.stream("GET", f"{RESULTS}?from=0", headers={**events, **bearer(READER)}) as stream:
            told = [json.loads(line[6:]) for line in islice(data_of(stream), 3)]
        assert [each["n"] for each in told] == [0, 1, 2]
        assert client.get(RESULTS, headers=events).status_code == 401
    address = base.replace("https", "wss") + f"{RESULTS}/ws?from=0"
    with connect(address, ssl=trusted, additional_headers=bearer(READER)) as socket:
        assert [each["n"] for each in json.loads(socket.recv(timeout=30))["results"]] == [0, 1, 2]
    with pytest.raises((InvalidStatus, ConnectionClosed)), connect(address, ssl=trusted) as socket:
        socket.recv(timeout=30)


def data_of(stream: httpx.Response) -> Iterator[str]:
    return (line for line in stream.iter_lines() if line.startswith("data: "))


@pytest.mark.parametrize("path", ["/health", "/api/queries", "/fragments", "/"])
def test_nothing_is_told_without_tls(served: tuple[str, ssl.SSLContext], path: str) -> None:
    with pytest.raises(httpx.TransportError):
        httpx.get(served[0].replace("https", "http") + path, headers=bearer(CHIEF), timeout=10)


def test_who_does_not_trust_it_hears_nothing(served: tuple[str, ssl.SSLContext]) -> None:
    with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
        httpx.get(f"{served[0]}/health", timeout=10)
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{served[0]}/health", verify=old, timeout=10)


def test_other_pages_change_nothing(served: tuple[str, ssl.SSLContext]) -> None:
    base, trusted = served
    for origin, status in ((base, 200), ("https://evil.example", 403)):
        headers = {"origin": origin, **bearer(CHIEF)}
        told = httpx.post(f"{base}/api/parse", json={"text": "ASK {}"}, headers=headers, verify=trusted)
        assert told.status_code == status, origin
