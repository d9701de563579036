"""The conference's data: exact sizes, decided by the seed, the same from one process as from many tasks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pyspark.sql import SparkSession

from weir.engine import Engine
from weir.rdf.formats.tnq import parse_lines
from weir.rdf.ids.dictionary import Dictionary
from weir_bench.data import library as books
from weir_bench.data.conference import FLOORPLAN, RFID, conference, sightings
from weir_bench.data.conference_files import lines, write_conference
from weir_bench.data.library import Library


@pytest.mark.parametrize("triples", [1_000, 7_531, 60_000])
def test_a_library_has_the_size_that_was_asked_for_and_no_triple_twice(
    triples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(books, "BLOCK", 1_000)
    every = Library(triples).all()
    assert len(every) == every.n_unique() == triples
    people = every.filter(every["p"].str.contains("foaf/0.1/name"))
    assert len(people) == Library(triples).authors
    assert set(people["s"]) == set(every.filter(every["p"].str.contains("creator"))["o"])


def test_the_seed_decides() -> None:
    assert Library(5_000, 1).all().equals(Library(5_000, 1).all())
    assert not Library(5_000, 1).all().equals(Library(5_000, 2).all())


@pytest.mark.spark
def test_spark_writes_what_one_process_makes(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = conference(20_000)
    write_conference(spark, world, tmp_path, sightings=2_000)
    written = "".join(path.read_text() for path in sorted((tmp_path / "library").iterdir()))
    assert written == "".join(lines(world.library.all()))
    made = sightings(world, Dictionary(b"k"), 2_000)
    data = b"".join(path.read_bytes() for path in sorted((tmp_path / "rfid").iterdir()))
    read = parse_lines(data, scope="", key=b"k")
    assert not read.rejected
    assert np.array_equal(read.messages.time, made.time)
    assert np.array_equal(read.messages.subject, made.subject)
    assert np.array_equal(read.messages.object, made.object)
    engine = Engine(spark=spark)
    engine.stream(RFID, tmp_path / "rfid")
    engine.graph(FLOORPLAN, tmp_path / "floorplan.nt")
    engine.register((Path(__file__).parents[2] / "examples/conference/q2.cqels").read_text(), name="q2")
    metrics = engine.run(out=tmp_path / "out.jsonl")
    assert metrics.triples == 2_000
    assert metrics.queries["q2"]["results"] > 2_000
