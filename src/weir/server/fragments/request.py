"""A fragment's address, taken apart: which patterns, which page, at which instant."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote

from weir.background.fragments.controls import DEFAULT_GRAPH, text_of
from weir.errors import DataError, UsageError
from weir.rdf.annotation import Labeling, read_time
from weir.rdf.terms import Literal, Variable, parse_term
from weir.server.fragments.bindings import Place, parse_values, restrict
from weir.server.fragments.dataset import Dataset
from weir.server.fragments.index import Bound

_UNSAFE = re.compile(r'[\x00-\x20<>"{}|\\^`\x7f-\uffff]')
_PAGE = re.compile(r"(^|&)page=[^&]*")


class TooLarge(UsageError):
    """A request beyond a limit: ``status`` says which kind."""

    def __init__(self, primary: str, status: int = 413) -> None:
        super().__init__(primary)
        self.status = status


class FragmentRequest(NamedTuple):
    """``query`` is the query string as sent (made safe to write in an IRI), ``fragment`` the same
    without its page; ``instant`` None is the present for expirations and all history for intervals."""

    places: tuple[Place, Place, Place, Place]
    patterns: tuple[Bound, ...]
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
        first = self.patterns[0][1] if self.patterns else None
        return first if all(pattern[1] == first for pattern in self.patterns) else None


def parse_request(raw: str, dataset: Dataset, now: int) -> FragmentRequest:
    """A query string as a request; what is malformed is a ``UsageError``, what is too large ``TooLarge``."""
    limits = dataset.limits
    if len(raw) > limits.query_string:
        raise TooLarge("the address is too long", 414)
    fields: dict[str, str] = {}
    for pair in raw.split("&") if raw else ():
        name, _, value = pair.partition("=")
        if value:
            if "+" in value:
                value = value.replace("+", " ")
            fields[name] = unquote(value) if "%" in value else value
    s, p, o, g = places = (
        _place("subject", fields.get("subject"), limits.term),
        _place("predicate", fields.get("predicate"), limits.term),
        _place("object", fields.get("object"), limits.term),
        _place("graph", fields.get("graph"), limits.term),
    )
    overlapping = False
    patterns: list[Bound] = [(_bound(s), _bound(p), _bound(o), _bound(g))]
    if "values" in fields:
        rows = parse_values(fields["values"], limits.bindings)
        patterns, overlapping = restrict(places, rows)
    query = _UNSAFE.sub(_percent, raw)
    return FragmentRequest(
        places=places,
        patterns=tuple(patterns),
        overlapping=overlapping,
        page=_page(fields.get("page"), limits.page),
        instant=_instant(fields.get("at"), dataset, now),
        query=query,
        fragment=_PAGE.sub("", query).lstrip("&") if "page=" in query else query,
    )


def _bound(place: Place) -> str | None:
    return None if isinstance(place, Variable) else place


def _place(name: str, value: str | None, longest: int) -> Place:
    if value is None:
        return None
    if len(value) > longest:
        raise TooLarge(f"the {name} is too long", 414)
    if name == "graph" and value.strip("<>") in (DEFAULT_GRAPH, "@default"):
        return ""
    term = text_of(value)
    if term is None:
        raise UsageError(f"the {name} is neither an IRI nor a literal: {value[:80]!r}")
    return term


def _page(value: str | None, most: int) -> int:
    if value is None:
        return 1
    if not value.isdecimal() or len(value) > 18 or not 1 <= int(value) <= most:
        raise UsageError(f"no such page: {value[:20]!r}")
    return int(value)


def _instant(value: str | None, dataset: Dataset, now: int) -> int | None:
    if value is None:
        return None
    if dataset.annotation.labeling is Labeling.EXPIRATION:
        raise UsageError("this data set keeps no history", hint="leave out 'at'")
    if value == "now":
        return now
    term = parse_term(text) if isinstance(text := text_of(value), str) and text[0] == '"' else None
    lexical = term.lexical if isinstance(term, Literal) else value
    try:
        return read_time(f'"{lexical}"')
    except DataError as error:
        raise UsageError(f"'at' is no time: {error.primary}") from None


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "surrogatepass"))
