"""A fragment's address, taken apart: which patterns, which page, at which instant.

Bindings-restricted patterns (brTPF) give ``values`` in SPARQL's VALUES syntax:
``(?s ?o) { (<a> "x"@en) (UNDEF <b>) }`` restricts a pattern whose places name those variables. A quad
matches where it matches the pattern with some row filled in (Hartig & Buil-Aranda, section 3).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias
from urllib.parse import unquote_to_bytes

from weir.errors import DataError, SyntaxError, UsageError
from weir.fragments.protocol.annotation import Labeling, QuadPattern, matches, read_time
from weir.fragments.protocol.controls import DEFAULT_GRAPH, text_of
from weir.fragments.server.dataset import Dataset
from weir.language import parse
from weir.language.algebra.patterns import Project, Values
from weir.rdf.terms import Literal, Variable, parse_term

UNSAFE = re.compile(r'[\x00-\x20<>"{}|\\^`\x7f-\uffff]')
Place: TypeAlias = str | Variable | None
Places: TypeAlias = tuple[Place, Place, Place, Place]
Row: TypeAlias = dict[str, str]
"""Texts by the names of variables."""
PLACES = ("subject", "predicate", "object", "graph")
_ANYTHING: tuple[Row, ...] = ({},)

_PAGE = re.compile(r"(^|&)page=[^&]*")


class TooLarge(UsageError):
    """A request beyond a limit: ``status`` says which kind."""

    def __init__(self, primary: str, status: int = 413) -> None:
        super().__init__(primary)
        self.status = status


class FragmentRequest(NamedTuple):
    """``query`` is the query string as sent, safe to write in an IRI, ``fragment`` the same without its
    page; ``instant`` None is the present for expirations and all history for intervals."""

    places: Places
    patterns: tuple[QuadPattern, ...]
    overlapping: bool
    page: int
    instant: int | None
    query: str
    fragment: str

    @property
    def fixed(self) -> bool:
        """Whether the answer stays the same as time passes: it is about an instant named outright."""
        return self.instant is not None and "at=now" not in self.query.split("&")

    @property
    def predicate(self) -> str | None:
        """The one predicate that everything asked for has."""
        patterns = self.patterns
        first = patterns[0][1] if patterns else None
        return first if len(patterns) == 1 or all(one[1] == first for one in patterns) else None


def parse_request(query: str, dataset: Dataset, now: int) -> FragmentRequest:
    """A ``safe`` query string as a request; what is malformed is a ``UsageError``, what is too large
    ``TooLarge``."""
    limits = dataset.limits
    if len(query) > limits.query_string:
        raise TooLarge("the address is too long", 414)
    fields: dict[str, str] = {}
    for pair in query.split("&") if query else ():
        name, _, value = pair.partition("=")
        if value:
            fields[name] = decoded(value)
    longest = limits.term
    s, p, o, g = [_place(name, fields[name], longest) if name in fields else None for name in PLACES]
    rows = parse_values(fields["values"], limits.bindings) if "values" in fields else _ANYTHING
    patterns, overlapping = restrict((s, p, o, g), rows)
    return FragmentRequest(
        (s, p, o, g),
        patterns,
        overlapping,
        _page(fields["page"], limits.page) if "page" in fields else 1,
        _instant(fields["at"], dataset, now) if "at" in fields else None,
        query,
        _PAGE.sub("", query).lstrip("&") if "page=" in query else query,
    )


_TERM = (
    r"(?:<[A-Za-z][A-Za-z0-9+.-]*:[!#-;=?-\[\]_a-z~]*>|UNDEF"
    r'|"[ !#-\[\]-~]*"(?:@[a-z]{1,8}(?:-[a-z0-9]{1,8})*)?)'
)
_TERMS = re.compile(_TERM)
_ROWS = re.compile(rf"\({_TERM}(?: {_TERM})*\)")
_VALUES = re.compile(rf"\((\?[A-Za-z]\w*(?: \?[A-Za-z]\w*)*)\) \{{ (\({_TERM}(?: {_TERM})*\) )*\}}", re.ASCII)
"""Values as Weir's client writes them, of terms whose text is the same in SPARQL and in N-Triples."""


