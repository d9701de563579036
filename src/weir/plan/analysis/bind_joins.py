"""SERVICE where its keys are not at hand: plans in which they are.

A SERVICE is asked by what the rows beside it bind. In a branch of a UNION and right of MINUS there are no
rows beside it, and the endpoint would be asked for all it has. Laws: a join distributes over the branches of
a union; and MINUS looks only at right solutions that agree with a left one on what both always bind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from weir.language.algebra import scope
from weir.plan import nodes as p
from weir.plan.analysis.variables import certain, draws, possible, reads


def distributed(plan: p.Join) -> p.Union | None:
    """A join with a union that calls SERVICE as a union of joins; None where there is none, or where a
    condition of a branch would see what it must not."""
    for place, part in enumerate(plan.parts):
        rest = plan.parts[:place] + plan.parts[place + 1 :]
        if not isinstance(part, p.Union) or not rest or not calls(part) or draws(plan):
            continue
        if all(map(_is_closed, part.parts)):
            return p.Union(
                tuple(
                    p.Join((*rest, *_parts(branch)), (*plan.conditions, *_conditions(branch)))
                    for branch in part.parts
                )
            )
    return None


def asked_by_keys(left: p.Plan, right: p.Plan) -> p.Plan | None:
    """The right side of MINUS joined with the keys of the left one; None where it calls no SERVICE, or where
    they share no variable that both always bind."""
    services = [part for part in _parts(right) if isinstance(part, p.Service)]
    if not services or not _is_closed(right) or draws(left):
        return None
    bound = certain(right).union(*(scope.certain(each) for each in services))
    names = tuple(sorted(certain(left) & bound))
    if not names:
        return None
    keys = p.Distinct(p.Project(left, names))
    return p.Join((keys, *_parts(right)), _conditions(right))


def calls(plan: p.Plan) -> bool:
    """Whether a plan calls a SERVICE, outside of expressions."""
    return isinstance(plan, p.Service) or any(calls(child) for child in p.children(plan))


def _parts(plan: p.Plan) -> tuple[p.Plan, ...]:
    return plan.parts if isinstance(plan, p.Join) else (plan,)


def _conditions(plan: p.Plan) -> tuple[p.Formula, ...]:
    return plan.conditions if isinstance(plan, p.Join) else ()


def _is_closed(plan: p.Plan) -> bool:
    """Whether conditions see the same variables inside of a larger join."""
    return all(reads(condition) <= possible(plan) for condition in _conditions(plan))


@dataclass(frozen=True, slots=True)
class Asked:
    """How a SERVICE is asked: by the variables that every row beside it binds, and by those that some do."""

    service: p.Service
    always: tuple[str, ...]
    sometimes: tuple[str, ...]

    @property
    def for_everything(self) -> bool:
        """Whether some row may need all that the endpoint has."""
        return not self.always


def asked_services(plan: p.Plan) -> list[Asked]:
    """Every SERVICE of a plan, once each, but for those inside of expressions."""
    found: dict[int, Asked] = {}
    for each in _asked(plan):
        known = found.get(id(each.service.pattern))
        if known is None or (known.for_everything and not each.for_everything):
            found[id(each.service.pattern)] = each
    return list(found.values())


def _asked(plan: p.Plan) -> Iterator[Asked]:
    match plan:
        case p.Service():
            yield Asked(plan, (), ())
        case p.Join():
            branches = distributed(plan)
            yield from _of_join(plan) if branches is None else _asked(branches)
        case p.LeftJoin(left, p.Service() as service):
            yield from _asked(left)
            yield _beside(service, certain(left), possible(left))
        case p.Minus(left, right) if (keyed := asked_by_keys(left, right)) is not None:
            yield from _asked(left)
            yield from _asked(keyed)
        case _:
            for child in p.children(plan):
                yield from _asked(child)


def _of_join(plan: p.Join) -> Iterator[Asked]:
    others = p.Join(tuple(part for part in plan.parts if not isinstance(part, p.Service)))
    for part in others.parts:
        yield from _asked(part)
    always, some = certain(others), possible(others)
    for part in plan.parts:
        if isinstance(part, p.Service):
            yield _beside(part, always, some)
            always, some = always | scope.certain(part), some | possible(part)


def _beside(service: p.Service, always: frozenset[str], some: frozenset[str]) -> Asked:
    names = [variable.name for variable in scope.visible(service.pattern)]
    return Asked(
        service,
        tuple(name for name in names if name in always),
        tuple(name for name in names if name in some - always),
    )
