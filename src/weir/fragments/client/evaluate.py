"""The query over what was gathered, by Weir's reference operators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from weir.errors import EvaluationError
from weir.fragments.client.joins import Rows
from weir.fragments.protocol.annotation import Quad
from weir.kernel.functions import Context
from weir.kernel.functions.draws import seed
from weir.kernel.reference.algebra import Evaluation
from weir.kernel.reference.datasets import SDS, Dataset, Graph
from weir.kernel.reference.queryforms import Row, gamma, rows
from weir.language.algebra import patterns as algebra
from weir.language.algebra.query import Query
from weir.rdf.terms import Triple, Variable, parse_term

_term = lru_cache(maxsize=65_536)(parse_term)


def answer(
    query: Query, quads: Iterable[Quad], now: int, solved: Mapping[algebra.BGP, Rows] | None = None
) -> list[Row]:
    """What the query answers over these quads at an instant; ``solved`` patterns are not matched again.

    Blank nodes that a CONSTRUCT makes depend on the solution alone, so that a result that stays keeps
    its name from one evaluation to the next.
    """
    graphs: dict[str, list[Triple]] = {"": []}
    for s, p, o, g in quads:
        graphs.setdefault(g, []).append((_term(s), _term(p), _term(o)))
    default = Graph(graphs.pop(""))
    named = {_term(name): Graph(triples) for name, triples in graphs.items()}
    key = seed(query.form, query.pattern).hex()
    evaluation = Evaluation(SDS(Dataset(default, named)), Context(now=now), key=key)
    known = replace(query, pattern=_filled(query.pattern, solved)) if solved else query
    try:
        return rows(query.form, gamma(known, evaluation), evaluation)
    except RecursionError:
        raise EvaluationError("the query nests too deeply") from None


def _filled(pattern: algebra.Pattern, solved: Mapping[algebra.BGP, Rows]) -> algebra.Pattern:
    """A pattern whose solved parts are inline data. EXISTS and GRAPH mean other solutions: left alone."""
    match pattern:
        case algebra.BGP() if pattern in solved:
            found = solved[pattern]
            data = tuple(tuple(_term(text) for text in row) for row in found.rows)
            return algebra.Values(tuple(Variable(name) for name in found.names), data)
        case algebra.Join(left, right) | algebra.Union(left, right) | algebra.Minus(left, right):
            return replace(pattern, left=_filled(left, solved), right=_filled(right, solved))
        case algebra.LeftJoin(left, right, _):
            return replace(pattern, left=_filled(left, solved), right=_filled(right, solved))
        case (
            algebra.Filter()
            | algebra.Extend()
            | algebra.Group()
            | algebra.OrderBy()
            | algebra.Project()
            | algebra.Distinct()
            | algebra.Reduced()
            | algebra.Slice()
        ):
            return replace(pattern, pattern=_filled(pattern.pattern, solved))
        case _:
            return pattern


def changes(before: Sequence[Row], now: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """What was added and what was removed, as multisets, in the order of their lists."""
    return _beyond(now, before), _beyond(before, now)


def _beyond(some: Sequence[Row], others: Sequence[Row]) -> list[Row]:
    spare = Counter(_frozen(row) for row in others)
    kept: list[Row] = []
    for row in some:
        key = _frozen(row)
        if spare[key]:
            spare[key] -= 1
        else:
            kept.append(row)
    return kept


def _frozen(row: Row) -> Hashable:
    return frozenset(row.items()) if isinstance(row, dict) else row
