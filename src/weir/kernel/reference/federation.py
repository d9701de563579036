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
from weir.language.algebra.scope import visible
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, Term, Variable


class Federation:
    """The calls of one query, whose ids are those of ``dictionary``."""

    def __init__(self, calls: Calls, dictionary: Dictionary) -> None:
        self._calls = calls
        self._dictionary = dictionary
        self._silence: set[int] = set()

    def silent(self, pattern: Pattern) -> bool:
        """Whether an endpoint that is called in a pattern has answered nothing of what it was last asked
        for, now or before: what is not known is missing, and no count of nothing."""
        called = {id(node.pattern) for node in walk(pattern) if isinstance(node, Service)}
        return not called.isdisjoint(self._silence)

    def begin(self, service: Service) -> None:
        """A SERVICE is about to be evaluated."""
        self._silence.discard(id(service.pattern))

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
        """Solutions that may join with ``left``, all of whose solutions bind ``bound`` and name an
        endpoint."""
        place = " ".join((str(self._calls.place(service)), *sorted(bound)))
        found: list[Bindings] = []
        for endpoint, here in _endpoints(service, left).items():
            call = self._calls.call(service, endpoint, bound, place=place, optional=optional)
            columns = {
                name: self._dictionary.encode_terms([solution[name] for solution in here])
                for name in call.join
            }
            answer = call.rows(columns, len(here), at, refresh=refresh)
            if answer.freshness.missing and not answer.freshness.rows and not service.silent:
                self._silence.add(id(service.pattern))
            rows = self._decoded(answer)
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


def by_keys(service: Service, left: Sequence[Bindings]) -> dict[frozenset[str], list[Bindings]]:
    """The solutions of ``left`` by which of the variables of a SERVICE they bind: by those it is asked."""
    names = frozenset(variable.name for variable in visible(service.pattern))
    found: dict[frozenset[str], list[Bindings]] = {} if left else {frozenset(): []}
    for solution in left:
        found.setdefault(names.intersection(solution), []).append(solution)
    return found


def _endpoints(service: Service, left: Sequence[Bindings]) -> dict[IRI, Sequence[Bindings]]:
    """The solutions of ``left`` by the endpoint that they are to be joined at."""
    if isinstance(service.name, IRI):
        return {service.name: left}
    found: dict[IRI, list[Bindings]] = {}
    for solution in left:
        endpoint = solution[service.name.name]
        assert isinstance(endpoint, IRI)  # callers
        found.setdefault(endpoint, []).append(solution)
    return dict(found)


def callers(service: Service, left: Sequence[Bindings]) -> tuple[list[Bindings], list[Bindings]]:
    """The solutions that name an endpoint, and those that do not, which under SILENT pass as they are."""
    name = service.name
    if isinstance(name, IRI):
        return list(left), []
    calling = [each for each in left if isinstance(each.get(name.name), IRI)]
    passing = [each for each in left if not isinstance(each.get(name.name), IRI)]
    unbound = any(name.name not in each for each in passing)
    if unbound or (passing and not service.silent):
        wrong = None if unbound else passing[0][name.name]
        said = "has no endpoint" if wrong is None else f"is bound to {wrong}, which is no endpoint"
        raise EvaluationError(f"SERVICE {name} {said}", hint="bind the variable to an IRI before SERVICE")
    return calling, passing


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
