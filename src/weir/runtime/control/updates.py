"""Updates of static graphs while a job runs: made by the driver, followed by the groups.

The driver applies an update to its graphs, writes what it adds to the extract of each query that it concerns,
and logs that with the time asked for. A group that reaches the entry's batch settles from when on the update
counts for each of its queries: the later of the time asked for and the query's present. It remembers that
in its state, so that a replay or a restart settles nothing twice. No evaluation comes of an update by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from weir.kernel.contract import Background, Evaluator, GraphTable
from weir.language.update import InsertData, Update
from weir.linked.graphs.history import graphs_of, layered, resolved
from weir.linked.graphs.triple_tables import DEFAULT
from weir.rdf.columns import NEVER
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import Term, relabelled
from weir.runtime.control.catalog import Catalog
from weir.runtime.control.entries import Registration, UpdateEntry

Loader = Callable[[str], Background]
"""Finds an extract by its name."""


class Member(Protocol):
    """A query that runs in a group (``worker.members``). ``effective`` is the time from which each update of
    its graphs counts, once that is settled; ``followed`` are the updates that its evaluator has."""

    registration: Registration
    evaluator: Evaluator
    done: bool
    effective: dict[int, int]
    followed: tuple[int, ...]

    @property
    def present(self) -> int: ...


def follow(members: Iterable[Member], catalog: Catalog, load: Loader) -> None:
    """Give each query of a group the updates that the catalog has for it and it does not have yet."""
    for member in members:
        own = [each for each in catalog.updates if concerns(each, member.registration)]
        numbers = tuple(each.number for each in own)
        if member.done or (numbers == member.followed and all(n in member.effective for n in numbers)):
            continue
        present = member.present
        for each in own:
            member.effective.setdefault(each.number, max(_asked(each), present))
        background = settled(member.registration, own, catalog, member.effective, load)
        member.evaluator.renew(background)
        member.followed = numbers


def concerns(update: UpdateEntry, registration: Registration) -> bool:
    """Whether an update adds to what the registered extract has."""
    return update.number > registration.updates and registration.name in update.parts


def settled(
    registration: Registration,
    own: Sequence[UpdateEntry],
    catalog: Catalog,
    effective: Mapping[int, int],
    load: Loader,
) -> Background:
    """A query's graphs with the updates in ``own``. An update from before its registration counts from
    the time asked for, or else from the beginning: the query has no present yet."""
    base = Background() if registration.graphs is None else load(registration.graphs)
    layers = [base, *(load(each.parts[registration.name]) for each in own)]
    if not own and not registration.updates:
        return layers[0]
    times = {each.number: effective.get(each.number, _asked(each)) for each in catalog.updates}
    return resolved(layered(layers), times)


def _asked(update: UpdateEntry) -> int:
    return NEVER if update.at is None else update.at


def net_of(operations: Sequence[Update], dictionary: Dictionary, scope: str) -> tuple[Background, Background]:
    """The insertions and the deletions of a request: of several operations on a triple the last counts.

    Blank nodes are new ones: ``scope`` tells them from those of any other request.
    """
    last: dict[tuple[Term, Term, Term, str], bool] = {}
    for operation in operations:
        for s, p, o, graph in operation.quads:
            quad = (_scoped(s, scope), p, _scoped(o, scope), graph or DEFAULT)
            last.pop(quad, None)
            last[quad] = isinstance(operation, InsertData)
    kept: dict[bool, dict[str, list[tuple[Term, Term, Term]]]] = {True: {}, False: {}}
    for (subject, predicate, object, graph), inserted in last.items():
        kept[inserted].setdefault(graph, []).append((subject, predicate, object))
    return _tables(kept[True], dictionary), _tables(kept[False], dictionary)


def is_empty(background: Background) -> bool:
    """Whether no graph holds a triple."""
    return not any(len(table.subject) for table in graphs_of(background).values())


def _scoped(term: Term, scope: str) -> Term:
    return relabelled(term, lambda label: f"{scope}x{label}")


def _tables(rows: Mapping[str, Sequence[tuple[Term, Term, Term]]], dictionary: Dictionary) -> Background:
    found = {
        graph: GraphTable(
            *(dictionary.encode_terms([triple[place] for triple in triples]) for place in range(3))
        )
        for graph, triples in rows.items()
    }
    return Background(found.pop(DEFAULT, GraphTable.empty()), found)
