"""`weir serve` and `weir follow`: both ends of a fragments feed from the command line, on the loopback."""

from __future__ import annotations

import json
import os
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from server_kit import certificate_in
from weir.cli.serve import secret_at
from weir.errors import UsageError
from weir_bench.oxigraph import free_port

pytestmark = pytest.mark.network

KEY = "k" * 20
QUERY = "SELECT ?x { ?x <http://e/p> <http://e/b> }"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    data = tmp_path / "data.nt"
    data.write_text("<http://e/a> <http://e/p> <http://e/b> .\n")
    port = free_port()
    command = [sys.executable, "-m", "weir", "serve", "--dataset", f"d={data}", "--port", str(port)]
    key = tmp_path / "key"
    key.write_text(f"{KEY}\n")
    command += ["--push", str(key), "--annotation", "reification", "--labeling", "interval"]
    command += ["--history", "3600"]
    server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}/d"
    try:
        for _ in range(600):
            try:
                httpx.get(address, timeout=5)
                break
            except httpx.TransportError:
                time.sleep(0.1)
        yield address
    finally:
        os.kill(server.pid, signal.SIGTERM)
        server.wait(30)


def follow(query: str, url: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    path = tmp_path / "who.rq"
    path.write_text(query)
    command = [sys.executable, "-m", "weir", "follow", str(path), url]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_what_is_served_is_followed(served: str, tmp_path: Path) -> None:
    done = follow(QUERY, served, tmp_path)
    assert done.returncode == 0, done.stderr
    (line,) = [json.loads(text) for text in done.stdout.splitlines()]
    assert (line["query"], line["op"]) == ("who", "I")
    assert line["bindings"] == {"x": {"type": "uri", "value": "http://e/a"}}
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "text/turtle"}
    fact = "<http://e/a> <http://e/q> <http://e/c> ."
    httpx.post(f"{served}?lifetime=60", content=fact, headers=headers).raise_for_status()
    shown = httpx.get(served, headers={"Accept": "application/n-quads"}).text
    assert "22-rdf-syntax-ns#subject> <http://e/a>" in shown and "interval>" in shown


def test_fragments_are_served_with_tls(tmp_path: Path) -> None:
    data, certificate, key = tmp_path / "data.nt", *certificate_in(tmp_path)
    data.write_text("<http://e/a> <http://e/p> <http://e/b> .\n")
    port = free_port()
    command = [sys.executable, "-m", "weir", "serve", "--dataset", f"d={data}", "--port", str(port)]
    command += ["--certificate", str(certificate), "--key", str(key)]
    server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    trusted = ssl.create_default_context(cafile=str(certificate))
    try:
        for _ in range(600):
            try:
                found = httpx.get(f"https://localhost:{port}/d", verify=trusted, timeout=5)
                break
            except httpx.ConnectError:
                time.sleep(0.1)
        assert found.status_code == 200 and "http://e/b" in found.text
        with pytest.raises(httpx.TransportError):
            httpx.get(f"http://localhost:{port}/d", timeout=5)
        stranger = {"host": "rebound.example"}
        refused = httpx.get(f"https://localhost:{port}/d", verify=trusted, headers=stranger)
        assert refused.status_code == 400
    finally:
        os.kill(server.pid, signal.SIGTERM)
        server.wait(30)


def test_a_token_is_in_a_file_or_in_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "token"
    file.write_text(f" {KEY}\n")
    monkeypatch.setenv("PUSH_TOKEN", KEY)
    assert secret_at(str(file)) == secret_at("env:PUSH_TOKEN") == KEY
    file.write_text("short")
    for place in (KEY, "env:NO_SUCH_VARIABLE", str(file), str(tmp_path)):
        with pytest.raises(UsageError) as refused:
            secret_at(place)
        assert KEY not in str(refused.value)


def test_a_query_that_does_not_parse_is_bad_usage(tmp_path: Path) -> None:
    done = follow("SELECT ?x {", "http://127.0.0.1:9/d", tmp_path)
    assert done.returncode == 2
    assert "query:1:" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--dataset", "d=none.nt"], "no such graph file"),
        (["--history", "60"], "--labeling interval"),
        (["--push", KEY], "names the file that holds the token"),
        (["--push", "env:NO_SUCH_VARIABLE"], "16 characters"),
        (["--certificate", "cert.pem"], "needs a certificate and its key"),
        (["--host", "0.0.0.0"], "open to everybody"),
    ],
)
def test_what_cannot_be_served_is_bad_usage(options: list[str], message: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "weir", "serve", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
