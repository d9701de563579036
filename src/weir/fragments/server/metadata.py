"""A fragment's metadata and controls (Triple Pattern Fragments, sections 4.2 and 4.3).

They lie in a graph of their own in formats that have graphs. Two forms are offered: the plain one that
every client knows, and one with fields for an instant (intervals only) and for bindings. A fragment says
by ``tmp:expiration`` until when it holds if nothing is pushed, and repeats the time labels of the facts
on it, so that a client that reads them there need not ask for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from weir.fragments.protocol import controls
from weir.fragments.protocol.annotation import (
    EXPIRATION,
    FOREVER,
    INSTANT,
    Annotation,
    Labeling,
    TripleText,
    time_text,
)
from weir.fragments.protocol.controls import AT, GRAPH, HYDRA, OBJECT, PREDICATE, SD, SUBJECT, VALUES
from weir.fragments.server.dataset import Dataset
from weir.fragments.server.request import FragmentRequest
from weir.rdf.terms import RDF, XSD, Literal

LONG = 1000
_TYPE = f"<{RDF}type>"
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

    @staticmethod
    def of(dataset: Dataset, request: FragmentRequest, base: str, total: int, changes: int) -> Described:
        """A page of a data set whose server lies at ``base``."""
        home, address = f"{base}/", f"{base}/{dataset.name}"
        return Described(
            request, home, address, dataset.title, dataset.annotation, total, dataset.page_size, changes
        )

    @property
    def graph(self) -> str:
        return f"<{self.dataset}#metadata>"

    @property
    def fragment(self) -> str:
        return f"{self.dataset}?{self.request.fragment}" if self.request.fragment else self.dataset

    @property
    def brief(self) -> bool:
        """A page's address is long where it names many bindings: then only what a client needs is said."""
        return len(self.dataset) + len(self.request.query) >= LONG

    @property
    def preceding(self) -> int | None:
        """The number of the page before this one."""
        return self.request.page - 1 or None

    @property
    def following(self) -> int | None:
        page = self.request.page
        return page + 1 if page * self.page_size < self.total else None

    def numbered(self, page: int | str, fragment: str | None = None) -> str:
        """The address of another page."""
        return f"{fragment or self.fragment}{'&' if self.request.fragment else '?'}page={page}"


class Metadata(NamedTuple):
    """The metadata graph: its name, what this page says, and the controls.

    Comunica reads the stream in order: what a page is a part of (``own``) must come before the rest.
    """

    graph: str
    own: Sequence[TripleText]
    controls: Sequence[TripleText] = ()


def values_of(about: Described) -> dict[str, str]:
    """In what one page's metadata differ from another's; what does not apply is left out."""
    request, _, dataset, _, _, total, page_size, changes = about
    query, number = request.query, request.page
    values = {"page": f"{dataset}?{query}" if query else dataset, "total": str(total)}
    if number > 1:
        values["previous"] = str(number - 1)
    if number * page_size < total:
        values["next"] = str(number + 1)
    if request.fragment != query:
        values["fragment"] = about.fragment
    if request.instant is not None and request.fixed:
        values["instant"] = time_text(request.instant)
    if changes < FOREVER:
        values["changes"] = time_text(changes)
    return values


def metadata_of(about: Described, values: Mapping[str, str]) -> Metadata:
    """What is said of one page: ``values_of`` it, or marks in their places."""
    graph, source = about.graph, f"<{about.dataset}#dataset>"
    page, total = f"<{values['page']}>", f'"{values["total"]}"^^<{XSD}integer>'
    fragment = values.get("fragment", values["page"])
    own: list[TripleText] = [
        (graph, controls.PRIMARY_TOPIC, page),
        (source, controls.SUBSET, page),
        (page, controls.TOTAL_ITEMS, total),
    ]
    if not about.brief:
        own += [
            (page, _TYPE, f"<{HYDRA}PartialCollectionView>"),
            (page, controls.TITLE, str(Literal.tagged(f"Linked Data Fragment of {about.title}", "en"))),
            (page, controls.SOURCE, source),
            (page, controls.TRIPLES, total),
            (page, controls.ITEMS_PER_PAGE, f'"{about.page_size}"^^<{XSD}integer>'),
            (page, controls.FIRST, f"<{about.numbered(1, fragment)}>"),
            (f"<{fragment}>", controls.SUBSET, page),
        ]
        if "fragment" in values:
            own.append((source, controls.SUBSET, f"<{fragment}>"))
        if "previous" in values:
            own.append((page, controls.PREVIOUS, f"<{about.numbered(values['previous'], fragment)}>"))
    if "next" in values:
        own.append((page, controls.NEXT, f"<{about.numbered(values['next'], fragment)}>"))
    if "instant" in values:
        own.append((page, INSTANT, values["instant"]))
    if "changes" in values:
        own.append((page, EXPIRATION, values["changes"]))
    return Metadata(graph, own, _controls(about.home, about.dataset, about.annotation))


@lru_cache(maxsize=256)
def _controls(index: str, dataset: str, annotation: Annotation) -> tuple[TripleText, ...]:
    """The triples that all fragments of a data set share."""
    source = f"<{dataset}#dataset>"
    extra = {"at": AT, "values": VALUES} if annotation.labeling is Labeling.INTERVAL else {"values": VALUES}
    return (
        (f"<{index}#dataset>", controls.MEMBER, source),
        (source, _TYPE, controls.DATASET),
        (source, _TYPE, f"<{HYDRA}Collection>"),
        (source, f"<{SD}defaultGraph>", f"<{controls.DEFAULT_GRAPH}>"),
        (source, controls.ANNOTATION, f'"{annotation}"'),
        (source, controls.WITHDRAWALS, f"<{dataset}/withdrawals>"),
        *_form(source, dataset, "pattern", _FIELDS, _FIELDS),
        *_form(source, dataset, "restricted", {**_FIELDS, **extra}, extra),
    )


def _form(
    source: str, dataset: str, name: str, fields: dict[str, str], described: dict[str, str]
) -> list[TripleText]:
    form = f"_:{name}"
    template = str(Literal(f"{dataset}{{?{','.join(fields)}}}"))
    triples: list[TripleText] = [
        (source, controls.SEARCH, form),
        (form, controls.TEMPLATE, template),
        (form, f"<{HYDRA}variableRepresentation>", f"<{HYDRA}ExplicitRepresentation>"),
    ]
    triples += [(form, controls.MAPPING, f"_:{field}") for field in fields]
    for field, meaning in described.items():
        triples.append((f"_:{field}", controls.VARIABLE, f'"{field}"'))
        triples.append((f"_:{field}", controls.PROPERTY, f"<{meaning}>"))
    return triples
