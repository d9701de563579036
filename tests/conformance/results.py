"""Readers of the result formats that the W3C tests use, and the comparison of results.

Small on purpose and our own: the product's writers are not what these tests judge.
"""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from conformance.manifest import RDF, RDF_TYPE, read_graph
from weir.rdf.terms import IRI, XSD, BlankNode, Literal, Term, Triple, TripleTerm
from weir.rdf.xsd.numbers import Number, lexical_of
from weir.rdf.xsd.values import value_of

Row: TypeAlias = tuple[Term | None, ...]
RS = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"
SRX = "{http://www.w3.org/2005/sparql-results#}"


@dataclass(frozen=True, slots=True)
class Table:
    """Solutions over named variables; ``ordered`` where the file fixes an order."""

    variables: tuple[str, ...]
    rows: tuple[Row, ...]
    ordered: bool = False


Expected: TypeAlias = Table | bool | list[Triple]


def read_results(path: Path) -> Expected:
    """What a result file says: a table, a truth value, or a graph."""
    match path.suffix:
        case ".srx":
            return _srx(path)
        case ".srj":
            return _srj(path)
        case ".tsv":
            return _tsv(path)
        case ".csv":
            return _csv(path)
        case _:
            return _graph_or_set(path)


def _srx(path: Path) -> Expected:
    root = ET.parse(path).getroot()
    truth = root.find(f"{SRX}boolean")
    if truth is not None:
        return (truth.text or "").strip() == "true"
    names = tuple(v.attrib["name"] for v in root.iter(f"{SRX}variable"))
    rows = []
    for result in root.iter(f"{SRX}result"):
        found = {b.attrib["name"]: _srx_term(b[0]) for b in result.findall(f"{SRX}binding")}
        rows.append(tuple(found.get(name) for name in names))
    return Table(names, tuple(rows), ordered=True)


def _srx_term(element: ET.Element) -> Term:
    text = element.text or ""
    if element.tag == f"{SRX}uri":
        return IRI(text.strip())
    if element.tag == f"{SRX}bnode":
        return BlankNode(text.strip())
    if element.tag == f"{SRX}triple":
        subject, predicate, object = (_srx_term(part[0]) for part in element)
        assert isinstance(subject, IRI | BlankNode) and isinstance(predicate, IRI)
        return TripleTerm(subject, predicate, object)
    language = element.attrib.get("{http://www.w3.org/XML/1998/namespace}lang")
    if language:
        return Literal.tagged(text, language)
    return Literal(text, element.attrib.get("datatype", XSD + "string"))


def _srj(path: Path) -> Expected:
    document = json.loads(path.read_text())
    if "boolean" in document:
        return bool(document["boolean"])
    names = tuple(document["head"]["vars"])
    rows = [
        tuple(_srj_term(binding[name]) if name in binding else None for name in names)
        for binding in document["results"]["bindings"]
    ]
    return Table(names, tuple(rows), ordered=True)


def _srj_term(data: dict[str, Any]) -> Term:
    if data["type"] == "triple":
        parts = data["value"]
        subject, predicate, object = (_srj_term(parts[p]) for p in ("subject", "predicate", "object"))
        assert isinstance(subject, IRI | BlankNode) and isinstance(predicate, IRI)
        return TripleTerm(subject, predicate, object)
    if data["type"] == "uri":
        return IRI(data["value"])
    if data["type"] == "bnode":
        return BlankNode(data["value"])
    if "xml:lang" in data:
        return Literal.tagged(data["value"], data["xml:lang"], data.get("its:dir"))
    return Literal(data["value"], data.get("datatype", XSD + "string"))


_TSV_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"(?:@([A-Za-z-]+)|\^\^<([^>]*)>)?')
_TSV_NUMBERS = (
    (re.compile(r"[+-]?\d+"), "integer"),
    (re.compile(r"[+-]?\d*\.\d+"), "decimal"),
    (re.compile(r"[+-]?(?:\d+\.\d*|\.?\d+)[eE][+-]?\d+"), "double"),
)
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", '"': '"', "\\": "\\"}


def _tsv(path: Path) -> Expected:
    lines = path.read_text().split("\n")
    names = tuple(name.removeprefix("?") for name in lines[0].split("\t"))
    rows = [tuple(_tsv_term(cell) for cell in line.split("\t")) for line in lines[1:] if line]
    return Table(names, tuple(rows))


def _tsv_term(text: str) -> Term | None:
    if not text:
        return None
    if text.startswith("<"):
        return IRI(text[1:-1])
    if text.startswith("_:"):
        return BlankNode(text[2:])
    for form, datatype in _TSV_NUMBERS:
        if form.fullmatch(text):
            return Literal(text, XSD + datatype)
    match = _TSV_LITERAL.fullmatch(text)
    assert match is not None, text
    lexical = re.sub(r"\\(.)", lambda m: _ESCAPES[m.group(1)], match.group(1))
    if match.group(2):
        return Literal.tagged(lexical, match.group(2))
    return Literal(lexical, match.group(3) or XSD + "string")


