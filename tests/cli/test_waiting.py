"""What a run says of the streams that it waits for."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

import pytest

from cli_kit import detected
from weir.cli.waiting import Waiting
from weir.engine import Engine

QUERY = "SELECT ?s FROM NAMED WINDOW <w> ON <{}> [NOW] WHERE {{ WINDOW <w> {{ ?s ?p ?o }} }}"


def test_a_connection_is_told_of_once_it_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.tnq").write_text(detected(1000, 1, 1))
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        engine = Engine(runner="direct")
        engine.stream("http://e/tcp", f"tcp://127.0.0.1:{port}")
        engine.stream("http://e/new", tmp_path, watch=True)
        engine.stream("http://e/ends", tmp_path / "a.tnq")
        engine.register(QUERY.format("http://e/tcp"), name="a")
        told, seen, job = Waiting(), "", engine.start()
        peer, _ = server.accept()
        with peer:
            for _ in range(600):
                told(job)
                seen += capsys.readouterr().err
                if "connected" in seen:
                    break
                threading.Event().wait(0.1)
            told(job)
        job.stop()
    assert f"weir: <http://e/tcp>: connected to tcp://127.0.0.1:{port}, waiting for messages\n" in seen
    assert f"weir: <http://e/new>: watching {tmp_path}, waiting for messages\n" in seen
    assert "http://e/ends" not in seen
    assert capsys.readouterr().err == ""
