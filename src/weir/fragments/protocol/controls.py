"""Hypermedia controls: the vocabularies of pages, search forms, and terms as values of their fields.

The server writes a page's metadata in these terms and the client reads them. A client may assume no address
of a server: it fills in the form that every fragment carries (Triple Pattern Fragments, section 4.3), whose
template is one of RFC 6570. Values are in Hydra's explicit representation: IRIs as they are, literals in
quotes with the raw lexical form between them, then ``@tag`` or ``^^datatype-IRI``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urljoin

from uritemplate import URITemplate
from uritemplate.variable import VariableValueDict

from weir.errors import RemoteError
from weir.fragments.protocol.annotation import TMP, TripleText
from weir.rdf.terms import RDF, XSD_STRING, Literal, Variable, parse_term

HYDRA = "http://www.w3.org/ns/hydra/core#"
VOID = "http://rdfs.org/ns/void#"
SD = "http://www.w3.org/ns/sparql-service-description#"
FOAF = "http://xmlns.com/foaf/0.1/"
DCTERMS = "http://purl.org/dc/terms/"
WEIR = "urn:weir:fragments#"
DEFAULT_GRAPH = "urn:ldf:defaultGraph"

SUBJECT, PREDICATE, OBJECT = RDF + "subject", RDF + "predicate", RDF + "object"
GRAPH = SD + "graph"
AT = TMP + "instant"
VALUES = WEIR + "values"
"""The properties that fields of a form stand for."""

PRIMARY_TOPIC = f"<{FOAF}primaryTopic>"
DATASET, SUBSET, TRIPLES = (f"<{VOID}{name}>" for name in ("Dataset", "subset", "triples"))
TITLE, SOURCE = f"<{DCTERMS}title>", f"<{DCTERMS}source>"
TOTAL_ITEMS, ITEMS_PER_PAGE, FIRST, PREVIOUS, NEXT = (
    f"<{HYDRA}{name}>" for name in ("totalItems", "itemsPerPage", "first", "previous", "next")
)
MEMBER, SEARCH, TEMPLATE, MAPPING, VARIABLE, PROPERTY = (
    f"<{HYDRA}{name}>" for name in ("member", "search", "template", "mapping", "variable", "property")
)
ANNOTATION = f"<{WEIR}annotation>"
"""Says of a data set how its dynamic facts are annotated, also while it has none."""
WITHDRAWALS = f"<{WEIR}withdrawals>"
"""Says of a data set where it tells, by Server-Sent Events, of facts that are taken back early."""


def value_of(text: str) -> str:
    """A term's text as the value of a form's field; the empty text is the default graph."""
    if not text:
        return DEFAULT_GRAPH
    if text[0] == "<":
        return text[1:-1]
    term = parse_term(text)
    if isinstance(term, Literal):
        if term.language is not None:
            return f'"{term.lexical}"@{term.language}'
        return f'"{term.lexical}"' if term.datatype == XSD_STRING else f'"{term.lexical}"^^{term.datatype}'
    return text


_TAG = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")
_NOT_IN_IRI = re.compile(r'[\x00-\x20<>"{}|\\^`]')


def text_of(value: str) -> str | Variable | None:
    """The term that a field's value stands for: a text, a variable, or None where it is malformed.

    Blank nodes cannot be asked for: like variables they match anything.
    """
    if value[0] == '"':
        close = value.rfind('"')
        lexical, rest = value[1:close], value[close + 1 :]
        if close == 0:
            return None
        if not rest:
            return str(Literal(lexical))
        if rest[0] == "@":
            return str(Literal.tagged(lexical, rest[1:])) if _TAG.fullmatch(rest[1:]) else None
        datatype = rest[2:].removeprefix("<").removesuffix(">")
        if not rest.startswith("^^") or not datatype or _NOT_IN_IRI.search(datatype):
            return None
        return str(Literal(lexical, datatype))
    if value[0] in "?$":
        return Variable(value[1:])
    if value.startswith("_:"):
        return Variable("." + value[2:])
    iri = value[1:-1] if value[0] == "<" and value[-1] == ">" else value
    return None if not iri or _NOT_IN_IRI.search(iri) else f"<{iri}>"


@dataclass(frozen=True, slots=True)
class Form:
    """A search form: a template, and which of its variables stands for which property."""

    template: str
    mappings: Mapping[str, str]

    def address(self, values: Mapping[str, str], base: str = "") -> str:
        """The fragment's address for values by property; fields without a value are left out."""
        fields: VariableValueDict = {
            self.mappings[name]: value for name, value in values.items() if name in self.mappings
        }
        return urljoin(base, _template(self.template).expand(fields))

    def implicit_graph(self, triple: TripleText, base: str = "") -> str:
        """The text of a triple's implicit graph: the address of its own fragment (section 4.2)."""
        subject, predicate, object_ = map(value_of, triple)
        return f"<{self.address({SUBJECT: subject, PREDICATE: predicate, OBJECT: object_}, base)}>"

    @property
    def quads(self) -> bool:
        return GRAPH in self.mappings

    @property
    def timed(self) -> bool:
        """Whether it can ask for the facts valid at an instant."""
        return AT in self.mappings

    @property
    def bulk(self) -> bool:
        """Whether it can restrict a pattern to many bindings at once (brTPF)."""
        return VALUES in self.mappings


@lru_cache(maxsize=256)
def _template(text: str) -> URITemplate:
    try:
        return URITemplate(text)
    except ValueError:
        raise RemoteError(f"the search form has a malformed template: {text[:200]!r}") from None
