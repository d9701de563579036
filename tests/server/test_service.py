"""The service with a job that never runs a batch: streams, queries, limits, restarts."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest

from server_kit import StillJob, still_service
from weir.errors import UsageError
from weir.server import service as supervised
from weir.server import supervisor
from weir.server.problems import Problem
from weir.server.service import Service
from weir.server.settings import Limits, Settings
from weir.server.supervisor import Supervisor

TEXT = "SELECT * { STREAM <http://e/s> [NOW] { ?a ?b ?c } }"


def test_before_it_has_a_job_everything_is_to_come(tmp_path: Path) -> None:
    service = Service(Settings(data=tmp_path))
    assert not service.healthy
    with pytest.raises(Problem, match="starting") as told:
        service.job.streams()
    assert told.value.headers["Retry-After"] == "2"


def test_the_data_folder_is_its_owners_alone(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir(mode=0o755)
    for folder in (tmp_path / "open", tmp_path / "new" / "data"):
        Service(Settings(data=folder))
        assert folder.stat().st_mode & 0o777 == 0o700


def test_changes_wait_for_a_job_that_is_started_again(tmp_path: Path) -> None:
    service = still_service(tmp_path)
    service.register(TEXT, "q", "cqels", "auto")
    job = service.job
    assert isinstance(job, StillJob)
    job.active = False
    with ThreadPoolExecutor() as pool:
        changes = pool.submit(service.pause, "q"), pool.submit(service.register, TEXT, "r", "cqels", "auto")
        assert not wait(changes, 0.3).done
        job.active = True
        assert [each.result(20).paused for each in changes] == [True, False]


def test_changes_do_not_wait_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervised, "_PATIENCE", 0.2)
    service = still_service(tmp_path)
    assert isinstance(service.job, StillJob)
    service.job.active = False
    with pytest.raises(Problem, match="started again"):
        service.register(TEXT, "q", "cqels", "auto")
    assert [each.iri for each in service.job.streams()] == ["http://e/s"]


def test_streams_and_queries_are_found_by_id_and_by_name(tmp_path: Path) -> None:
    service = still_service(tmp_path)
    service.register(TEXT, "q", "cqels", "auto")
    assert service.stream("s") == service.stream("http://e/s")
    assert service.query("q").name == "q"
    with pytest.raises(Problem, match="no such stream"):
        service.stream("t")
    with pytest.raises(Problem, match="no such query"):
        service.query("r")


def test_there_are_only_so_many_streams_and_queries(tmp_path: Path) -> None:
    service = still_service(tmp_path, Limits(streams=1, queries=1, query_text=100))
    with pytest.raises(Problem, match="too many streams"):
        service.add_stream("http://e/t")
    service.register(TEXT, "q", "cqels", "auto")
    with pytest.raises(Problem, match="too many queries"):
        service.register(TEXT, "r", "cqels", "auto")
    with pytest.raises(UsageError, match="longer than 100"):
        service.register(TEXT + " " * 100, "r", "cqels", "auto")


def test_a_stream_that_is_read_stays(tmp_path: Path) -> None:
    service = still_service(tmp_path)
    service.register(TEXT, "q", "cqels", "auto")
    with pytest.raises(Problem) as refused:
        service.drop_stream("s")
    assert refused.value.status == 409
    service.drop("q")
    service.drop_stream("s")
    assert not service.job.streams() and not service.pushed


def test_what_was_published_is_so_after_a_restart(tmp_path: Path) -> None:
    service = still_service(tmp_path)
    service.register(TEXT, "q", "cqels", "auto")
    assert service.publish("q", {"lifetime": 20}) == "q"
    assert service.records.get("published", "q")["lifetime"] == 20
    assert service.publish("q", {"lifetime": 20}) == "q"
    service.unpublish("q")
    assert Service(Settings(data=tmp_path)).records.all("published") == {}


def test_a_push_looks_at_no_catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the control log is, the stream of a push is found by its id."""
    service = still_service(tmp_path)

    def listed(_: StillJob) -> list[object]:
        raise AssertionError("all streams were looked at")

    with monkeypatch.context() as patched:
        patched.setattr(StillJob, "streams", listed)
        pushed = service.pushed_stream("s")
    assert pushed is service.pushed["http://e/s"]
    service.drop_stream("s")
    with pytest.raises(Problem, match="no such stream"):
        service.pushed_stream("s")
    pushed.writer.close()


def test_whatever_happens_the_supervisor_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(supervisor, "_PERIOD", 0.001)
    monkeypatch.setattr(supervisor, "_LONGEST", 0.002)
    service, looks = still_service(tmp_path), 0
    errors = [
        ValueError("no"),
        MemoryError(),
        SystemExit(1),
        KeyboardInterrupt(),
        RecursionError(),
        OSError(28),
    ]
    over = threading.Event()

    def restart() -> bool:
        nonlocal looks
        looks += 1
        if looks <= len(errors):
            raise errors[looks - 1]
        over.set()
        return False

    monkeypatch.setattr(service, "restart", restart)
    made = Supervisor(service)
    made.start()
    assert over.wait(60)
    made.stop()
    assert looks > len(errors)
