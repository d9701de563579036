"""SPARQL query results, in JSON and XML, as columns of terms (W3C SPARQL 1.1 Query Results formats).

What a server sends is not trusted: anything that is not the format raises ``DataError``, and an XML
document type, the door to entity tricks, is refused.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from xml.etree import ElementTree

from weir.errors import DataError
from weir.rdf.sparql_json import literal_of, term_of_json
from weir.rdf.terms import IRI, BlankNode, Term

JSON_TYPE = "application/sparql-results+json"
XML_TYPE = "application/sparql-results+xml"
ACCEPT = f"{JSON_TYPE}, {XML_TYPE};q=0.9, application/json;q=0.5, application/xml;q=0.4"

_NS = "{http://www.w3.org/2005/sparql-results#}"
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"

Columns: TypeAlias = Mapping[str, Sequence[Term | None]]


@dataclass(frozen=True, slots=True)
class Solutions:
    """A column per variable, None where unbound; blank nodes keep the labels of this one document."""

    columns: Columns
    length: int


def parse_results(body: bytes, content_type: str) -> Solutions:
    """The solutions of a result document; without a telling content type, its first character decides."""
    media = content_type.partition(";")[0].strip().lower()
    if media.endswith("json"):
        return parse_json(body)
    if media.endswith("xml"):
        return parse_xml(body)
    start = body.lstrip()[:1]
    if start == b"{":
        return parse_json(body)
    if start == b"<":
        return parse_xml(body)
    raise DataError(f"not a SPARQL result: content type {media or 'unknown'}", detail=_glimpse(body))


def parse_json(body: bytes) -> Solutions:
    """SPARQL 1.1 Query Results JSON Format, section 3."""
    try:
        document = json.loads(body)
        names = [_text(name) for name in document["head"]["vars"]]
        bindings = document["results"]["bindings"]
        columns: dict[str, list[Term | None]] = {name: [] for name in names}
        for binding in bindings:
            for name, column in columns.items():
                value = binding.get(name)
                column.append(None if value is None else term_of_json(value))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise DataError("not a SPARQL JSON result", detail=f"{error!r} in {_glimpse(body)}") from None
    return Solutions(columns, len(bindings))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no string")
    return value


class _NoDoctype(ElementTree.TreeBuilder):
    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise DataError("not a SPARQL XML result", detail="it declares a document type")


def parse_xml(body: bytes) -> Solutions:
    """SPARQL Query Results XML Format, section 2."""
    try:
        parser = ElementTree.XMLParser(target=_NoDoctype())
        root = ElementTree.parse(io.BytesIO(body), parser).getroot()
        if root.tag != f"{_NS}sparql":
            raise ValueError(f"the root is {root.tag}")
        head, results = root.find(f"{_NS}head"), root.find(f"{_NS}results")
        if head is None or results is None:
            raise ValueError("no head, or no results")
        names = [variable.attrib["name"] for variable in head.findall(f"{_NS}variable")]
        found = results.findall(f"{_NS}result")
        columns: dict[str, list[Term | None]] = {name: [None] * len(found) for name in names}
        for row, result in enumerate(found):
            for binding in result.findall(f"{_NS}binding"):
                columns[binding.attrib["name"]][row] = _xml_term(binding)
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise DataError("not a SPARQL XML result", detail=f"{error!r} in {_glimpse(body)}") from None
    return Solutions(columns, len(found))


def _xml_term(binding: ElementTree.Element) -> Term:
    element = binding[0]
    text = element.text or ""
    if element.tag == f"{_NS}uri":
        return IRI(text)
    if element.tag == f"{_NS}bnode":
        return BlankNode(text)
    if element.tag == f"{_NS}literal":
        return literal_of(text, element.get(_LANG), element.get("datatype"))
    raise ValueError(f"unknown kind of term {element.tag}")


def _glimpse(body: bytes) -> str:
    return repr(body[:80].decode("utf-8", "replace"))
