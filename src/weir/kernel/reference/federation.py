"""SERVICE for the reference evaluator: solutions of terms to columns of ids and back.

The same calls as the interval evaluator makes (``kernel.service_calls``), so both see the same remote rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from weir.errors import EvaluationError
from weir.kernel.reference.multisets import Bindings, compatible
from weir.kernel.service_calls import Calls, ServiceRows
from weir.language.algebra import patterns as a
from weir.language.algebra.fold import walk
from weir.language.algebra.patterns import Pattern, Service
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, Term, Variable


class Federation:
    """The calls of one query, whose ids are those of ``dictionary``."""

    def __init__(self, calls: Calls, dictionary: Dictionary) -> None:
        self._calls = calls
        self._dictionary = dictionary

    def solutions(
        self,
        service: Service,
        left: Sequence[Bindings],
        bound: frozenset[str],
        at: int,
        *,
        refresh: bool,
        optional: bool = False,
    ) -> list[Bindings]:
        """Solutions that may join with ``left``, all of whose solutions bind ``bound``."""
        place = str(self._calls.place(service))
        found: list[Bindings] = []
        for endpoint, here in _endpoints(service, left).items():
            call = self._calls.call(service, endpoint, bound, place=place, optional=optional)
            columns = {
                name: self._dictionary.encode_terms([solution[name] for solution in here])
                for name in call.join
            }
            rows = self._decoded(call.rows(columns, len(here), at, refresh=refresh))
            bind: Bindings = {service.name.name: endpoint} if isinstance(service.name, Variable) else {}
            found += [{**row, **bind} for row in rows if compatible(row, bind)]
        return found

    def _decoded(self, answer: ServiceRows) -> list[Bindings]:
        rows: list[Bindings] = [{} for _ in range(len(answer.fetched))]
        terms: dict[int, Term] = {}
        for name, column in answer.columns.items():
            for row, identifier in zip(rows, column.tolist(), strict=True):
                if identifier:
                    if identifier not in terms:
                        terms[identifier] = self._dictionary.decode(identifier)
                    row[name] = terms[identifier]
        return rows


def _endpoints(service: Service, left: Sequence[Bindings]) -> dict[IRI, Sequence[Bindings]]:
    """The solutions of ``left`` by the endpoint that they are to be joined at."""
    if isinstance(service.name, IRI):
        return {service.name: left}
    found: dict[IRI, list[Bindings]] = {}
    for solution in left:
        endpoint = solution.get(service.name.name)
        if not isinstance(endpoint, IRI):
            raise EvaluationError(
                f"SERVICE {service.name} has no endpoint", hint="bind the variable to an IRI before SERVICE"
            )
        found.setdefault(endpoint, []).append(solution)
    return dict(found)


def service_variables(pattern: Pattern) -> set[str]:
    """Names of the variables of ``SERVICE ?v`` in a pattern that are not bound beside it, left of it: they
    must be bound before it is evaluated.

    In a subquery only a variable that it projects can be bound from outside.
    """
    match pattern:
        case a.BGP() | a.PathPattern() | a.Values():
            return set()
        case a.Service(name, _, _):
            return {name.name} if isinstance(name, Variable) else set()
        case a.Join(left, right) | a.LeftJoin(left, right, _):
            bound = {node.name for node in walk(left) if isinstance(node, Variable)}
            return service_variables(left) | (service_variables(right) - bound)
        case a.Union(left, right) | a.Minus(left, right):
            return service_variables(left) | service_variables(right)
        case a.Project(inner, variables):
            return service_variables(inner) & {variable.name for variable in variables}
        case _:
            return service_variables(pattern.pattern)
