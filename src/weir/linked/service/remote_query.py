"""A part's request as SPARQL, and the answer's solutions as rows of ids that know whose they are.

Many keys share a request: ``SELECT … WHERE { VALUES (keys) { … } pattern }``. Law: what a pattern is joined
with is joined with the same rows whether all its solutions were asked for or only those of its keys.

What a server sends is not trusted: anything that is not a result in JSON or XML (W3C SPARQL 1.1 Query Results
formats) raises ``DataError``, and so does an XML document type, the door to entity tricks.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import numpy as np

from weir.errors import DataError
from weir.kernel.contract import FOREVER
from weir.kernel.relations.keys import codes
from weir.language.algebra import patterns as a
from weir.language.algebra.fold import rebuilt, walk
from weir.language.algebra.scope import visible
from weir.language.writing.queries import QueryWriter
from weir.language.writing.terms import Terms
from weir.linked.service.blank_labels import with_stable_labels
from weir.linked.service.service_parts import PartRows, ServicePart
from weir.rdf.columns import Ids, Mask
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import (
    IRI,
    XSD_STRING,
    BlankNode,
    Literal,
    Term,
    TripleTerm,
    Variable,
    iri_of,
    is_absolute_iri,
    is_unicode,
    literal_of,
    term_of_json,
    triple_term,
)
from weir.rdf.xsd.durations import DURATION_TYPES, parse_duration
from weir.rdf.xsd.moments import XSD_DATETIME, XSD_DATETIMESTAMP, parse_moment
from weir.rdf.xsd.numbers import parse_number, to_double

JSON_TYPE = "application/sparql-results+json"
XML_TYPE = "application/sparql-results+xml"
ACCEPT = f"{JSON_TYPE}, {XML_TYPE};q=0.9, application/json;q=0.5, application/xml;q=0.4"

_INSTANTS = (XSD_DATETIME, XSD_DATETIMESTAMP, XSD_STRING)
_LAST_SECOND = 253_402_300_799
"""The last second of the year 9999, which stands for ever."""

_LONGEST_INTERVAL = 10**12
"""Seconds; nothing changes as seldom."""
_CELLS = 1_000_000

_NS = "{http://www.w3.org/2005/sparql-results#}"
_DIRECTION = "{http://www.w3.org/2005/11/its}dir"
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_WRITABLE = re.compile(r'[^\x00-\x20<>"{}|^`\\]+')


def can_ask(term: Term) -> bool:
    """Whether a term can stand in a request: no blank node, which means nothing elsewhere, and no IRI with
    characters that would end it early."""
    match term:
        case IRI(value):
            return _WRITABLE.fullmatch(value) is not None
        case Literal(_, datatype, language):
            tag = language is None or re.fullmatch(r"[a-z]+(-[a-z0-9]+)*", language) is not None
            return tag and _WRITABLE.fullmatch(datatype) is not None
        case BlankNode():
            return False
        case TripleTerm(subject, predicate, object):
            return can_ask(subject) and can_ask(predicate) and can_ask(object)


@dataclass(frozen=True, slots=True)
class Page:
    """At most ``size`` rows of an answer from ``offset`` on, in the order of all its variables."""

    size: int
    offset: int = 0


def request_text(part: ServicePart, keys: Sequence[Sequence[Term]], page: Page | None = None) -> str:
    """The query for some keys of a part, or a page of its answer; all variables of its rows are projected."""
    taken = _all_names(part)
    names = {name: _public(name, taken) for name in _row_names(part)}
    main = _renamed(part.pattern, names)
    if part.key:
        variables = tuple(Variable(names[name]) for name in part.key)
        main = a.Join(a.Values(variables, tuple(tuple(key) for key in keys)), main)
    if part.along is not None:
        main = a.LeftJoin(main, _renamed(part.along, names))
    writer = QueryWriter(Terms({}))
    variables = tuple(Variable(name) for name in names.values())
    if page is None:
        writer.select(a.Project(main, variables))
    else:
        ordered = a.OrderBy(main, tuple(a.OrderKey(variable) for variable in variables))
        writer.select(a.Slice(a.Project(ordered, variables), page.offset, page.size))
    return "\n".join(writer.lines)


def _row_names(part: ServicePart) -> tuple[str, ...]:
    along = () if part.along is None else tuple(variable.name for variable in visible(part.along))
    return tuple(dict.fromkeys((*part.variables, *along)))


def _public(name: str, taken: set[str]) -> str:
    """The name under which a variable is asked for: an internal one needs a name that can be written."""
    if not name.startswith("."):
        return name
    public = f"w_{re.sub('[^A-Za-z0-9_]', '_', name[1:])}"
    while public in taken:
        public += "_"
    return public


def _renamed(node: Any, names: Mapping[str, str]) -> Any:
    if isinstance(node, Variable):
        return Variable(names.get(node.name, node.name))
    return rebuilt(node, lambda part: _renamed(part, names))


def _all_names(part: ServicePart) -> set[str]:
    return {node.name for node in walk((part.pattern, part.along)) if isinstance(node, Variable)}


@dataclass(frozen=True, slots=True)
class Solutions:
    """A column per variable, None where unbound; blank nodes keep the labels of this one document."""

    columns: Mapping[str, Sequence[Term | None]]
    length: int


def appended(before: Solutions, page: Solutions) -> Solutions:
    """A page behind those before it, whose last row it repeats; what does not fit together is a
    ``DataError``."""
    for name, column in before.columns.items():
        more = page.columns.get(name)
        if not more or more[0] != column[-1]:
            raise DataError("the data changed while an answer was read in pages")
        if any(isinstance(term, BlankNode) for term in (*column[-1:], *more)):
            raise DataError("an answer with blank nodes cannot be read in pages")
    columns = {name: [*column, *page.columns[name][1:]] for name, column in before.columns.items()}
    return Solutions(columns, before.length + page.length - 1)


def parse_results(body: bytes, media_type: str) -> Solutions:
    """The solutions of a result document; without a telling media type, its first character decides.

    pyoxigraph's parser is no help here: it trims the literals of XML, and refuses blank nodes and IRIs as
    some servers label them.
    """
    start = body.lstrip()[:1]
    if media_type.endswith("json") or (start == b"{" and not media_type.endswith("xml")):
        return _json_solutions(body)
    if media_type.endswith("xml") or start == b"<":
        return _xml_solutions(body)
    raise DataError(f"not a SPARQL result: media type {media_type or 'unknown'}", detail=_glimpse(body))


def _json_solutions(body: bytes) -> Solutions:
    """SPARQL 1.1 Query Results JSON Format, section 3."""
    try:
        document = json.loads(body)
        names = [_text(name) for name in document["head"]["vars"]]
        bindings = document["results"]["bindings"]
        _check_size(body, names, bindings)
        columns: dict[str, list[Term | None]] = {name: [] for name in names}
        for binding in bindings:
            for name, column in columns.items():
                value = binding.get(name)
                column.append(None if value is None else term_of_json(value, is_absolute_iri))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise DataError("not a SPARQL JSON result", detail=f"{error!r} in {_glimpse(body)}") from None
    return Solutions(columns, len(bindings))


def _text(value: Any) -> str:
    if not isinstance(value, str) or not is_unicode(value):
        raise TypeError(f"{str(value)[:80]!r} is no name")
    return value


def _check_size(body: bytes, names: Sequence[str], rows: Sequence[Any]) -> None:
    """Refuse an answer that says little and would fill the memory: many variables, and rows without any."""
    if len(names) * len(rows) > _CELLS + len(body):
        raise ValueError(f"{len(names):,} variables in {len(rows):,} rows")


class _NoDoctype(ElementTree.TreeBuilder):
    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise DataError("not a SPARQL XML result", detail="it declares a document type")


def _xml_solutions(body: bytes) -> Solutions:
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
        _check_size(body, names, found)
        columns: dict[str, list[Term | None]] = {name: [None] * len(found) for name in names}
        for row, result in enumerate(found):
            for binding in result.findall(f"{_NS}binding"):
                columns[binding.attrib["name"]][row] = _xml_term(binding)
    except (ElementTree.ParseError, ValueError, LookupError, RecursionError) as error:
        raise DataError("not a SPARQL XML result", detail=f"{error!r} in {_glimpse(body)}") from None
    return Solutions(columns, len(found))


def _xml_term(binding: ElementTree.Element) -> Term:
    element = binding[0]
    if element.tag == f"{_NS}triple":
        places = (element.find(f"{_NS}{place}") for place in ("subject", "predicate", "object"))
        found = triple_term(*(None if place is None else _xml_term(place) for place in places))
        if found is None:
            raise ValueError("a triple term whose parts are no triple")
        return found
    text = element.text or ""
    if len(element):
        raise ValueError("a term with elements in it")
    if element.tag == f"{_NS}uri":
        return iri_of(text, is_absolute_iri)
    if element.tag == f"{_NS}bnode":
        return BlankNode(text)
    if element.tag == f"{_NS}literal":
        language, datatype = element.get(_LANG), element.get("datatype")
        return literal_of(text, language, datatype, element.get(_DIRECTION), is_absolute_iri)
    raise ValueError(f"unknown kind of term {element.tag}")


def _glimpse(body: bytes) -> str:
    return repr(body[:80].decode("utf-8", "replace"))


def decode(part: ServicePart, solutions: Solutions, dictionary: Dictionary, endpoint: str) -> PartRows:
    """The rows of an answer. Its blank nodes have labels that stay while what it says of them does."""
    names = _row_names(part)
    taken = _all_names(part)
    found: dict[str, Sequence[Term | None]] = {}
    for name in names:
        terms = solutions.columns.get(_public(name, taken))
        if terms is None:
            raise DataError(f"the answer lacks the variable {_public(name, taken)}")
        found[name] = terms
    labelled = with_stable_labels(found, part.variables, f"{endpoint} {part.pattern}")
    columns = {name: dictionary.encode_terms(terms) for name, terms in labelled.items()}
    if isinstance(part.pattern, a.BGP) and not all(columns[name].all() for name in part.variables):
        raise DataError("the answer leaves variables of its triple patterns unbound")
    return PartRows(columns, solutions.length)


def owners(rows: PartRows, key: Sequence[str], asked: Mapping[str, Ids], length: int) -> tuple[Ids, Mask]:
    """Which asked key each row belongs to, and which rows belong to any."""
    if not key:
        return np.zeros(rows.length, np.int64), np.ones(rows.length, np.bool_)
    both = [np.concatenate((asked[name], rows.columns[name])) for name in key]
    number, _ = codes(both, length + rows.length)
    place = np.full(length + rows.length, -1, np.int64)
    place[number[:length]] = np.arange(length)
    owner = place[number[length:]]
    return owner, owner >= 0


def least(column: Ids, owner: Ids, length: int, dictionary: Dictionary, read: Callable[[Term], int]) -> Ids:
    """For each key the least that its rows state, as ``instant`` or ``interval`` reads it, 0 where none."""
    none = np.iinfo(np.int64).max
    distinct, where = np.unique(column, return_inverse=True)
    values = [0 if i == 0 else read(dictionary.decode(i)) for i in distinct.tolist()]
    stated = np.array([value if value > 0 else none for value in values], np.int64)[where]
    found = np.full(length, none, np.int64)
    np.minimum.at(found, owner, stated)
    return np.where(found == none, 0, found)


def instant(term: Term) -> int:
    """The microseconds of an xsd:dateTime, or of a plain string that reads like one; 0 for anything else."""
    if not isinstance(term, Literal) or term.datatype not in _INSTANTS:
        return 0
    moment = parse_moment(term.lexical, XSD_DATETIME)
    if moment is None:
        return 0
    return FOREVER if moment.utc_seconds() >= _LAST_SECOND else int(moment.utc_seconds() * 1_000_000)


def interval(term: Term) -> int:
    """The microseconds of an xsd:duration, or of a number of seconds; 0 for anything else. One that no clock
    can count is a ``DataError``."""
    if not isinstance(term, Literal):
        return 0
    if term.datatype in DURATION_TYPES:
        duration = parse_duration(term.lexical, term.datatype)
        seconds = 0.0 if duration is None or duration.months else float(duration.seconds)
    else:
        number = parse_number(term.lexical, term.datatype)
        seconds = 0.0 if number is None else to_double(number.value)
    if seconds > _LONGEST_INTERVAL:
        raise DataError(f"the interval {term.lexical[:80]} is longer than {_LONGEST_INTERVAL:,} s")
    return int(seconds * 1_000_000) if seconds > 0 else 0
