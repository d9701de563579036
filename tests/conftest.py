"""What tests share: one Spark session per run, and hypothesis settings."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from pyspark.sql import SparkSession

from weir.runtime.session import open_session

settings.register_profile(
    "weir",
    max_examples=int(os.environ.get("WEIR_EXAMPLES", "40")),
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("weir")


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One session on two cores for the whole run; starting it takes seconds."""
    session = open_session("local[2]")
    yield session
    session.stop()
