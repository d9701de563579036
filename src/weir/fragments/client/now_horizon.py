"""When an answer can next change because NOW() does: known from the times in the data.

A comparison of NOW() with a term changes only when the present passes that term's value, so the next change
of a query whose every NOW() is compared with terms of the data is the first such value that lies ahead. A
query that does anything else with NOW() may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from math import floor

from weir.fragments.protocol.annotation import FOREVER, Quad
from weir.language.algebra import patterns as algebra
from weir.language.algebra.expressions import Builtin, Call, Compare
from weir.language.algebra.fold import walk
from weir.language.algebra.query import Query
from weir.rdf.terms import IRI, Literal, Variable, parse_term
from weir.rdf.xsd.moments import XSD_DATETIME, parse_moment

_NOW = Call(Builtin.NOW)
_DATETIMES = ("dateTime>", "dateTimeStamp>")
_ZONES = 14 * 3_600_000_000
"""How far from NOW() a time without a zone cannot be compared with it."""


def now_horizon(query: Query, quads: Iterable[Quad], at: int) -> int:
    """The first instant after ``at`` at which NOW() may change the answer over these quads.

    ``FOREVER`` where it never does, ``at`` itself where nothing tells.
    """
    nodes = list(walk((query.pattern, query.form)))
    made = [pair for node in nodes if isinstance(node, algebra.Extend) for pair in node.bindings]
    moving: set[object] = {_NOW} | {variable for variable, value in made if value == _NOW}
    uses = sum(isinstance(node, Call | Variable) and node in moving for node in nodes)
    if not uses:
        return FOREVER
    known = 2 * sum(value == _NOW for _, value in made)
    compared: list[object] = []
    for node in nodes:
        if isinstance(node, Compare) and (node.left in moving) != (node.right in moving):
            known += 1
            compared.append(node.right if node.left in moving else node.left)
    computed = {variable for variable, _ in made}
    texts: set[str] = set()
    for side in compared:
        predicates = _predicates(nodes, side) if isinstance(side, Variable) and side not in computed else []
        if isinstance(side, Literal):
            texts.add(str(side))
        elif predicates:
            texts.update(o for _, p, o, _ in quads if p in predicates and o.endswith(_DATETIMES))
        else:
            return at
    if known != uses:
        return at
    return min((time for text in texts for time in _changes(text) if time > at), default=FOREVER)


def _predicates(nodes: Iterable[object], variable: Variable) -> list[str]:
    """The predicates of the triple patterns whose object a variable is, where one alone binds it."""
    found = [node for node in nodes if isinstance(node, algebra.TriplePattern) and node.object == variable]
    return [str(node.predicate) for node in found if isinstance(node.predicate, IRI)]


@lru_cache(maxsize=65_536)
def _changes(text: str) -> tuple[int, ...]:
    """The instants at which comparing a dateTime with the present changes: its own, and the one after."""
    term = parse_term(text)
    moment = parse_moment(term.lexical, XSD_DATETIME) if isinstance(term, Literal) else None
    if moment is None:
        return ()
    time = floor(moment.utc_seconds() * 1_000_000)
    passed = (time,) if moment.zone is not None else (time - _ZONES, time + _ZONES)
    return tuple(_with_next(passed))


def _with_next(times: Iterable[int]) -> Iterator[int]:
    for time in times:
        yield time
        yield time + 1
