"""A data set: static quads and facts in one selection, page by page."""

from __future__ import annotations

from pathlib import Path

import pytest

from fragments_kit import EX, SECOND, T0
from weir.errors import UsageError
from weir.fragments.protocol.annotation import FOREVER, Annotation, Fact, Labeling, Method, Quad
from weir.fragments.server.dataset import Dataset
from weir.fragments.server.facts import Retention

ADDRESS = "http://weir.test/d"
STATIC: list[Quad] = [(f"<{EX}s{n}>", f"<{EX}p>", f'"{n}"', "") for n in range(5)]
FACT = Fact(f"<{EX}s9>", f"<{EX}p>", '"9"', T0, T0 + SECOND)
PATTERN = (None, f"<{EX}p>", None, None)


def test_static_quads_and_facts_are_selected_together() -> None:
    dataset = Dataset("d", STATIC)
    assert dataset.select([PATTERN], T0, None, ADDRESS).changes == FOREVER
    assert dataset.push([FACT], T0) == 1
    selection = dataset.select([PATTERN], T0, None, ADDRESS)
    assert (selection.total, selection.changes) == (6, T0 + SECOND)
    assert selection.page(0, 5) == STATIC and selection.page(5, 5)[0][:3] == FACT.triple
    assert len(selection.labels(0, 5)) == 0 and len(selection.labels(5, 1)) == 1
    assert dataset.select([PATTERN], T0 + SECOND, None, ADDRESS).total == 5


def test_a_triple_that_is_static_is_not_pushed() -> None:
    dataset = Dataset("d", STATIC)
    assert dataset.push([Fact(*STATIC[0][:3], T0, T0 + SECOND)], T0) == 0


def test_blank_nodes_become_iris() -> None:
    dataset = Dataset("d", [("_:b", f"<{EX}p>", '"x"', "")])
    assert dataset.select([PATTERN], T0, None, ADDRESS).page(0, 1)[0][0] == "<urn:weir:d:genid:b>"


def test_the_version_changes_with_the_facts_of_a_predicate() -> None:
    dataset = Dataset("d", STATIC)
    before, other = dataset.version(f"<{EX}p>"), dataset.version(f"<{EX}q>")
    dataset.push([FACT], T0)
    assert dataset.version(f"<{EX}p>") != before and dataset.version(f"<{EX}q>") == other
    assert dataset.dynamic([PATTERN], f"<{EX}p>", ADDRESS)


def test_a_closed_data_set_takes_nothing_more(tmp_path: Path) -> None:
    dataset = Dataset("d", STATIC, folder=tmp_path)
    dataset.push([FACT], T0)
    dataset.close()
    for change in (lambda: dataset.push([FACT], T0), lambda: dataset.end([FACT.triple], T0)):
        with pytest.raises(UsageError, match="is closed"):
            change()
    assert len(dataset.store) == 1


def test_files_are_read_by_their_ending(tmp_path: Path) -> None:
    file = tmp_path / "data.ttl"
    file.write_text(f'<{EX}s0> <{EX}p> "0" .')
    assert Dataset.read(file) == STATIC[:1]
    with pytest.raises(UsageError, match="cannot tell the RDF syntax"):
        Dataset.read(tmp_path / "data.txt")


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(UsageError, match="is no name"):
        Dataset("a b")
    with pytest.raises(UsageError, match="flat intervals"):
        Dataset("d", annotation=Annotation(Method.GRAPHS, Labeling.INTERVAL, flat=True))
    with pytest.raises(UsageError, match="exactly with interval labeling"):
        Dataset("d", retention=Retention(history=True))


def test_facts_about_blank_nodes_end() -> None:
    data = Dataset("d")
    data.push([Fact("_:a", f"<{EX}delay>", '"5"', T0, T0 + 10 * SECOND)], T0)
    assert data.end([("_:a", f"<{EX}delay>", '"5"')], T0 + SECOND) == 1
