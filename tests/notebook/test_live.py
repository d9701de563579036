"""Results while they come, on the direct runner."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import weir

QUERY = """PREFIX : <http://e/>
SELECT ?s ?t FROM NAMED WINDOW :w ON :stream [NOW] WHERE { WINDOW :w { ?s :temp ?t } }"""
LINE = '{}\t<http://e/s{}> <http://e/temp> "{}"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'


def test_rows_come_while_the_query_runs() -> None:
    with weir.live(QUERY, {"http://e/stream": "push:"}) as rows:
        for number in (1, 2):
            rows.push("http://e/stream", LINE.format(1000 * number, number, 20 + number))
            row = next(iter(rows))
            assert (row["s"], row["t"]) == (f"http://e/s{number}", 20 + number)
        assert "running, 2 results" in repr(rows)
        folder = rows.job.checkpoint.folder
    assert not rows.job.active and not folder.exists()


def test_streams_that_end_end_the_rows(tmp_path: Path) -> None:
    (tmp_path / "s.tnq").write_text("".join(LINE.format(1000 * n, n, n) for n in range(1, 4)))
    parts = list(weir.live(QUERY, {"http://e/stream": tmp_path / "s.tnq"}).batches())
    assert [row["t"] for part in parts for row in part] == [1, 2, 3]
    assert all(str(part.to_pandas()["t"].dtype) == "int64[pyarrow]" for part in parts)


def test_nobody_reads_and_the_query_still_ends() -> None:
    with weir.live(QUERY, {"http://e/stream": "push:"}) as rows:
        rows.push("http://e/stream", "".join(LINE.format(1000 * n, n, n) for n in range(500)))
    assert not rows.job.active


def test_a_failed_query_raises_while_rows_are_read() -> None:
    text = QUERY.replace(
        "WHERE { WINDOW :w { ?s :temp ?t } }", "{ WINDOW :w { ?s :temp ?t } SERVICE ?t { ?s ?p ?o } }"
    )
    with weir.live(text, {"http://e/stream": "push:"}) as rows:
        rows.push("http://e/stream", LINE.format(1000, 1, 1))
        with pytest.raises(weir.EvaluationError, match="the query failed"):
            next(iter(rows))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: weir.query(QUERY, "s.tnq"), "streams is a str, not a mapping"),  # type: ignore[arg-type]
        (lambda: weir.query(QUERY, {}, ["g.nt"]), "graphs is a list, not a mapping"),  # type: ignore[arg-type]
        (lambda: weir.query(QUERY, {"http://e/stream": 42}), "an int, which is no source"),
        (lambda: weir.query(42, {}), "a query is a text, not an int"),  # type: ignore[arg-type]
        (lambda: weir.Engine().graph(None, 5), "a graph is at a path, not at an int"),  # type: ignore[arg-type]
        (lambda: weir.query(QUERY, {"http://e/stream": "push:"}), "does not end"),
    ],
)
def test_wrong_arguments_are_named_in_terms_of_python(wrong: Callable[[], object], said: str) -> None:
    with pytest.raises(weir.UsageError, match=said):
        wrong()


def test_a_stream_is_added_by_its_address(tmp_path: Path) -> None:
    (tmp_path / "s.tnq").write_text(LINE.format(1000, 1, 1))
    with weir.live(QUERY, {"http://e/stream": "push:"}) as rows:
        rows.job.add_stream("http://e/more", str(tmp_path / "s.tnq"))
        rows.job.add_stream("http://e/pushed", "push:")
        with pytest.raises(weir.UsageError, match="an int is no source"):
            rows.job.add_stream("http://e/wrong", 5)  # type: ignore[arg-type]
        assert {"http://e/more", "http://e/pushed"} < {each.iri for each in rows.job.streams()}
