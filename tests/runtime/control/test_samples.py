"""The layout of a query suits what its streams begin with: a hot key is spread, the fewest triples copied."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from weir.language import parse
from weir.plan.analysis.split import WHOLE_TRIPLE, splitting
from weir.rdf.terms import IRI
from weir.runtime.control.samples import rates_of
from weir.runtime.direct import DirectJob
from weir.runtime.ingest.sources import FileSource

HEAD = """PREFIX : <http://e/> REGISTER {r2s} <q> AS SELECT {select}
FROM NAMED WINDOW <w> ON <s> [RANGE 50 STEP 50]"""
COUNT = HEAD + " WHERE {{ WINDOW <w> {{ ?x :in ?room }} }} GROUP BY ?room"
CROSS = HEAD.format(r2s="RSTREAM", select="*") + " WHERE { WINDOW <w> { ?x :in ?room . ?y :heat ?t } }"
SLOTS = 8


def count(r2s: str = "RSTREAM", aggregate: str = "COUNT(?x)") -> str:
    return COUNT.format(r2s=r2s, select=f"?room ({aggregate} AS ?n)")


def write(folder: Path, triples: Iterable[tuple[object, str, object]]) -> FileSource:
    line = "{}\t<http://e/{}> <http://e/{}> <http://e/{}> .\n"
    folder.mkdir()
    (folder / "0.tnq").write_text("".join(line.format(at // 20, *each) for at, each in enumerate(triples)))
    return FileSource(str(folder))


def lines(
    folder: Path, source: FileSource, text: str, slots: int
) -> tuple[list[dict[str, object]], int | None]:
    job = DirectJob(folder, slots=slots)
    job.registry.add_stream("s", source)
    job.register(text)
    share = job.registry.catalog().queries["q"].share
    return sorted(job.run(), key=str), share


@pytest.mark.parametrize("half", [False, True])
def test_a_hot_group_is_spread_over_the_slots(tmp_path: Path, half: bool) -> None:
    rooms = ("hall" if half and n % 2 else n % 700 for n in range(3000))
    source = write(tmp_path / "s", ((n, "in", room) for n, room in enumerate(rooms)))
    found, share = lines(tmp_path / "many", source, count(), SLOTS)
    assert share == (WHOLE_TRIPLE if half else 2)
    assert found == lines(tmp_path / "one", source, count(), 1)[0]
    assert len(found) > 700


@pytest.mark.parametrize("text", [count("ISTREAM"), count(aggregate="COUNT(DISTINCT ?x)")])
def test_one_that_cannot_be_spread_keeps_its_layout(tmp_path: Path, text: str) -> None:
    source = write(tmp_path / "s", ((n, "in", "hall") for n in range(1500)))
    assert lines(tmp_path / "c", source, text, SLOTS)[1] == 2


@pytest.mark.parametrize("many", ["in", "heat"])
def test_the_fewest_triples_are_copied(tmp_path: Path, many: str) -> None:
    source = write(
        tmp_path / "s", ((n, many if n % 9 else "heat" if many == "in" else "in", n) for n in range(1500))
    )
    rates = rates_of(parse(CROSS), {"s": source}, ["s"])
    assert rates.of((IRI(f"http://e/{many}"),)) == pytest.approx(8 / 9, abs=0.01)
    split = splitting(parse(CROSS), rates=lambda: rates, slots=SLOTS)
    (copied,) = split.copied
    assert copied != IRI(f"http://e/{many}")
    few = write(
        tmp_path / "few", ((n, many if n % 9 else "heat" if many == "in" else "in", n) for n in range(60))
    )
    assert rates_of(parse(CROSS), {"s": few}, ["s"]).predicates == {}, "so few tell nothing"
    assert rates_of(parse(CROSS), {}, ["s"]).commonest == {}, "as do streams that are no files"
    gone = FileSource(str(tmp_path / "gone"))
    assert rates_of(parse(CROSS), {"s": gone}, ["s"]).commonest == {}, "and files that are gone"


def test_a_layout_stays_when_the_job_starts_again(tmp_path: Path) -> None:
    source = write(tmp_path / "s", ((n, "in", "hall") for n in range(1500)))
    found, share = lines(tmp_path / "c", source, count(), SLOTS)
    again = DirectJob(tmp_path / "c", slots=SLOTS)
    assert again.registry.catalog().queries["q"].share == share == WHOLE_TRIPLE
    assert len(found) == 2, "a window of 50 ms, and the rest"
