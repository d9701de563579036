"""Which queries are evaluated with others: decided by shape alone, whenever a query comes.

A query has a *shape key* where it can be: conjunctions by their window and what is sent out of it, others by
what is left of them without their constants. Of the queries of a job with one key, the first is evaluated by
itself, as nobody is there to share with; every other one goes to the evaluator that they have in common in a
slot. The key is in the control log, so that it need not be found again when others come.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from weir.errors import UsageError
from weir.kernel.contract import Background, NotCovered
from weir.kernel.matching.shapes import Template
from weir.kernel.matching.shared import Conjunct, shared_as
from weir.language.algebra.query import Query
from weir.plan.analysis.demand import readings
from weir.plan.analysis.templates import Instance, Shape, digest, template
from weir.plan.parameters import ParameterTable
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import XSD, Literal
from weir.runtime.control.catalog import Registration


def shape_key(query: Query) -> str | None:
    """The same for queries that can be evaluated together, None for one that is evaluated by itself."""
    return _decided(query)[0]


def why_alone(query: Query) -> str | None:
    """Why a query cannot be evaluated with others, None where it can."""
    return _decided(query)[1]


def is_conjunct(query: Query) -> bool:
    """Whether it goes through the automaton of conjunctions, which read no static graphs."""
    return isinstance(shared_as(query), Conjunct)


def together(keys: Mapping[str, str | None], known: Mapping[str, int]) -> set[str]:
    """Those of new queries, given with their shape keys, that are evaluated with others: all but those that
    are the only one. ``known`` counts the queries of each key that there are."""
    new = Counter(key for key in keys.values() if key is not None)
    return {name for name, key in keys.items() if key is not None and new[key] + known.get(key, 0) > 1}


def by_shape(
    queries: Iterable[Registration], dictionary: Dictionary
) -> Iterator[tuple[Query, list[Registration]]]:
    """Queries as static graphs are looked at for them: those of a shape that are evaluated together as one
    query, with the constants of all in its table, each of the others by itself."""
    alike: dict[tuple[str, tuple[str, ...]], list[Registration]] = {}
    for each in queries:
        if each.instance is None:
            yield each.evaluated, [each]
        else:
            alike.setdefault((each.shape or each.instance.shape.key, each.reads), []).append(each)
    for members in alike.values():
        found = [each.instance for each in members if each.instance is not None]
        table = ParameterTable(len(found[0].constants))
        rows = dict.fromkeys(each.constants for each in found)
        # Which query a row belongs to says nothing here.
        number = dictionary.encode(Literal("0", XSD + "integer"))
        table.add([[number, *(dictionary.encode(term) for term in row)] for row in rows])
        yield template(found[0].shape, table), members


def _decided(query: Query) -> tuple[str | None, str | None]:
    read = [stream for stream in query.streams if isinstance(stream, str)]
    if len(query.streams) != 1 or not read:
        return None, "it does not read one stream"
    if len(set(readings(query, read))) > 1:
        return None, "its windows have different LATENESS, AHEAD or TIMES"
    found = shared_as(query)
    if isinstance(found, str):
        return None, found
    if isinstance(found, Conjunct):
        return digest(found.set), None
    lacking = _lacking(found.shape)
    return (found.shape.key, None) if lacking is None else (None, lacking)


@lru_cache(maxsize=1024)
def _lacking(shape: Shape) -> str | None:
    """Why the evaluator of a template, which takes ids alone, does not cover a shape."""
    some = Instance(shape, tuple(Literal("") for _ in shape.parameters), None)
    try:
        Template(shape, 0, {"": (some, Background())}, Dictionary())
    except NotCovered as lacking:
        return f"the interval evaluator does not cover {lacking.primary}"
    except UsageError as error:
        return error.primary
    return None