def _written_plainly(text: str, most: int) -> list[Row] | None:
    """The rows of values that need no parser; None for others."""
    match = _VALUES.fullmatch(text)
    if match is None:
        return None
    names = match[1].replace("?", "").split(" ")
    rows = [_TERMS.findall(row) for row in _ROWS.findall(text, match.end(1))]
    if len(rows) > most or len(set(names)) < len(names) or any(len(row) != len(names) for row in rows):
        return None
    return [{name: term for name, term in zip(names, row, strict=True) if term != "UNDEF"} for row in rows]


def parse_values(text: str, most: int) -> list[Row]:
    """The rows of a VALUES clause without its keyword; what is undefined in a row is left out."""
    plain = _written_plainly(text, most)
    if plain is not None:
        return plain
    try:
        query = parse(f"SELECT * {{ VALUES {text}\n}}", dialect="sparql")
    except SyntaxError as error:
        raise UsageError(f"malformed values: {error.primary}") from None
    found = query.pattern.pattern if isinstance(query.pattern, Project) else None
    if not isinstance(found, Values) or not found.variables:
        raise UsageError("malformed values: they are not one VALUES clause")
    if len(found.rows) > most:
        raise UsageError(f"more than {most} bindings in one request")
    names = [variable.name for variable in found.variables]
    rows = [zip(names, row, strict=True) for row in found.rows]
    return [{name: str(term) for name, term in row if term is not None} for row in rows]


def restrict(places: Places, rows: Sequence[Row]) -> tuple[tuple[QuadPattern, ...], bool]:
    """The distinct patterns that rows make of one, without those that another takes in.

    The second part says whether two of them may still match the same quad.
    """
    made: dict[QuadPattern, None] = {}
    for row in rows:
        s, p, o, g = (row.get(place.name) if isinstance(place, Variable) else place for place in places)
        made[(s, p, o, g)] = None
    shapes = {tuple(text is None for text in pattern) for pattern in made}
    if len(shapes) == 1:
        return tuple(made), False
    kept = [one for one in made if not any(other != one and matches(one, other) for other in made)]
    return tuple(kept), len({tuple(text is None for text in pattern) for pattern in kept}) > 1


def safe(query: str) -> str:
    """A query string as it may be written in an IRI: it means the same."""
    return UNSAFE.sub(_percent, query)


def decoded(value: str) -> str:
    """A form's value without its encoding, as ``unquote_plus`` has it, in less time."""
    return unquote_to_bytes(value.replace("+", " ")).decode("utf-8", "replace")


def _place(name: str, value: str, longest: int) -> Place:
    if len(value) > longest:
        raise TooLarge(f"the {name} is too long", 414)
    if name == "graph" and value.strip("<>") in (DEFAULT_GRAPH, "@default"):
        return ""
    term = text_of(value)
    if term is None:
        raise UsageError(f"the {name} is neither an IRI nor a literal: {value[:80]!r}")
    return term


def _page(value: str, most: int) -> int:
    if not value.isdecimal() or len(value) > 18 or not 1 <= int(value) <= most:
        raise UsageError(f"no such page: {value[:20]!r}")
    return int(value)


def _instant(value: str, dataset: Dataset, now: int) -> int:
    if dataset.annotation.labeling is Labeling.EXPIRATION:
        raise UsageError("this data set keeps no history", hint="leave out 'at'")
    if value == "now":
        return now
    term = parse_term(text) if isinstance(text := text_of(value), str) and text[0] == '"' else None
    lexical = term.lexical if isinstance(term, Literal) else value
    return stated_time("at", lexical)


def stated_time(name: str, lexical: str) -> int:
    """The time that a field of the query string states."""
    try:
        return read_time(f'"{lexical}"')
    except DataError as error:
        raise UsageError(f"{name!r} is no time: {error.primary}") from None


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "surrogatepass"))
