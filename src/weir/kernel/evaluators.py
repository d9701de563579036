"""Choosing an evaluator: ``interval`` wherever it covers the query, else ``reference``, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from weir.errors import UsageError
from weir.kernel.contract import Background, Evaluator, NotCovered
from weir.kernel.functions.extensions import known
from weir.kernel.interval.evaluator import IntervalEvaluator
from weir.kernel.operators.join import Policy
from weir.kernel.reference import ReferenceEvaluator
from weir.kernel.service_calls import Services
from weir.language.algebra.expressions import TIMESTAMP, FunctionCall
from weir.language.algebra.fold import walk
from weir.language.algebra.query import Query
from weir.rdf.ids.dictionary import Dictionary

CHOICES = ("auto", "interval", "reference")
ROUTINGS = tuple(policy.value for policy in Policy)


@dataclass(frozen=True, slots=True)
class Choice:
    """The evaluator that a query gets; ``reason`` says why ``auto`` fell back, None where it did not."""

    name: str
    evaluator: Evaluator
    reason: str | None = None


def choose_evaluator(
    query: Query,
    background: Background,
    dictionary: Dictionary,
    choice: str = "auto",
    *,
    streams: Sequence[str] = (),
    services: Services | None = None,
    name: str | None = None,
    routing: str = Policy.COST.value,
) -> Choice:
    """An evaluator of the query and how it was chosen.

    ``streams`` are the registered ones, for ``STREAM ?v``; ``services`` answer SERVICE, for which the query
    is known by its ``name``. ``routing`` is how ``interval`` orders joins (``Policy``). Under ``interval`` a
    query that it does not cover is an error.
    """
    if choice not in CHOICES:
        raise UsageError(f"unknown evaluator '{choice}'", hint=f"known are {', '.join(CHOICES)}")
    if routing not in ROUTINGS:
        raise UsageError(f"unknown routing '{routing}'", hint=f"known are {', '.join(ROUTINGS)}")
    reason: str | None = None
    given: dict[str, Any] = {"streams": streams, "services": services, "name": name}
    if choice != "reference":
        try:
            made = IntervalEvaluator(query, background, dictionary, policy=Policy(routing), **given)
            return Choice("interval", made)
        except NotCovered as lacking:
            if choice == "interval":
                raise UsageError(
                    f"the interval evaluator does not cover {lacking.primary}",
                    hint="use --evaluator auto, which takes the reference evaluator for this query",
                ) from None
            reason = lacking.primary
    return Choice("reference", ReferenceEvaluator(query, background, dictionary, **given), reason)


def unknown_functions(query: Query) -> list[str]:
    """The IRIs that a query calls as functions and that name none: each call is an error."""
    called = {node.function.value for node in walk(query.pattern) if isinstance(node, FunctionCall)}
    return sorted(iri for iri in called if iri != TIMESTAMP and not known(iri))
