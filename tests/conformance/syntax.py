"""The W3C query texts as values: which must parse, which must not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from conformance.manifest import MF, QT, RDF_TYPE, read_graph
from weir.rdf.terms import IRI, Term

POSITIVE = {"PositiveSyntaxTest", "PositiveSyntaxTest11"}
NEGATIVE = {"NegativeSyntaxTest", "NegativeSyntaxTest11"}
EVALUATION = {"QueryEvaluationTest", "CSVResultFormatTest"}


@dataclass(frozen=True, slots=True)
class Text:
    """One query of the suites; ``name`` is suite/folder/test."""

    name: str
    path: Path
    valid: bool

    def read(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def base(self) -> str:
        return self.path.as_uri()


SUITES = ("sparql10", "sparql11", "sparql12")
"""The versions of SPARQL that the language speaks."""


def read_texts(suites: Path) -> list[Text]:
    """Every query syntax test and the query of every evaluation test, entailment's among them."""
    found: dict[str, Text] = {}
    for manifest in sorted(path for suite in SUITES for path in suites.glob(f"{suite}/*/manifest.ttl")):
        index: dict[tuple[Term, str], list[Term]] = {}
        for subject, predicate, object in read_graph(manifest):
            assert isinstance(predicate, IRI)
            index.setdefault((subject, predicate.value), []).append(object)
        for (subject, predicate_iri), kinds in index.items():
            if predicate_iri != RDF_TYPE:
                continue
            names = {kind.value.removeprefix(MF) for kind in kinds if isinstance(kind, IRI)}
            action = next(iter(index.get((subject, MF + "action"), [])), None)
            if names & EVALUATION and action is not None:
                action = next(iter(index.get((action, QT + "query"), [])), None)
            elif not names & (POSITIVE | NEGATIVE):
                continue
            if isinstance(action, IRI) and isinstance(subject, IRI) and action.value.endswith(".rq"):
                folder = f"{manifest.parent.parent.name}/{manifest.parent.name}"
                name = f"{folder}/{subject.value.rpartition('#')[2]}"
                found[name] = Text(name, Path(action.value.removeprefix("file://")), not names & NEGATIVE)
    return list(found.values())
