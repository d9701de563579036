"""What a worker remembers of a checkpoint: the catalog, the match plan and its groups as of each batch."""

from __future__ import annotations

import subprocess
import sys
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


DEADLY = """
import os, signal, sys
from weir.runtime.worker.worker_cache import WorkerCache

for _ in range(3):
    child = os.fork()
    if not child:
        cache = WorkerCache(sys.argv[1])
        limit = cache.limit(60.0, 0, 1)
        assert not cache.failing(0, 1)
        with limit.over(["a"]):
            pass
        with limit.over(["b"]):
            os.kill(os.getpid(), signal.SIGKILL)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
"""


def test_a_query_at_which_processes_die_again_and_again_ends(tmp_path: Path) -> None:
    job_with(tmp_path / "c", "a", "b")
    subprocess.run([sys.executable, "-c", DEADLY, str(tmp_path / "c")], check=True, timeout=120)
    cache = WorkerCache(str(tmp_path / "c"))
    cache.limit(60.0, 0, 1)
    (failure,) = cache.failing(0, 1).values()
    assert failure.name == "b"
    assert "its worker died, 3 times in a row" in failure.reason
    assert not cache.failing(0, 2)
