"""A part's request as SPARQL, and the answer's solutions as rows of ids that know whose they are.

Many keys share a request: ``SELECT … WHERE { VALUES (keys) { … } pattern }``. Law: what a pattern is joined
with is joined with the same rows whether all its solutions were asked for or only those of its keys.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from weir.errors import DataError
from weir.kernel.relations.keys import codes
from weir.language.algebra import patterns as a
from weir.language.algebra.scope import visible
from weir.language.writing.queries import QueryWriter
from weir.language.writing.terms import Terms
from weir.linked.service.parts import Part
from weir.linked.service.results import Solutions
from weir.rdf.columns import Ids, Mask
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, XSD_STRING, BlankNode, Literal, Term, Variable
from weir.rdf.xsd.durations import DURATION_TYPES, parse_duration
from weir.rdf.xsd.moments import XSD_DATETIME, XSD_DATETIMESTAMP, parse_moment
from weir.rdf.xsd.numbers import parse_number, to_double

_WRITABLE = re.compile(r'[^\x00-\x20<>"{}|^`\\]+')


class _RemoteWriter(QueryWriter):
    def window_keyword(self, name: IRI | Variable) -> str:
        raise TypeError("a remote pattern has no windows")


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


def request_text(part: Part, keys: Sequence[Sequence[Term]]) -> str:
    """The query for some keys of a part; all variables of its rows are projected."""
    patterns = [part.pattern] if part.along is None else [part.pattern, part.along]
    taken = {name for pattern in patterns for name in _all_names(pattern)}
    names = {name: _public(name, taken) for name in _row_names(part)}
    main = _renamed(part.pattern, names)
    if part.key:
        variables = tuple(Variable(names[name]) for name in part.key)
        main = a.Join(a.Values(variables, tuple(tuple(key) for key in keys)), main)
    if part.along is not None:
        main = a.LeftJoin(main, _renamed(part.along, names))
    writer = _RemoteWriter(Terms({}))
    writer.select(a.Project(main, tuple(Variable(name) for name in names.values())))
    return "\n".join(writer.lines)


def _row_names(part: Part) -> tuple[str, ...]:
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
    if isinstance(node, tuple):
        return tuple(_renamed(item, names) for item in node)
    if is_dataclass(node) and not isinstance(node, IRI | Literal | BlankNode | type):
        return type(node)(*(_renamed(getattr(node, f.name), names) for f in fields(node)))
    return node


def _all_names(node: Any) -> set[str]:
    if isinstance(node, Variable):
        return {node.name}
    if isinstance(node, tuple):
        return set().union(*(_all_names(item) for item in node)) if node else set()
    if is_dataclass(node) and not isinstance(node, type):
        return _all_names(tuple(getattr(node, f.name) for f in fields(node)))
    return set()


@dataclass(frozen=True, slots=True)
class Rows:
    """An answer in ids: columns of a part's variables (0: unbound), and ``length`` of them."""

    columns: dict[str, Ids]
    length: int

    def take(self, rows: Ids | Mask) -> Rows:
        columns = {name: column[rows] for name, column in self.columns.items()}
        length = int(rows.sum()) if rows.dtype == np.bool_ else len(rows)
        return Rows(columns, length)

    def distinct(self, names: Sequence[str]) -> Rows:
        """The distinct rows of some columns."""
        columns = {name: self.columns[name] for name in names}
        kept = np.sort(codes(list(columns.values()), self.length)[1])
        return Rows({name: column[kept] for name, column in columns.items()}, len(kept))


def decode(part: Part, solutions: Solutions, dictionary: Dictionary, request: str) -> Rows:
    """The rows of an answer. Its blank nodes belong to this request alone."""
    names = _row_names(part)
    patterns = [part.pattern] if part.along is None else [part.pattern, part.along]
    taken = {name for pattern in patterns for name in _all_names(pattern)}
    scope = hashlib.blake2b(request.encode(), digest_size=8).hexdigest()
    columns = {}
    for name in names:
        terms = solutions.columns.get(_public(name, taken))
        if terms is None:
            raise DataError(f"the answer lacks the variable {_public(name, taken)}")
        columns[name] = dictionary.encode_terms([_scoped(term, scope) for term in terms])
    if isinstance(part.pattern, a.BGP) and not all(columns[name].all() for name in part.variables):
        raise DataError("the answer leaves variables of its triple patterns unbound")
    return Rows(columns, solutions.length)


def _scoped(term: Term | None, scope: str) -> Term | None:
    return BlankNode(f"s{scope}{_label(term.label)}") if isinstance(term, BlankNode) else term


def _label(label: str) -> str:
    return label if re.fullmatch(r"[A-Za-z0-9]+", label) else label.encode().hex()


def owners(rows: Rows, key: Sequence[str], asked: Mapping[str, Ids], length: int) -> tuple[Ids, Mask]:
    """Which asked key each row belongs to, and which rows belong to any."""
    if not key:
        return np.zeros(rows.length, np.int64), np.ones(rows.length, np.bool_)
    both = [np.concatenate((asked[name], rows.columns[name])) for name in key]
    number, _ = codes(both, length + rows.length)
    place = np.full(length + rows.length, -1, np.int64)
    place[number[:length]] = np.arange(length)
    owner = place[number[length:]]
    return owner, owner >= 0


def earliest_times(column: Ids, owner: Ids, length: int, dictionary: Dictionary) -> Ids:
    """For each key the earliest xsd:dateTime its rows state, 0 where they state none."""
    return _least(column, owner, length, dictionary, _instant)


def shortest_intervals(column: Ids, owner: Ids, length: int, dictionary: Dictionary) -> Ids:
    """For each key the shortest interval its rows state, in microseconds, 0 where they state none."""
    return _least(column, owner, length, dictionary, _interval)


def _least(column: Ids, owner: Ids, length: int, dictionary: Dictionary, read: Any) -> Ids:
    none = np.iinfo(np.int64).max
    distinct, where = np.unique(column, return_inverse=True)
    values = [0 if i == 0 else read(dictionary.decode(i)) for i in distinct.tolist()]
    stated = np.array([value if value > 0 else none for value in values], np.int64)[where]
    least = np.full(length, none, np.int64)
    np.minimum.at(least, owner, stated)
    return np.where(least == none, 0, least)


def _instant(term: Term) -> int:
    if not isinstance(term, Literal) or term.datatype not in (XSD_DATETIME, XSD_DATETIMESTAMP, XSD_STRING):
        return 0
    moment = parse_moment(term.lexical, XSD_DATETIME)
    return 0 if moment is None else min(int(moment.utc_seconds() * 1_000_000), 2**63 - 1)


def _interval(term: Term) -> int:
    if not isinstance(term, Literal):
        return 0
    if term.datatype in DURATION_TYPES:
        duration = parse_duration(term.lexical, term.datatype)
        return 0 if duration is None or duration.months else int(duration.seconds * 1_000_000)
    number = parse_number(term.lexical, term.datatype)
    seconds = 0.0 if number is None else to_double(number.value)
    return int(seconds * 1_000_000) if 0 < seconds < 1e12 else 0
