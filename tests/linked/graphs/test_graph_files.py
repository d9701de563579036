"""Graph files: every format gives the same triples; malformed input is told by line and reason."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from weir.errors import UsageError
from weir.linked.graphs import graph_files as files
from weir.linked.graphs.graph_files import GraphFile, graph_files, read_file

KEY = b"k"
TRIPLE = '<http://e/a> <http://e/p> "x"@en .\n'
SAME = {
    "a.nt": TRIPLE,
    "a.nq": TRIPLE,
    "a.ttl": '@prefix e: <http://e/> . e:a e:p "x"@en .',
    "a.trig": '@prefix e: <http://e/> . { e:a e:p "x"@en . }',
    "a.jsonld": '{"@id": "http://e/a", "http://e/p": {"@value": "x", "@language": "en"}}',
    "a.rdf": """<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
      xmlns:e="http://e/"><rdf:Description rdf:about="http://e/a"><e:p xml:lang="en">x</e:p>
      </rdf:Description></rdf:RDF>""",
}


def rows(file: GraphFile, begin: int = 0, end: int | None = None) -> list[tuple[str, ...]]:
    out: list[tuple[str, ...]] = []
    for piece in read_file(file, KEY, begin=begin, end=end):
        texts = [column.texts.gather(column.codes).to_list() for column in piece.columns]
        out += zip(*texts, strict=True)
    return out


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("packed", [False, True])
def test_every_format_gives_the_same_triple(name: str, packed: bool, tmp_path: Path) -> None:
    path = tmp_path / (name + ".gz" * packed)
    path.write_bytes(gzip.compress(SAME[name].encode()) if packed else SAME[name].encode())
    (file,) = graph_files([path])
    assert rows(file) == [("<http://e/a>", "<http://e/p>", '"x"@en', "")]


def test_a_folder_is_all_its_graph_files_in_name_order(tmp_path: Path) -> None:
    for name in ("b.nt", "sub/a.ttl", "readme.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    assert [each.path.name for each in graph_files([tmp_path])] == ["b.nt", "a.ttl"]


@pytest.mark.parametrize(
    ("name", "problem"), [("none.nt", "no such graph file"), ("a.txt", "unknown graph format")]
)
def test_what_is_no_graph_file_is_refused(name: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("")
    with pytest.raises(UsageError, match=problem):
        graph_files([tmp_path / name])


def test_ranges_of_bytes_cover_every_line_once(tmp_path: Path) -> None:
    path = tmp_path / "a.nt"
    path.write_text("".join(f"<http://e/{n}> <http://e/p> <http://e/{'o' * (n % 7)}> .\n" for n in range(50)))
    (file,) = graph_files([path])
    size = path.stat().st_size
    for step in (1, 17, 40, 333):
        pieces = [row for at in range(0, size, step) for row in rows(file, at, min(at + step, size))]
        assert pieces == rows(file)


def test_every_malformed_line_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "PIECE", 100)
    path = tmp_path / "a.nt"
    path.write_text(TRIPLE * 5 + "oops\n" + TRIPLE * 5 + "<http://e/a> <http://e/p> .\n")
    (file,) = graph_files([path])
    rejected = [item for piece in read_file(file, KEY) for item in piece.rejected]
    assert [item.line for item in rejected] == [6, 12]
    assert rejected[0].text == "oops"
    assert len(rows(file)) == 10


def test_a_malformed_document_tells_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.ttl"
    path.write_text("@prefix e: <http://e/> .\ne:a e:p e:b .\ne:a oops e:b .\n")
    (file,) = graph_files([path])
    (piece,) = read_file(file, KEY)
    assert [item.line for item in piece.rejected] == [3]


def test_blank_nodes_belong_to_their_file_and_stay_the_same(tmp_path: Path) -> None:
    text = "[] <http://e/p> _:x . _:x <http://e/p> [] ."
    for name in ("a.ttl", "b.ttl"):
        (tmp_path / name).write_text(text)
    first, second = graph_files([tmp_path])
    assert rows(first) == rows(first)
    assert {row[0] for row in rows(first)} & {row[0] for row in rows(second)} == set()
    assert rows(first)[0][2] == rows(first)[1][0]
