"""Lines of a TCP socket against a real server: where messages end, and lines that are too long."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

import pytest

from network_peers import dead, line, logged, opened, until
from weir.runtime.ingest.receivers.tcp_receiver import TcpReceiver
from weir.runtime.ingest.sources import Place
from weir.runtime.ingest.sources.push_sources import TcpSource

pytestmark = pytest.mark.network


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place("urn:s", tmp_path, "feed", 2)


def test_lines_of_a_socket_become_messages(place: Place) -> None:
    """One message ends with the next time, one with a pause, one with the connection; a line is too long."""
    listener = socket.create_server(("127.0.0.1", 0))
    sent = threading.Event()

    def lines() -> list[str]:
        return [each for _, payload in logged(place) for each in payload.decode().split("\n")]

    def serve() -> None:
        with listener.accept()[0] as peer:
            peer.sendall(f"{line(1)}\n{line(1)}\n{line(2)}\n{line(3)[:9]}".encode())
            until(lambda: len(logged(place)) == 1)
            peer.sendall(f"{line(3)[9:]}\n{'z' * 500}".encode())
            until(lambda: len(lines()) == 4)
            peer.sendall(f"zz\n{line(3)}".encode())
            sent.set()

    thread = threading.Thread(target=serve)
    thread.start()
    receivers = opened(place, f"tcp://127.0.0.1:{listener.getsockname()[1]}?max_message=200")
    until(lambda: sent.is_set() and len(lines()) == 5)
    receivers.close_all()
    thread.join()
    listener.close()
    assert lines() == [line(1), line(1), line(2), line(3), line(3)]
    assert logged(place)[0] == ("", f"{line(1)}\n{line(1)}".encode())
    assert logged(place)[-1] == ("", line(3).encode())
    assert dead(place) == ["larger than 200 bytes"]


def test_each_line_is_a_message_where_lines_have_no_time(place: Place) -> None:
    lines = [f"<urn:s{number}> <urn:p> <urn:o> ." for number in range(3)]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        source = TcpSource(host="127.0.0.1", port=listener.getsockname()[1], format="ntriples")
        with source.writer(place) as writer:
            receiver = TcpReceiver(source, writer)
            receiver.start()
            with listener.accept()[0] as peer:
                peer.sendall("\n".join(lines).encode())
            until(lambda: len(logged(place)) == 3)
            receiver.stop()
    assert [payload.decode() for _, payload in logged(place)][:3] == lines
