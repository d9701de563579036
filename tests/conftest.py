"""What tests share: one Spark session per run, hypothesis settings, and which tests stay in one process.

With ``-n 2`` (as ``make test`` has it) one process runs everything that needs Spark, so that there is one
session, and the other what remains; tests that start peers stay together, so that two do not install one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from pyspark.sql import SparkSession

from weir.runtime.session import open_session

settings.register_profile(
    "weir",
    max_examples=max(1, int(40 * float(os.environ.get("WEIR_EXAMPLES", "1")))),
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("weir")


_SPARK = ("faults", "cluster", "server/api", "server/dashboard", "test_cli.py", "test_docs.py")
"""Folders and files whose tests start Spark in processes of their own."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give every test its group; the long one, that of Spark, first."""
    for item in items:
        item.add_marker(pytest.mark.xdist_group(_group(item)))
    items.sort(key=lambda item: _group(item) != "spark")


def _group(item: pytest.Item) -> str:
    path = item.path.relative_to(Path(__file__).parent).as_posix()
    if item.get_closest_marker("spark") or "spark" in getattr(item, "fixturenames", ()):
        return "spark"
    if path.startswith(_SPARK):
        return "spark"
    return "peers" if item.get_closest_marker("network") else path


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One session on two cores for the whole run; starting it takes seconds."""
    session = open_session("local[2]")
    yield session
    session.stop()
