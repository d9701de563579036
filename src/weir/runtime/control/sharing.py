"""Which queries are evaluated with others: decided by shape alone, whenever a query comes.

A query has a *shape key* where it can be: conjunctions by their window and what is sent out of it, others by
what is left of them without their constants. Of the queries of a job with one key, the first is evaluated by
itself, as nobody is there to share with; every other one goes to the evaluator that they have in common in a
slot. The key is in the control log, so that it need not be found again when others come.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from weir.errors import UsageError
from weir.kernel.contract import Background, NotCovered
from weir.kernel.matching.shapes import Template
from weir.kernel.matching.shared import Conjunct, shared_as
from weir.language.algebra.query import Query
from weir.plan.analysis.demand import readings
from weir.plan.analysis.templates import Instance, digest
from weir.rdf.ids.dictionary import Dictionary


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
    lacking = _lacking(found)
    return (found.shape.key, None) if lacking is None else (None, lacking)


def _lacking(found: Instance) -> str | None:
    """Why the evaluator of a template, which takes ids alone, does not cover a shape."""
    try:
        Template(found.shape, 0, {"": (found, Background())}, Dictionary())
    except NotCovered as lacking:
        return f"the interval evaluator does not cover {lacking.primary}"
    except UsageError as error:
        return error.primary
    return None
