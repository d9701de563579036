"""What tests share: one Spark session per run, hypothesis settings, and the three parts of the suite.

``make test`` runs the parts side by side: ``--part spark`` is what shares one Spark session, ``--part
processes`` what starts Spark in processes of its own and waits for them, ``--part rest`` what remains.
Without the option all tests run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from pyspark.sql import SparkSession

from disk_kit import Faults
from fragments_peers import begin_installing
from weir.spark.session import open_session

os.environ.setdefault("WEIR_CACHE", "off")  # No process in the background makes an archive meanwhile.
settings.register_profile(
    "weir",
    max_examples=max(1, int(40 * float(os.environ.get("WEIR_EXAMPLES", "1")))),
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("weir")


PARTS = ("spark", "processes", "rest")
_PROCESSES = ("cluster", "faults/test_full_disk.py", "faults/test_kill", "server/running")
"""Folders and files whose tests start Spark in processes of their own."""
_SESSION = ("faults/test_input.py", "cli/test_run.py", "cli/test_run_formats.py", "test_docs.py")
"""Those whose tests have commands that open the session."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--part``."""
    parser.addoption("--part", choices=PARTS, help="only the tests of one part")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the part that was asked for."""
    part = config.getoption("--part")
    if part is not None:
        items[:] = [item for item in items if _part_of(item) == part]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Fetch what the tests need from npm while the first ones run."""
    marks = [mark for item in session.items for mark in item.iter_markers("peer")]
    if marks and not session.config.option.collectonly:
        begin_installing(dict.fromkeys(mark.args[0] for mark in marks))


def _part_of(item: pytest.Item) -> str:
    path = item.path.relative_to(Path(__file__).parent).as_posix()
    if path.startswith(_PROCESSES):
        return "processes"
    marked = item.get_closest_marker("spark") or "spark" in getattr(item, "fixturenames", ())
    return "spark" if marked or path.startswith(_SESSION) else "rest"


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One session on two cores for the whole run; starting it takes seconds."""
    session = open_session("local[2]")
    yield session
    session.stop()


@pytest.fixture
def faults(monkeypatch: pytest.MonkeyPatch) -> Faults:
    """A disk that fails when it is told to."""
    return Faults(monkeypatch)
