"""Hypermedia controls: search forms, their URI templates (RFC 6570) and terms as their values.

A client may assume no address of a server: it fills in the form that every fragment carries (Triple
Pattern Fragments, section 4.3). Values are written in Hydra's explicit representation: IRIs as they are,
literals in quotes with the raw lexical form between them, then ``@tag`` or ``^^datatype-IRI``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, urljoin

from weir.errors import RemoteError
from weir.fragments.protocol.annotation import TMP
from weir.rdf.terms import IRI, RDF, XSD_STRING, BlankNode, Literal, Variable, parse_term

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
ANNOTATION = WEIR + "annotation"
"""Says of a data set how its dynamic facts are annotated, also while it has none."""


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
        fields = {self.mappings[name]: value for name, value in values.items() if name in self.mappings}
        return urljoin(base, expand(self.template, fields)) if base else expand(self.template, fields)

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


_EXPRESSION = re.compile(r"\{([+#./;?&]?)([^{}]*)\}")
_STYLES = {
    "": ("", ",", False),
    "+": ("", ",", False),
    "#": ("#", ",", False),
    ".": (".", ".", False),
    "/": ("/", "/", False),
    ";": (";", ";", True),
    "?": ("?", "&", True),
    "&": ("&", "&", True),
}


def expand(template: str, fields: Mapping[str, str]) -> str:
    """A URI template filled in: RFC 6570 up to level 3, and the modifiers are ignored."""

    def fill(match: re.Match[str]) -> str:
        operator, names = match[1], match[2].split(",")
        lead, separator, named = _STYLES[operator]
        safe = ":/?#[]@!$&'()*+,;=%" if operator in ("+", "#") else ""
        filled = []
        for name in names:
            name = name.removesuffix("*").partition(":")[0]
            if name in fields:
                value = quote(fields[name], safe=safe)
                filled.append(f"{name}={value}" if named else value)
        return lead + separator.join(filled) if filled else ""

    return _EXPRESSION.sub(fill, template)


def implicit_address(form: Form, base: str, triple: tuple[str, str, str]) -> str:
    """The text of a triple's implicit graph: the address of its own fragment (section 4.2)."""
    subject, predicate, object_ = triple
    values = {SUBJECT: value_of(subject), PREDICATE: value_of(predicate), OBJECT: value_of(object_)}
    return f"<{form.address(values, base)}>"


def check_form(form: Form) -> None:
    """A form must have the three fields of a triple pattern and a template that uses them."""
    missing = [name for name in (SUBJECT, PREDICATE, OBJECT) if name not in form.mappings]
    if missing:
        raise RemoteError(
            "the search form lacks a field of the triple pattern",
            detail=f"no mapping for {missing[0]} in {form.template!r}",
        )


def pattern_values(pattern: tuple[str | None, ...]) -> dict[str, str]:
    """The form's values of a quad pattern; free places are left out."""
    names = (SUBJECT, PREDICATE, OBJECT, GRAPH)
    return {name: value_of(text) for name, text in zip(names, pattern, strict=True) if text is not None}


def readable(text: str) -> str:
    """A term for people: IRIs without brackets, literals by their lexical form."""
    term = parse_term(text) if text else None
    if isinstance(term, IRI):
        return term.value
    if isinstance(term, BlankNode):
        return str(term)
    return term.lexical if isinstance(term, Literal) else "(default)"
