"""A fragment's metadata and controls (Triple Pattern Fragments, sections 4.2 and 4.3).

They lie in a graph of their own in formats that have graphs. Two forms are offered: the plain one that
every client knows, and one with fields for an instant (intervals only) and for bindings. A fragment says
by ``tmp:expiration`` until when it holds if nothing is pushed, and repeats the time labels of the facts
on it, so that a client that reads them there need not ask for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from weir.background.fragments.controls import (
    ANNOTATION,
    AT,
    DCTERMS,
    DEFAULT_GRAPH,
    FOAF,
    GRAPH,
    HYDRA,
    OBJECT,
    PREDICATE,
    SD,
    SUBJECT,
    VALUES,
    VOID,
)
from weir.rdf.annotation import (
    EXPIRATION,
    FOREVER,
    INSTANT,
    Annotation,
    Labeling,
    Quad,
    TripleText,
    time_text,
)
from weir.rdf.terms import RDF, XSD, Literal
from weir.server.fragments.request import FragmentRequest

_LONG = 1000
_TYPE = f"<{RDF}type>"
_PRIMARY_TOPIC = f"<{FOAF}primaryTopic>"
_SUBSET, _TRIPLES = f"<{VOID}subset>", f"<{VOID}triples>"
_TITLE, _SOURCE = f"<{DCTERMS}title>", f"<{DCTERMS}source>"
_VIEW, _TOTAL, _PER_PAGE, _FIRST, _PREVIOUS, _NEXT = (
    f"<{HYDRA}{name}>"
    for name in ("PartialCollectionView", "totalItems", "itemsPerPage", "first", "previous", "next")
)
_FIELDS = {"subject": SUBJECT, "predicate": PREDICATE, "object": OBJECT, "graph": GRAPH}


class Described(NamedTuple):
    """Everything that metadata say of one page."""

    request: FragmentRequest
    home: str
    dataset: str
    title: str
    annotation: Annotation
    total: int
    page_size: int
    changes: int

    @property
    def fragment(self) -> str:
        return f"{self.dataset}?{self.request.fragment}" if self.request.fragment else self.dataset

    @property
    def page(self) -> str:
        return f"{self.dataset}?{self.request.query}" if self.request.query else self.dataset

    @property
    def graph(self) -> str:
        return f"<{self.dataset}#metadata>"

    def numbered(self, page: int) -> str:
        return f"{self.fragment}{'&' if self.request.fragment else '?'}page={page}"

    @property
    def following(self) -> str | None:
        more = self.request.page * self.page_size < self.total
        return self.numbered(self.request.page + 1) if more else None

    @property
    def preceding(self) -> str | None:
        return self.numbered(self.request.page - 1) if self.request.page > 1 else None


class Controls:
    """The triples that all fragments of a data set share, also written out once for each family of syntaxes.

    ``statements`` has one N-Triples statement a line; ``quads`` has a mark where the graph goes.
    """

    def __init__(self, triples: Sequence[TripleText]) -> None:
        self.triples = tuple(triples)

    @cached_property
    def statements(self) -> str:
        return "".join(f"{s} {p} {o} .\n" for s, p, o in self.triples)

    @cached_property
    def quads(self) -> str:
        return "".join(f"{s} {p} {o} {GRAPH_MARK} .\n" for s, p, o in self.triples)


GRAPH_MARK = "\x00"


class Metadata(NamedTuple):
    """The metadata graph: its name, what this page says, and the controls.

    Comunica reads the stream in order: what a page is a part of (``own``) must come before the rest.
    """

    graph: str
    own: list[TripleText]
    controls: Controls
    labels: Sequence[TripleText] = ()

    @property
    def triples(self) -> list[TripleText]:
        return [*self.own, *self.controls.triples, *self.labels]


def metadata_of(about: Described, labels: Sequence[Quad] = ()) -> Metadata:
    """What is said of one page, and the time labels of the facts on it.

    A page's address is long where it names many bindings: then only what a client needs is said of it.
    """
    page, fragment, source = f"<{about.page}>", f"<{about.fragment}>", f"<{about.dataset}#dataset>"
    graph = about.graph
    total = f'"{about.total}"^^<{XSD}integer>'
    triples: list[TripleText] = [
        (graph, _PRIMARY_TOPIC, page),
        (source, _SUBSET, page),
        (page, _TOTAL, total),
    ]
    if len(page) < _LONG:
        triples += [
            (page, _TYPE, _VIEW),
            (page, _TITLE, _title(about.title)),
            (page, _SOURCE, source),
            (page, _TRIPLES, total),
            (page, _PER_PAGE, f'"{about.page_size}"^^<{XSD}integer>'),
            (page, _FIRST, f"<{about.numbered(1)}>"),
            (fragment, _SUBSET, page),
        ]
        if page != fragment:
            triples.append((source, _SUBSET, fragment))
        if (address := about.preceding) is not None:
            triples.append((page, _PREVIOUS, f"<{address}>"))
    if (address := about.following) is not None:
        triples.append((page, _NEXT, f"<{address}>"))
    if about.request.fixed and about.request.instant is not None:
        triples.append((page, INSTANT, time_text(about.request.instant)))
    if about.changes < FOREVER:
        triples.append((page, EXPIRATION, time_text(about.changes)))
    controls = _controls(about.home, about.dataset, about.annotation)
    return Metadata(graph, triples, controls, [quad[:3] for quad in labels])


@lru_cache(maxsize=256)
def _title(title: str) -> str:
    return str(Literal.tagged(f"Linked Data Fragment of {title}", "en"))


@lru_cache(maxsize=256)
def _controls(index: str, dataset: str, annotation: Annotation) -> Controls:
    source = f"<{dataset}#dataset>"
    extra = {"at": AT, "values": VALUES} if annotation.labeling is Labeling.INTERVAL else {"values": VALUES}
    return Controls(
        (
            (f"<{index}#dataset>", f"<{HYDRA}member>", source),
            (source, _TYPE, f"<{VOID}Dataset>"),
            (source, _TYPE, f"<{HYDRA}Collection>"),
            (source, f"<{SD}defaultGraph>", f"<{DEFAULT_GRAPH}>"),
            (source, f"<{ANNOTATION}>", f'"{annotation}"'),
            *_form(source, dataset, "pattern", _FIELDS, _FIELDS),
            *_form(source, dataset, "restricted", {**_FIELDS, **extra}, extra),
        )
    )


def _form(
    source: str, dataset: str, name: str, fields: dict[str, str], described: dict[str, str]
) -> list[TripleText]:
    form = f"_:{name}"
    template = str(Literal(f"{dataset}{{?{','.join(fields)}}}"))
    triples: list[TripleText] = [
        (source, f"<{HYDRA}search>", form),
        (form, f"<{HYDRA}template>", template),
        (form, f"<{HYDRA}variableRepresentation>", f"<{HYDRA}ExplicitRepresentation>"),
    ]
    triples += [(form, f"<{HYDRA}mapping>", f"_:{field}") for field in fields]
    for field, meaning in described.items():
        triples.append((f"_:{field}", f"<{HYDRA}variable>", f'"{field}"'))
        triples.append((f"_:{field}", f"<{HYDRA}property>", f"<{meaning}>"))
    return triples
