"""A fragment's metadata and controls (Triple Pattern Fragments, sections 4.2 and 4.3).

They lie in a graph of their own, ``<fragment>#metadata``, in formats that have graphs. Two forms are
offered: the plain one that every client knows, and one with fields for an instant (intervals only) and
for bindings. A fragment says by ``tmp:expiration`` until when it holds if nothing is pushed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

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
    TripleText,
    time_text,
)
from weir.rdf.terms import RDF, XSD, Literal
from weir.server.fragments.request import FragmentRequest

_TYPE = f"<{RDF}type>"
_FIELDS = {"subject": SUBJECT, "predicate": PREDICATE, "object": OBJECT, "graph": GRAPH}


@dataclass(frozen=True, slots=True)
class Described:
    """Everything that metadata say of one page."""

    request: FragmentRequest
    index: str
    dataset: str
    title: str
    annotation: Annotation
    total: int
    page_size: int
    now: int
    changes: int

    @property
    def fragment(self) -> str:
        return f"{self.dataset}?{self.request.fragment}" if self.request.fragment else self.dataset

    @property
    def page(self) -> str:
        return f"{self.dataset}?{self.request.query}" if self.request.query else self.dataset

    @property
    def graph(self) -> str:
        return f"<{self.fragment}#metadata>"

    def numbered(self, page: int) -> str:
        return f"{self.fragment}{'&' if self.request.fragment else '?'}page={page}"

    @property
    def following(self) -> str | None:
        more = self.request.page * self.page_size < self.total
        return self.numbered(self.request.page + 1) if more else None

    @property
    def preceding(self) -> str | None:
        return self.numbered(self.request.page - 1) if self.request.page > 1 else None


def metadata_triples(about: Described) -> list[TripleText]:
    """The triples of the metadata graph."""
    page, fragment, source = f"<{about.page}>", f"<{about.fragment}>", f"<{about.dataset}#dataset>"
    total = f'"{about.total}"^^<{XSD}integer>'
    triples: list[TripleText] = [
        (about.graph, f"<{FOAF}primaryTopic>", fragment),
        # Comunica reads the stream in order: what a page is a part of must come before the rest.
        (source, f"<{VOID}subset>", page),
        *_controls(about.index, about.dataset, about.annotation),
        (fragment, f"<{VOID}subset>", page),
        (page, _TYPE, f"<{HYDRA}PartialCollectionView>"),
        (page, f"<{DCTERMS}title>", _title(about.title)),
        (page, f"<{DCTERMS}source>", source),
        (page, f"<{HYDRA}totalItems>", total),
        (page, f"<{VOID}triples>", total),
        (page, f"<{HYDRA}itemsPerPage>", f'"{about.page_size}"^^<{XSD}integer>'),
        (page, f"<{HYDRA}first>", f"<{about.numbered(1)}>"),
    ]
    if page != fragment:
        triples.append((source, f"<{VOID}subset>", fragment))
    for name, address in (("previous", about.preceding), ("next", about.following)):
        if address is not None:
            triples.append((page, f"<{HYDRA}{name}>", f"<{address}>"))
    if about.request.instant is not None:
        triples.append((page, INSTANT, time_text(about.request.instant)))
    if about.changes < FOREVER:
        triples.append((page, EXPIRATION, time_text(about.changes)))
    return triples


@lru_cache(maxsize=256)
def _title(title: str) -> str:
    return str(Literal.tagged(f"Linked Data Fragment of {title}", "en"))


@lru_cache(maxsize=256)
def _controls(index: str, dataset: str, annotation: Annotation) -> tuple[TripleText, ...]:
    source = f"<{dataset}#dataset>"
    extra = {"at": AT, "values": VALUES} if annotation.labeling is Labeling.INTERVAL else {"values": VALUES}
    return (
        (f"<{index}#dataset>", f"<{HYDRA}member>", source),
        (source, _TYPE, f"<{VOID}Dataset>"),
        (source, _TYPE, f"<{HYDRA}Collection>"),
        (source, f"<{SD}defaultGraph>", f"<{DEFAULT_GRAPH}>"),
        (source, f"<{ANNOTATION}>", f'"{annotation}"'),
        *_form(source, dataset, "pattern", _FIELDS, _FIELDS),
        *_form(source, dataset, "restricted", {**_FIELDS, **extra}, extra),
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
