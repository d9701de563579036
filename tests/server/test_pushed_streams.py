"""Messages that are pushed: which lines are good, and when a silent stream gets a heartbeat."""

from __future__ import annotations

from pathlib import Path

from weir.runtime.ingest.sources.feeds import Place
from weir.runtime.ingest.sources.log_source import LogSource
from weir.server.pushed_streams import PushedStream, check_lines


def test_stream_lines_are_checked_one_by_one_where_one_is_bad() -> None:
    good = b'1000\t<http://e/a> <http://e/b> "c" .\n1000\t<http://e/a> <http://e/b> "d" .\n2000\t\n'
    checked = check_lines(good)
    assert checked.messages == [(1_000_000, 2), (2_000_000, 0)]
    assert checked.data == good
    mixed = b"# note\n\n" + good.replace(b"2000", b"2001-01-01T00:00:00Z") + b"x\n5\tbad\nno\t<a>\n"
    found = check_lines(mixed)
    assert [each.line for each in found.rejected] == [6, 7, 8]
    assert found.messages[1] == (978_307_200_000_000, 0)
    assert found.data.count(b"\n") == 3
    assert check_lines(b"").messages == []


def test_a_live_stream_gets_heartbeats_and_a_replayed_one_does_not(tmp_path: Path) -> None:
    from_log = LogSource(folder=str(tmp_path))
    now = [1_000_000.0]
    with from_log.writer(Place("s", tmp_path, "s")) as writer:
        stream = PushedStream(writer, clock=lambda: now[0])
        future, _ = stream.push(b"1000\t<http://e/a> <http://e/b> <http://e/c> .\n", "application/x-tnq")
        assert future is not None and future.result(30) >= 0
        size = writer.backlog()
        now[0] += 2
        stream.beat()
        assert writer.backlog() == size
        body = b"%d\t<http://e/a> <http://e/b> <http://e/c> .\n" % (now[0] * 1000)
        stream.push(body, "application/x-tnq")[0].result(30)  # type: ignore[union-attr]
        size = writer.backlog()
        now[0] += 2
        stream.beat()
        writer.append(b"", format="tnq")
        assert writer.backlog() > size
        assert stream.rate > 0
        refused = stream.push(b"<a> <b", "text/turtle")
        assert refused[0] is None and refused[1].rejected


def test_a_complete_push_ends_its_time(tmp_path: Path) -> None:
    """The message is followed by a heartbeat a microsecond later, in either format."""
    source = LogSource(folder=str(tmp_path))
    place = Place("s", tmp_path, "s")
    with source.writer(place) as writer:
        stream = PushedStream(writer, clock=lambda: 3.5)
        for body, kind in (
            (b"1000\t<http://e/a> <http://e/b> <http://e/c> .\n", "application/x-tnq"),
            (b"<http://e/a> <http://e/b> <http://e/c> .\n", "text/turtle"),
        ):
            future, _ = stream.push(body, kind, complete=True)
            assert future is not None and future.result(30) >= 0
        assert writer.latest_time == 3_500_000
    logged = b"".join(path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file())
    assert b"1970-01-01T00:00:01.000001Z\t\n" in logged and b"1970-01-01T00:00:03.500001Z\t\n" in logged
