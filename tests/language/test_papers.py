"""Every query that the two papers print: it parses in its own dialect and means what the papers say.

``golden/`` holds algebra, dataset and semantics of each; set WEIR_REWRITE_GOLDEN=1 to write them anew.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import weir
from shared import ROOT
from weir.explain import stages
from weir.language import Dialect, Query
from weir.language.algebra.query import R2S, Previous
from weir.language.algebra.windows import All, Content, Now, Range, Report, Triples

EXAMPLES = ROOT / "examples" / "languages"
GOLDEN = Path(__file__).parent / "golden"
FILES = sorted(EXAMPLES.glob("*/*.rq"))
MINUTE = 60_000_000
SECOND = 1_000_000
RFID = "http://deri.org/streams/rfid"
IN = "http://example.org/in"
CLOSE_AND_FULL = Report(window_close=True, non_empty=True)
CHANGE_AND_FULL = Report(content_change=True, non_empty=True)


def load(name: str, dialect: str = "auto") -> Query:
    return weir.parse((EXAMPLES / f"{name}.rq").read_text(), dialect)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_golden(path: Path) -> None:
    query = weir.parse(path.read_text())
    assert query.dialect.value == path.parent.name
    assert query == weir.parse(path.read_text(), path.parent.name)
    printed = stages(query)
    text = "".join(f"-- {name}\n{printed[name]}\n" for name in ("algebra", "dataset", "semantics"))
    golden = GOLDEN / f"{path.parent.name}-{path.stem}.txt"
    if os.environ.get("WEIR_REWRITE_GOLDEN"):
        golden.write_text(text)
    assert text == golden.read_text()


def test_all_printed_queries_are_there() -> None:
    names = {f"{path.parent.name}/{path.stem}" for path in FILES}
    assert {f"cqels/q{n}" for n in range(1, 6)} <= names
    listings = (
        "cqels/listing2",
        "csparql/listing3",
        "csparql/listing4",
        "csparql/listing5",
        "rspql/listing6",
    )
    assert set(listings) <= names


def test_sds_of_cqels() -> None:
    """SDS^CQ = {(w_l, W_l(:in)), (w_s, W_s(:in))}: implicit names, nothing in the default graph."""
    query = load("cqels/listing2")
    assert query.dataset.default_windows == ()
    long, short = query.dataset.named_windows
    assert (long.stream, long.kind) == (IN, Range(120 * MINUTE, 10 * MINUTE))
    assert (short.stream, short.kind) == (IN, Range(10 * MINUTE, 10 * MINUTE))
    assert [long.name, short.name] == [".1", ".2"]


def test_sds_of_csparql() -> None:
    """SDS^CS = {G0 = {W_l(:in), W_s(:in)}}: both windows in the default graph, neither can be named."""
    query = load("csparql/listing3")
    assert query.dataset.named_windows == ()
    long, short = query.dataset.default_windows
    assert (long.stream, long.kind) == (IN, Range(120 * MINUTE, 10 * MINUTE))
    assert (short.stream, short.kind) == (IN, Range(10 * MINUTE, 10 * MINUTE))


def test_sds_of_rspql() -> None:
    """SDS^RSP = {(:lwin, W_l(:in)), (:swin, W_s(:in))}."""
    query = load("rspql/listing6")
    assert query.dataset.default_windows == ()
    long, short = query.dataset.named_windows
    assert (long.name, long.stream) == ("http://example.org/lwin", IN)
    assert (short.name, short.stream) == ("http://example.org/swin", IN)
    assert (long.kind, short.kind) == (Range(120 * MINUTE, 10 * MINUTE), Range(10 * MINUTE, 10 * MINUTE))


@pytest.mark.parametrize(
    ("name", "dialect", "r2s", "report", "content", "previous"),
    [
        (
            "rspql/listing6",
            "rspql",
            R2S.RSTREAM,
            Report(window_close=True),
            Content.GRAPH,
            Previous.EVALUATION,
        ),
        ("csparql/listing3", "csparql", R2S.RSTREAM, CLOSE_AND_FULL, Content.GRAPH, Previous.EVALUATION),
        (
            "sparqlstream/listing3",
            "sparqlstream",
            R2S.RSTREAM,
            CLOSE_AND_FULL,
            Content.GRAPH,
            Previous.EVALUATION,
        ),
        ("cqels/listing2", "cqels", R2S.ISTREAM, CHANGE_AND_FULL, Content.BAG, Previous.INSTANT),
    ],
)
def test_presets(
    name: str, dialect: str, r2s: R2S, report: Report, content: Content, previous: Previous
) -> None:
    """The table of presets, row by row."""
    query = load(name, dialect)
    assert (query.semantics.r2s, query.semantics.previous) == (r2s, previous)
    assert not query.semantics.report_empty
    for window in query.dataset.windows:
        assert (window.semantics.report, window.semantics.content) == (report, content)


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("q1", [Now()]),
        ("q2", [Now(), Range(3 * SECOND)]),
        ("q3", [Triples(1), Range(5 * SECOND)]),
        ("q4", [Triples(1), Range(15 * SECOND)]),
        ("q5", [Triples(1), Range(30 * SECOND)]),
    ],
)
def test_windows_of_the_conference_queries(name: str, kinds: list[object]) -> None:
    query = load(f"cqels/{name}")
    assert [window.kind for window in query.dataset.windows] == kinds
    assert query.streams == (RFID,)
    assert all(not window.in_default for window in query.dataset.windows)


def test_all_and_either_word_order() -> None:
    one = weir.parse("SELECT * { STREAM <s> [ALL] { ?a ?b ?c } }")
    assert one.dialect is Dialect.CQELS
    assert [window.kind for window in one.dataset.windows] == [All()]
    assert one == weir.parse("SELECT * { STREAM [ALL] <s> { ?a ?b ?c } }")


def test_a_printed_slip_is_refused() -> None:
    """The parser mends nothing: Q5 as printed has loc2 for ?loc2."""
    text = (EXAMPLES / "cqels" / "q5.rq").read_text().replace("?loc2 lv:connected", "loc2 lv:connected")
    with pytest.raises(weir.SyntaxError) as caught:
        weir.parse(text)
    assert "?loc2" in (caught.value.hint or "")
