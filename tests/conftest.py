"""What tests share: one Spark session per run, hypothesis settings, and the two parts of the suite.

``make test`` runs the parts side by side: ``--part spark`` is everything that starts Spark, ``--part rest``
what remains. Without the option all tests run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from pyspark.sql import SparkSession

from weir.spark.session import open_session

settings.register_profile(
    "weir",
    max_examples=max(1, int(40 * float(os.environ.get("WEIR_EXAMPLES", "1")))),
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("weir")


_SPARK = (
    "faults",
    "cluster",
    "server/running",
    "server/dashboard",
    "cli/test_run.py",
    "cli/test_run_formats.py",
    "test_docs.py",
)
"""Folders and files whose tests start Spark in processes of their own."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--part``."""
    parser.addoption("--part", choices=("spark", "rest"), help="only the tests that start Spark, or the rest")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the part that was asked for."""
    part = config.getoption("--part")
    if part is not None:
        items[:] = [item for item in items if _starts_spark(item) == (part == "spark")]


def _starts_spark(item: pytest.Item) -> bool:
    path = item.path.relative_to(Path(__file__).parent).as_posix()
    if item.get_closest_marker("spark") or "spark" in getattr(item, "fixturenames", ()):
        return True
    return path.startswith(_SPARK)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One session on two cores for the whole run; starting it takes seconds."""
    session = open_session("local[2]")
    yield session
    session.stop()
