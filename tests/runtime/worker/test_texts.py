"""Texts of terms that nothing alive refers to go, also where windows have no end in time."""

from __future__ import annotations

import numpy as np
import pytest

from weir.runtime.worker import group
from weir.runtime.worker.texts import StreamTexts, TextChunk
from weir.testing import Scenario

LATEST = "SELECT ?x ?y FROM NAMED WINDOW <w> ON <s> [TRIPLES 5] WHERE { WINDOW <w> { ?x <http://e/p> ?y } }"


def batch(first: int, count: int) -> str:
    return "".join(
        f"{n}\t<http://e/subject{n}> <http://e/p> <http://e/object{n}> .\n"
        for n in range(first, first + count)
    )


@pytest.mark.parametrize("evaluator", ["interval", "reference"])
@pytest.mark.parametrize(("restarts", "workers"), [(False, 1), (True, 1), (False, 3)])
def test_an_unbounded_horizon_keeps_the_texts_of_live_rows_alone(
    evaluator: str, restarts: bool, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group, "_MANY_TEXTS", 100)
    scenario = Scenario(LATEST, evaluator=evaluator, restarts=restarts, workers=workers)
    held, stored, seen = [], [], 0
    for number in range(30):
        scenario.lane("s").put(batch(100 * number, 100))
        seen += len(scenario.batch())
        held.append(scenario.group.dictionary.held)
        stored.append(sum(map(len, scenario.store.panes.values())))
    assert max(held) <= 1700, held
    assert max(stored[15:]) <= 1.1 * max(stored[:15]), stored
    assert seen > 0
    scenario.lane("s").put(batch(3000, 2))
    assert {line["bindings"]["x"]["value"] for line in scenario.batch()} >= {"http://e/subject2998"}


def test_a_sparse_stream_is_bounded_when_every_batch_starts_anew() -> None:
    """Ten triples a batch: a run that goes on drops rows only now and then."""
    scenario, rows = Scenario(LATEST, evaluator="interval", restarts=True), []
    for number in range(80):
        scenario.lane("s").put(batch(10 * number, 10))
        scenario.batch()
        rows.append(scenario.group.members["query"].evaluator.statistics()["live_rows"])
    assert max(rows) <= 300, rows


def chunk(name: str, until: int, *ids: int) -> TextChunk:
    return TextChunk.of(name, np.array(ids), [f"<http://e/{each}>" for each in ids], until)


def test_chunks_are_merged_and_go_when_their_time_has_passed() -> None:
    texts = StreamTexts()
    for number in range(10):
        texts.add_chunk(chunk(f"b{number}", 100 + number, 7, 1000 + number))
    assert len(texts.chunks) < 5
    assert [texts.text(each) for each in (7, 1009)] == ["<http://e/7>", "<http://e/1009>"]
    texts.expire(110)
    assert texts.held == 0 and 7 not in texts


def test_only_some_texts_are_kept() -> None:
    texts = StreamTexts()
    texts.add_chunk(chunk("b", 5, 1, 2, 3))
    texts.keep_only(np.array([2]), "l")
    assert (texts.held, texts.text(2)) == (1, "<http://e/2>")
    with pytest.raises(KeyError):
        texts.text(3)
