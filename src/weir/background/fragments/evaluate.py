"""The query over what was gathered: Weir's reference operators on graphs with indexes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import lru_cache

from weir.errors import EvaluationError, WeirError
from weir.kernel.functions.evaluate import Context
from weir.kernel.functions.fresh import seed
from weir.kernel.reference.forms import Row, gamma, rows
from weir.kernel.reference.graphs import Dataset, Graph, World
from weir.kernel.reference.patterns import Evaluation
from weir.language.query import Query
from weir.rdf.annotation import Quad
from weir.rdf.terms import Term, Triple, parse_term

_term = lru_cache(maxsize=65_536)(parse_term)


class IndexedGraph(Graph):
    """A graph whose triples are also found by subject and by object."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        super().__init__(triples)
        self._by_subject: dict[Term, list[Triple]] = {}
        self._by_object: dict[Term, list[Triple]] = {}
        for triple in self.triples:
            self._by_subject.setdefault(triple[0], []).append(triple)
            self._by_object.setdefault(triple[2], []).append(triple)

    def match(self, subject: Term | None, predicate: Term | None, object: Term | None) -> Iterator[Triple]:
        if subject is None and object is None:
            yield from super().match(None, predicate, None)
            return
        found = [
            index.get(term, ())
            for index, term in ((self._by_subject, subject), (self._by_object, object))
            if term is not None
        ]
        for triple in min(found, key=len):
            if (
                (subject is None or triple[0] == subject)
                and (predicate is None or triple[1] == predicate)
                and (object is None or triple[2] == object)
            ):
                yield triple


def answer(query: Query, quads: Iterable[Quad], now: int) -> list[Row]:
    """What the query answers over these quads at an instant.

    Blank nodes that a CONSTRUCT makes depend on the solution alone, so that a result that stays keeps
    its name from one evaluation to the next.
    """
    graphs: dict[str, list[Triple]] = {"": []}
    for s, p, o, g in quads:
        graphs.setdefault(g, []).append((_term(s), _term(p), _term(o)))
    default = IndexedGraph(graphs.pop(""))
    named = {_term(name): IndexedGraph(triples) for name, triples in graphs.items()}
    key = seed(query.form, query.pattern).hex()
    evaluation = Evaluation(World(Dataset(default, named)), Context(now=now), key=key)
    try:
        return rows(query.form, gamma(query, evaluation), evaluation)
    except RecursionError:
        raise EvaluationError("the query nests too deeply") from None
    except WeirError:
        raise


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
