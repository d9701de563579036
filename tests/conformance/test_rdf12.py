"""The W3C tests of RDF 1.2 N-Triples, N-Quads, Turtle and TriG: as messages and as static graphs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from conformance.manifest import MF, RDF_TYPE, read_graph
from conformance.results import isomorphic
from shared import shared_dir
from weir.linked.graphs.graph_files import graph_files, read_file
from weir.rdf.formats.media import format_of
from weir.rdf.formats.payloads import parse_payloads
from weir.rdf.messages import Rejected, Terms
from weir.rdf.terms import IRI, Term, parse_term

RDFT = "http://www.w3.org/ns/rdftest#"
SUITES = shared_dir("w3c") / "rdf12"
FORMATS = {".nt": "ntriples", ".nq": "nquads", ".ttl": "turtle", ".trig": "trig"}


@dataclass(frozen=True, slots=True)
class Case:
    """A file that is good or bad, and what a good one says, where the suite tells."""

    name: str
    action: Path
    good: bool
    result: Path | None
    base: str


def cases() -> Iterator[Case]:
    for manifest in sorted(SUITES.glob("*/*/manifest.ttl")):
        facts: dict[tuple[Term, str], Term] = {}
        for subject, predicate, object in read_graph(manifest):
            assert isinstance(predicate, IRI)
            facts[subject, predicate.value] = object
        for (entry, predicate_iri), kind in facts.items():
            if predicate_iri != RDF_TYPE or not isinstance(kind, IRI) or not kind.value.startswith(RDFT):
                continue
            action, result = facts[entry, MF + "action"], facts.get((entry, MF + "result"))
            assert isinstance(action, IRI) and isinstance(entry, IRI)
            folder = f"{manifest.parent.parent.name}/{manifest.parent.name}"
            path = Path(action.value.removeprefix("file://"))
            yield Case(
                name=f"{folder}/{entry.value.rpartition('#')[2]}",
                action=path,
                good="Negative" not in kind.value,
                result=Path(result.value.removeprefix("file://")) if isinstance(result, IRI) else None,
                base=f"https://w3c.github.io/rdf-tests/rdf/rdf12/{folder}/{path.name}",
            )


CASES = list(cases())


def quads(columns: tuple[Terms, ...]) -> list[tuple[Term | None, ...]]:
    texts = [[column.texts[code] for code in column.codes.tolist()] for column in columns]
    return [tuple(parse_term(t) if t else None for t in quad) for quad in zip(*texts, strict=True)]


def as_message(path: Path, base: str) -> tuple[list[tuple[Term | None, ...]], tuple[Rejected, ...]]:
    data = path.read_bytes()
    if path.suffix in (".ttl", ".trig"):
        data = f"@base <{base}> .\n".encode() + data
    parsed = parse_payloads(
        [data], format_of(FORMATS[path.suffix]), scope="s", key=b"k", positions=[0], times=[0]
    )
    return quads(parsed.terms), parsed.rejected


def as_graph(path: Path, base: str) -> tuple[list[tuple[Term | None, ...]], tuple[Rejected, ...]]:
    (file,) = graph_files([path])
    pieces = list(read_file(file, b"k"))
    found = [quad for piece in pieces for quad in quads(piece.columns)]
    return found, tuple(each for piece in pieces for each in piece.rejected)


@pytest.mark.parametrize("read", [as_message, as_graph])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rdf_12(case: Case, read: object) -> None:
    assert callable(read)
    found, rejected = read(case.action, case.base)
    assert bool(rejected) is not case.good
    if case.result is not None:
        expected, refused = read(case.result, case.base)
        assert not refused and isomorphic(list(dict.fromkeys(found)), list(dict.fromkeys(expected)))


def test_the_suites_are_whole() -> None:
    assert len(CASES) == 301
