"""What an evaluator asks of SERVICE: rows for the bindings it has, and how fresh they are.

Evaluators see only these protocols; views, budgets and HTTP live in ``weir.linked.service``. A call is
prepared once for each SERVICE of a query. At an evaluation time τ the evaluator hands over the rows it has
so far, as columns of the variables that are bound in all of them, and joins (or left-joins) what it gets.
Calls come in the order of time: what an evaluation fetched, later ones see and earlier ones do not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Protocol

from weir.language.algebra.fold import walk
from weir.language.algebra.patterns import Service
from weir.language.algebra.query import Query
from weir.language.algebra.scope import visible
from weir.language.algebra.windows import Past, Range
from weir.rdf.columns import Ids
from weir.rdf.terms import IRI


@dataclass(frozen=True, slots=True)
class Freshness:
    """The account of one call: join rows there are, how many of them from view rows whose change interval is
    not over, how many are missing because the view does not know them yet; what was spent; how old the oldest
    row is (µs); and what it took, in seconds: ``planning`` to choose what to refresh, ``waited`` to ask and
    be answered.

    ``estimate`` is the share of rows, missing ones included, that can be expected to be true; ``audited`` the
    share that was true among rows drawn at random and checked, lately; ``confidence`` half the width of the
    95 % interval of that. None where there is no estimate, or nothing was checked yet."""

    at: int
    rows: int = 0
    fresh: int = 0
    missing: int = 0
    refreshed: int = 0
    requests: int = 0
    failed: int = 0
    waiting: int = 0
    oldest: int = 0
    estimate: float | None = None
    audited: float | None = None
    confidence: float | None = None
    planning: float = field(default=0.0, compare=False)
    waited: float = field(default=0.0, compare=False)

    @property
    def share(self) -> float:
        """The share of rows within their change intervals among all that there should be; 1 where there are
        none."""
        total = self.rows + self.missing
        return self.fresh / total if total else 1.0

    def as_json(self) -> dict[str, Any]:
        """The account as plain values, with the share."""
        return {"share": self.share, **{f.name: getattr(self, f.name) for f in fields(self)}}


@dataclass(frozen=True, slots=True)
class ServiceRows:
    """Solutions of the SERVICE (0: unbound); each was fetched at ``fetched`` and is believed to hold until
    ``expiry``. They hold at the evaluation time asked for, whatever these say: that is a view's promise."""

    columns: Mapping[str, Ids]
    fetched: Ids
    expiry: Ids
    freshness: Freshness


class ServiceCall(Protocol):
    """One SERVICE of one query, at one endpoint."""

    @property
    def join(self) -> tuple[str, ...]:
        """The variables that calls must hand over."""
        ...

    def rows(self, bindings: Mapping[str, Ids], length: int, at: int, *, refresh: bool = True) -> ServiceRows:
        """Solutions that may join with ``length`` rows, of which ``bindings`` are the columns ``join``,
        bound in every row and *not* made distinct: how often a binding occurs says what it is worth.

        Without ``refresh`` it is a look at an instant that only serves as "before" an evaluation: nothing
        is fetched, and at the time of the last evaluation the answer is the one that it was given."""
        ...


class Services(Protocol):
    """Where evaluators get their calls from."""

    def call(
        self,
        query: str,
        service: Service,
        bound: Sequence[str],
        *,
        optional: bool = False,
        width: int | None = None,
        slide: int | None = None,
        place: str | None = None,
    ) -> ServiceCall:
        """Prepare a SERVICE whose name is an IRI, for a query that always binds ``bound`` beside it.

        ``place`` names where it stands in the query: asked for again, at the same place, it is the same call.

        ``optional``: it stands right of OPTIONAL. ``width`` and ``slide`` are the range and step of the
        query's time windows, where it has them: how long rows live and when the next evaluation comes.
        """
        ...

    def freshness(self, query: str) -> list[Freshness]:
        """The account of each of a query's calls at its latest evaluation."""
        ...

    def ids(self) -> Ids:
        """Every id whose text must be kept for views and answers to come."""
        ...


class Calls:
    """The calls of one query, known to ``services`` by its ``name``; each is prepared when first needed."""

    def __init__(self, services: Services, query: Query, name: str) -> None:
        self._services = services
        self._name = name
        self._width, self._slide = span_of(query)
        found = [id(node.pattern) for node in walk(query.pattern) if isinstance(node, Service)]
        self._places = {pattern: number for number, pattern in enumerate(dict.fromkeys(found))}
        self._calls: dict[tuple[str, str], ServiceCall] = {}

    def place(self, service: Service) -> int:
        """The number of a SERVICE in its query: equal ones at different places are different calls."""
        return self._places.get(id(service.pattern), len(self._places))

    def call(
        self, service: Service, endpoint: IRI, bound: frozenset[str], *, place: str, optional: bool
    ) -> ServiceCall:
        """The call of a SERVICE at one endpoint; the arguments are as in ``Services.call``. Of one that data
        name the fragment is left out, which is never sent: only who writes a query gives hints."""
        if not isinstance(service.name, IRI):
            endpoint = IRI(endpoint.value.partition("#")[0])
        found = self._calls.get((place, endpoint.value))
        if found is None:
            found = self._calls[place, endpoint.value] = self._services.call(
                self._name,
                Service(endpoint, service.pattern, service.silent),
                tuple(variable.name for variable in visible(service.pattern) if variable.name in bound),
                optional=optional,
                width=self._width,
                slide=self._slide,
                place=place,
            )
        return found


def span_of(query: Query) -> tuple[int | None, int | None]:
    """The longest range and the shortest step of a query's time windows, None where it has none."""
    kinds = [each.kind for each in query.dataset.windows if isinstance(each.kind, Range | Past)]
    widths = [kind.range if isinstance(kind, Range) else kind.start for kind in kinds]
    steps = [kind.step for kind in kinds if kind.step is not None]
    return max(widths, default=None), min(steps, default=None)
