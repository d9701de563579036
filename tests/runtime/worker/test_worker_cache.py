"""What a worker remembers of a checkpoint: the catalog, the match plan and its groups as of each batch."""

from __future__ import annotations

from pathlib import Path

from weir.runtime.control.catalog import StreamEntry, entry_of
from weir.runtime.direct import DirectJob
from weir.runtime.worker.worker_cache import WorkerCache, worker_cache

QUERY = "SELECT * FROM NAMED WINDOW <w> ON <s> [NOW] WHERE { WINDOW <w> { ?x <http://e/p> ?y } }"


def job_with(folder: Path, *names: str) -> DirectJob:
    job = DirectJob(folder)
    job.checkpoint.control().append([entry_of(StreamEntry("s"), 0)])
    for name in names:
        job.register(QUERY, name)
    return job


def test_a_group_follows_the_catalog(tmp_path: Path) -> None:
    job = job_with(tmp_path / "c", "a")
    cache = WorkerCache(str(tmp_path / "c"))
    group = cache.new_group(0, 0)
    assert list(group.members) == ["a"]
    job.number = 1
    job.register(QUERY, "b")
    assert list(cache.catalog(0).queries) == ["a"], "a batch sees what was registered for it"
    cache.update_group(group, 0, 1)
    assert list(group.members) == ["a", "b"]


def test_a_process_has_one_cache_for_a_checkpoint(tmp_path: Path) -> None:
    job_with(tmp_path / "c", "a")
    cache = worker_cache(str(tmp_path / "c"))
    assert list(cache.catalog(0).queries) == ["a"]
    assert worker_cache(str(tmp_path / "c")) is cache
