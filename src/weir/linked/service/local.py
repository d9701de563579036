"""An aggregate SERVICE sub-query evaluated here, over rows fetched for the pattern below its GROUP BY.

Planning Ahead's case 2 (section 4, footnote 4): the endpoint gives the values, Weir adds them up. Law:
``SERVICE e { SELECT … { P } GROUP BY k }`` and the same sub-query over ``SERVICE e { P }`` have the same
solutions, and those of some keys need only the rows of these keys.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from weir.kernel.functions import Context
from weir.kernel.reference.graphs import Dataset, World
from weir.kernel.reference.patterns import Evaluation
from weir.language.algebra import patterns as a
from weir.language.algebra.scope import visible
from weir.linked.service.exchange import Rows
from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, BlankNode, Literal, Term, Variable


def evaluate_locally(outer: a.Pattern, inner: a.Pattern, rows: Rows, at: int, dictionary: Dictionary) -> Rows:
    """The solutions of ``outer`` at ``at`` with ``rows`` in place of the pattern ``inner`` in it."""
    names = tuple(rows.columns)
    terms = [_terms(rows.columns[name], dictionary) for name in names]
    solutions = tuple(zip(*terms, strict=True)) if names else ((),) * rows.length
    table = a.Values(tuple(Variable(name) for name in names), solutions)
    evaluation = Evaluation(World(Dataset()), Context(now=at), key=f"service {at}")
    found = evaluation.solutions(_replaced(outer, inner, table))
    columns = {
        variable.name: dictionary.encode_terms([solution.get(variable.name) for solution in found])
        for variable in visible(outer)
    }
    return Rows(columns, len(found))


def _terms(column: Ids, dictionary: Dictionary) -> list[Term | None]:
    known: dict[int, Term | None] = {0: None}
    for identifier in set(column.tolist()) - {0}:
        known[identifier] = dictionary.decode(identifier)
    return [known[identifier] for identifier in column.tolist()]


def _replaced(node: Any, inner: a.Pattern, table: a.Values) -> Any:
    """``node`` with ``table`` for ``inner``: the pattern right below the one GROUP BY of the spine."""
    if isinstance(node, a.Group):
        return a.Group(table, node.keys, node.aggregates) if node.pattern == inner else node
    if is_dataclass(node) and not isinstance(node, IRI | Literal | BlankNode | Variable | type):
        return type(node)(
            *(
                _replaced(getattr(node, f.name), inner, table)
                if f.name == "pattern"
                else getattr(node, f.name)
                for f in fields(node)
            )
        )
    return node
