"""The benchmark of large graphs at a small size: answers are the witness's, and a wrong one is seen."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from weir.kernel.interval import compiler
from weir.rdf.ids.dictionary import Dictionary
from weir.runtime.control import extracts
from weir.testing import Scenario
from weir_bench.conference.queries import QUERIES
from weir_bench.data.conference import LV, RFID, conference, room_text, sightings
from weir_bench.data.conference_files import lines
from weir_bench.data.library import author_text
from weir_bench.scale.large_graphs import Witness, concerning, differing, everybody, sightings_in


def test_answers_over_stored_graphs_are_those_of_the_witness(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = conference(3_000, participants=60)
    stream = sightings(world, Dictionary(), 300)
    stamps = pl.Series(stream.time).cast(pl.Datetime("us")).dt.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_list()
    rows = zip(stamps, stream.author.tolist(), stream.room.tolist(), strict=True)
    text = "".join(f"{t}\t{author_text(a)} <{LV}detectedAt> {room_text(r)} .\n" for t, a, r in rows)
    (tmp_path / "day.tnq").write_text(text)
    library = "".join(lines(world.library.all()))
    (tmp_path / "library.nt").write_text(library)
    seen = sightings_in(tmp_path)
    assert len(seen) == 300
    witness = Witness(concerning(tmp_path, {each.person.value for each in seen}), seen)
    author = witness.sociable()

    monkeypatch.setattr(extracts, "INDEXED", 1)
    monkeypatch.setattr(extracts, "FEW_TEXTS", 0)
    monkeypatch.setattr(compiler, "VIEW_LIMIT", 100)
    queries = {"one": QUERIES[2].cqels(author), "everybody": everybody()}
    found = Scenario(queries, graphs={None: library}, dialect="cqels").run([text], RFID)
    results = tmp_path / "results.jsonl"
    results.write_text("".join(json.dumps(line) + "\n" for line in found))
    wrong, answers = differing(results, witness, author, 300)
    assert wrong == 0
    assert answers > 20
    results.write_text("".join(json.dumps(line) + "\n" for line in found[1::2]))
    assert differing(results, witness, author, 300)[0] > 0
