"""Time annotation of triples (query streamer, sections 2.2 and 4): which quads say when a fact holds.

A dynamic fact is a triple with its validity ``[start, end)``. Four *methods* attach a label to a triple:
singleton properties, graphs, implicit graphs (the IRI of the triple's own fragment) and reification.
Two *labelings* say what the label holds: an expiration time, or an interval. Each pair is a list of
``Shape``: quad patterns over the fact's own slots, from which a server derives what it publishes and a
client derives how it rewrites a triple pattern. Nothing else knows what an annotation looks like.

Terms are texts (see ``terms``); the default graph is the empty text. The vocabulary is the paper's; the
flat ``tmp:intervalInitial`` and ``tmp:intervalFinal`` of its prototype are read, never written, and so is
``tmp:instant``, the one instant at which a fact holds.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from math import floor
from typing import NamedTuple, TypeAlias

from weir.errors import DataError
from weir.rdf.terms import RDF, XSD
from weir.rdf.xsd.moments import XSD_DATETIME, civil_text, parse_moment

TMP = "http://example.org/temporal#"
SP = "http://example.org/singletonproperties#"

EXPIRATION = f"<{TMP}expiration>"
INTERVAL = f"<{TMP}interval>"
INITIAL = f"<{TMP}initial>"
FINAL = f"<{TMP}final>"
INSTANT = f"<{TMP}instant>"
FLAT_INITIAL = f"<{TMP}intervalInitial>"
FLAT_FINAL = f"<{TMP}intervalFinal>"
SINGLETON_OF = f"<{SP}singletonPropertyOf>"
RDF_SUBJECT, RDF_PREDICATE, RDF_OBJECT = (f"<{RDF}{name}>" for name in ("subject", "predicate", "object"))
REIFIED = (RDF_SUBJECT, RDF_PREDICATE, RDF_OBJECT)

LABELS = frozenset((EXPIRATION, INTERVAL, INITIAL, FINAL, INSTANT, FLAT_INITIAL, FLAT_FINAL))
"""Predicates that occur in labels alone: never part of the data a query sees."""

FOREVER = 2**63 - 1
BEGINNING = -(2**63)

Quad: TypeAlias = tuple[str, str, str, str]
TripleText: TypeAlias = tuple[str, str, str]
QuadPattern: TypeAlias = tuple[str | None, str | None, str | None, str | None]
"""Texts of a quad, None where it is free; the empty text in the last place is the default graph."""


def matches(quad: QuadPattern, pattern: QuadPattern) -> bool:
    """Whether a quad fits a pattern, to the letter; of patterns, whether one takes in the other."""
    return all(text is None or text == part for text, part in zip(pattern, quad, strict=True))


class Method(Enum):
    """How a label is attached to a triple (section 4.2)."""

    SINGLETON = "singletonproperties"
    GRAPHS = "graphs"
    IMPLICIT = "implicitgraphs"
    REIFICATION = "reification"


class Labeling(Enum):
    """What a label holds (section 4.1): expirations keep the latest version, intervals the history."""

    EXPIRATION = "expiration"
    INTERVAL = "interval"


class Slot(Enum):
    """What fills a place of a shape: a part of the fact, or a node made for the annotation.

    ``NODE`` bears the label; ``SPAN`` is the interval node between it and its two ends.
    """

    SUBJECT = "s"
    PREDICATE = "p"
    OBJECT = "o"
    NODE = "node"
    SPAN = "span"
    START = "start"
    END = "end"


Place: TypeAlias = Slot | str


class Shape(NamedTuple):
    """One quad of an annotated fact; a text is a constant, the graph is ``NODE`` or the default one."""

    subject: Place
    predicate: Place
    object: Place
    graph: Place = ""


_STATEMENTS: Mapping[Method, tuple[Shape, ...]] = {
    Method.SINGLETON: (
        Shape(Slot.SUBJECT, Slot.NODE, Slot.OBJECT),
        Shape(Slot.NODE, SINGLETON_OF, Slot.PREDICATE),
    ),
    Method.GRAPHS: (Shape(Slot.SUBJECT, Slot.PREDICATE, Slot.OBJECT, Slot.NODE),),
    Method.IMPLICIT: (Shape(Slot.SUBJECT, Slot.PREDICATE, Slot.OBJECT),),
    Method.REIFICATION: (
        Shape(Slot.NODE, RDF_SUBJECT, Slot.SUBJECT),
        Shape(Slot.NODE, RDF_PREDICATE, Slot.PREDICATE),
        Shape(Slot.NODE, RDF_OBJECT, Slot.OBJECT),
    ),
}
_LABELS: Mapping[tuple[Labeling, bool], tuple[Shape, ...]] = {
    (Labeling.EXPIRATION, False): (Shape(Slot.NODE, EXPIRATION, Slot.END),),
    (Labeling.INTERVAL, False): (
        Shape(Slot.NODE, INTERVAL, Slot.SPAN),
        Shape(Slot.SPAN, INITIAL, Slot.START),
        Shape(Slot.SPAN, FINAL, Slot.END),
    ),
    (Labeling.INTERVAL, True): (
        Shape(Slot.NODE, FLAT_INITIAL, Slot.START),
        Shape(Slot.NODE, FLAT_FINAL, Slot.END),
    ),
}


@dataclass(frozen=True, slots=True)
class Annotation:
    """A method with a labeling; ``flat`` is to write times right at the node: the ends of an interval, as the
    prototype does, or an instant."""

    method: Method = Method.GRAPHS
    labeling: Labeling = Labeling.EXPIRATION
    flat: bool = False

    @property
    def statement(self) -> tuple[Shape, ...]:
        """The quads that carry the triple itself."""
        return _STATEMENTS[self.method]

    @property
    def label(self) -> tuple[Shape, ...]:
        """The quads that carry its validity."""
        return _LABELS[self.labeling, self.flat and self.labeling is Labeling.INTERVAL]

    @property
    def shapes(self) -> tuple[Shape, ...]:
        return self.statement + self.label

    def trace(self, pattern: QuadPattern) -> QuadPattern:
        """The one fragment that tells whether a triple pattern has facts, and about how many."""
        s, p, o, _ = pattern
        if self.method is Method.SINGLETON:
            return None, SINGLETON_OF, p, ""
        if self.method is Method.REIFICATION:
            return None, RDF_PREDICATE, p, ""
        return s, p, o, None if self.method is Method.GRAPHS else ""

    def __str__(self) -> str:
        return f"{self.method.value}/{self.labeling.value}"


class Fact(NamedTuple):
    """A triple and its validity ``[start, end)`` in microseconds."""

    subject: str
    predicate: str
    object: str
    start: int
    end: int

    @property
    def triple(self) -> TripleText:
        return self[:3]


Validity: TypeAlias = tuple[int, int]
ImplicitName: TypeAlias = Callable[[TripleText], str]


def read_facts(quads: Iterable[Quad], implicit: ImplicitName | None = None) -> tuple[list[Fact], list[Quad]]:
    """Annotated facts, by whichever methods, and the quads that belong to no annotation.

    ``implicit`` names the implicit graph of a triple. A label that no triple bears, an interval without
    one of its ends and one that ends before it starts are errors.
    """
    said: list[Quad] = []
    data: list[Quad] = []
    for quad in quads:
        (said if quad[1] in LABELS else data).append(quad)
    labels = validities(said, whole=True)
    singletons = {s: o for s, p, o, _ in data if p == SINGLETON_OF and s in labels}
    reified: dict[str, dict[str, str]] = {node: {} for node in labels}
    facts: list[Fact] = []
    rest: list[Quad] = []
    borne: set[str] = set()

    def bear(node: str, triple: TripleText) -> None:
        borne.add(node)
        facts.extend(Fact(*triple, start, end) for start, end in labels[node])

    for s, p, o, g in data:
        if g in labels:
            bear(g, (s, p, o))
        elif p in singletons:
            bear(p, (s, singletons[p], o))
        elif p in REIFIED and s in reified:
            reified[s][p] = o
        elif p == SINGLETON_OF and s in singletons:
            continue
        elif implicit is not None and not g and (name := implicit((s, p, o))) in labels:
            bear(name, (s, p, o))
        else:
            rest.append((s, p, o, g))
    for node, parts in reified.items():
        if len(parts) == 3:
            bear(node, (parts[RDF_SUBJECT], parts[RDF_PREDICATE], parts[RDF_OBJECT]))
    if orphans := labels.keys() - borne:
        raise DataError(
            f"the time label of {min(orphans)} belongs to no triple",
            hint="annotate a graph, a singleton property, a reified statement or an implicit graph",
        )
    return facts, rest


def validities(labels: Iterable[Quad], *, whole: bool) -> dict[str, list[Validity]]:
    """The validities that time labels give to nodes.

    Where the labels are not known to be the ``whole`` of them, intervals that lack an end are left out, and
    empty ones are no error.
    """
    found: dict[str, list[Validity]] = defaultdict(list)
    spans: list[tuple[str, str]] = []
    initial: dict[str, int] = {}
    final: dict[str, int] = {}
    for node, predicate, value, _ in labels:
        if predicate == EXPIRATION:
            found[node].append((BEGINNING, read_time(value)))
        elif predicate == INSTANT:
            found[node].append(((instant := read_time(value)), instant + 1))
        elif predicate == INTERVAL:
            spans.append((node, value))
        elif predicate in (INITIAL, FLAT_INITIAL):
            initial[node] = read_time(value)
        elif predicate in (FINAL, FLAT_FINAL):
            final[node] = read_time(value)
        if predicate in (FLAT_INITIAL, FLAT_FINAL):
            spans.append((node, node))
    for node, span in dict.fromkeys(spans):
        start, end = initial.get(span), final.get(span)
        if start is not None and end is not None:
            if start > end or (whole and start == end):
                raise DataError(f"the interval of {node} ends before it starts")
            found[node].append((start, end))
        elif whole:
            lacking = "initial" if start is None else "final"
            raise DataError(f"the interval of {node} lacks its {lacking} time")
    return found


_DATETIME = re.compile(rf'"([^"]*)"(?:\^\^<(?:{re.escape(XSD)}|xsd:)dateTime(?:Stamp)?>)?')
_FIRST, _LAST = -62_135_596_800_000_000, 253_402_300_799_000_000
"""The first second of year 1 and the last of year 9999: how the beginning and for ever are written."""


def read_time(text: str) -> int:
    """The microseconds of an xsd:dateTime's text, UTC where it has no timezone.

    From the last second of 9999 on it is for ever, up to the first of year 1 it is the beginning.
    """
    match = _DATETIME.fullmatch(text)
    moment = None if match is None else parse_moment(match[1], XSD_DATETIME)
    if moment is None:
        raise DataError(f"{text if len(text) <= 80 else text[:77] + '...'} is no xsd:dateTime")
    time = floor(moment.utc_seconds() * 1_000_000)
    return FOREVER if time >= _LAST else BEGINNING if time <= _FIRST else time


def time_text(microseconds: int) -> str:
    """The text of a time as xsd:dateTime in UTC."""
    return f'"{time_lexical(microseconds)}"^^<{XSD}dateTime>'


def time_lexical(microseconds: int) -> str:
    """A time as xsd:dateTime writes it, in UTC, with as many digits as it needs (0, 3 or 6)."""
    if microseconds in (FOREVER, BEGINNING):
        return "9999-12-31T23:59:59Z" if microseconds == FOREVER else "0001-01-01T00:00:00Z"
    fraction = 0 if microseconds % 1_000_000 == 0 else 3 if microseconds % 1_000 == 0 else 6
    return f"{civil_text(microseconds, fraction)}Z"