def _csv(path: Path) -> Expected:
    lines = list(csv.reader(io.StringIO(path.read_bytes().decode())))
    rows = tuple(tuple(_csv_term(cell) for cell in line) for line in lines[1:])
    return Table(tuple(lines[0]), rows)


def _csv_term(text: str) -> Term:
    return BlankNode(text[2:]) if text.startswith("_:") else Literal(text)


def as_csv(term: Term | None) -> Term:
    """What is left of a term in CSV: its text, and whether it is a blank node."""
    if isinstance(term, BlankNode):
        return term
    return Literal("" if term is None else term.value if isinstance(term, IRI) else term.lexical)


def _graph_or_set(path: Path) -> Expected:
    triples = read_graph(path)
    by_subject: dict[tuple[Term, str], list[Term]] = {}
    for subject, predicate, object in triples:
        assert isinstance(predicate, IRI)
        by_subject.setdefault((subject, predicate.value), []).append(object)
    sets = [s for s, p, o in triples if p == IRI(RDF_TYPE) and o == IRI(RS + "ResultSet")]
    if not sets:
        return triples
    (root,) = sets
    if (root, RS + "boolean") in by_subject:
        (truth,) = by_subject[root, RS + "boolean"]
        return isinstance(truth, Literal) and truth.lexical == "true"
    names = tuple(
        v.lexical for v in by_subject.get((root, RS + "resultVariable"), []) if isinstance(v, Literal)
    )
    rows = []
    for solution in by_subject.get((root, RS + "solution"), []):
        found = {}
        for binding in by_subject.get((solution, RS + "binding"), []):
            (name,), (value,) = by_subject[binding, RS + "variable"], by_subject[binding, RS + "value"]
            assert isinstance(name, Literal)
            found[name.lexical] = value
        index = by_subject.get((solution, RS + "index"))
        place = int(index[0].lexical) if index and isinstance(index[0], Literal) else None
        rows.append((place, tuple(found.get(name) for name in names)))
    ordered = bool(rows) and all(place is not None for place, _ in rows)
    if ordered:
        rows.sort(key=lambda row: row[0] or 0)
    return Table(names, tuple(row for _, row in rows), ordered)


# Comparison


def numeric(term: Term | None) -> Term | None:
    """A computed number in canonical form: result files write "3" or "3.0" for the same decimal."""
    value = value_of(term) if isinstance(term, Literal) else None
    if isinstance(value, Number) and isinstance(term, Literal):
        return Literal(lexical_of(value), term.datatype)
    return term


def isomorphic(left: Sequence[Row], right: Sequence[Row], *, ordered: bool = False) -> bool:
    """Whether a renaming of blank nodes makes two multisets (or sequences) of rows equal."""
    if len(left) != len(right):
        return False
    left, right = [tuple(_flat(row)) for row in left], [tuple(_flat(row)) for row in right]
    if ordered:
        left = [(Literal(str(i)), *row) for i, row in enumerate(left)]
        right = [(Literal(str(i)), *row) for i, row in enumerate(right)]
    colours_left, colours_right = _colours(left), _colours(right)
    if Counter(colours_left.values()) != Counter(colours_right.values()):
        return False
    target = Counter(right)
    return _search(list(left), target, list(colours_left), colours_left, colours_right, {})


def _flat(terms: Iterable[Term | None]) -> Iterator[Term | None]:
    """Triple terms as brackets around their parts, so that blank nodes inside are seen."""
    for term in terms:
        if isinstance(term, TripleTerm):
            yield Literal("<<(")
            yield from _flat((term.subject, term.predicate, term.object))
            yield Literal(")>>")
        else:
            yield term


def _colours(rows: Sequence[Row]) -> dict[BlankNode, int]:
    """A colour for each blank node that any renaming keeps: where it stands, and beside what."""
    nodes = {term for row in rows for term in row if isinstance(term, BlankNode)}
    colours = dict.fromkeys(sorted(nodes, key=lambda node: node.label), 0)
    for _ in range(4):
        places: dict[BlankNode, list[tuple[object, ...]]] = {node: [] for node in colours}
        for row in rows:
            shown = tuple(colours[t] if isinstance(t, BlankNode) else str(t) for t in row)
            for place, item in enumerate(row):
                if isinstance(item, BlankNode):
                    places[item].append((place, *shown))
        colours = {node: hash((colours[node], *sorted(map(repr, found)))) for node, found in places.items()}
    return colours


def _search(
    rows: list[Row],
    target: Counter[Row],
    open_nodes: list[BlankNode],
    left: dict[BlankNode, int],
    right: dict[BlankNode, int],
    renamed: dict[BlankNode, BlankNode],
) -> bool:
    if not open_nodes:
        shown = [tuple(renamed[t] if isinstance(t, BlankNode) else t for t in row) for row in rows]
        return Counter(shown) == target
    node, *rest = open_nodes
    taken = set(renamed.values())
    candidates = [n for n, colour in right.items() if colour == left[node] and n not in taken]
    return any(_search(rows, target, rest, left, right, {**renamed, node: found}) for found in candidates)


__all__ = ["RDF", "Expected", "Row", "Table", "as_csv", "isomorphic", "numeric", "read_results"]
