"""Large scans by Spark tasks give what they give in one process."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pyspark.sql import SparkSession

from graph_store_kit import written_store
from weir.linked.graphs.large_scans import StreamedScan
from weir.spark.scans import SparkScan, scanner

pytestmark = pytest.mark.spark


def test_a_scan_by_tasks_is_a_scan(spark: SparkSession, tmp_path: Path) -> None:
    random = np.random.default_rng(4)
    rows = sorted({tuple(map(int, random.integers(0, (30, 2, 30)))) for _ in range(300)})
    store = written_store(
        tmp_path / "store", [(f"<urn:{s}>", f"<urn:p{p}>", f"<urn:{o}>") for s, p, o in rows]
    )
    predicate = int(next(iter(store.manifest.predicates)))
    one, other = SparkScan(spark, store, 0, predicate), StreamedScan(store, 0, predicate)
    assert len(one) == len(other)
    subjects, objects = other.values("subject", {})[:8], other.values("object", {})[4:15]
    for kept in ({}, {"subject": subjects}, {"subject": subjects, "object": objects}):
        assert one.count(kept) == other.count(kept)
        assert one.values("object", kept).tolist() == other.values("object", kept).tolist()
    found, wanted = (each.rows([{"subject": subjects}, {"object": objects}]) for each in (one, other))
    for column in ("subject", "predicate", "object"):
        assert getattr(found, column).tolist() == getattr(wanted, column).tolist()
    assert scanner(spark) is StreamedScan
