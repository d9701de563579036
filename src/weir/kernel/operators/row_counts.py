"""How many rows each operator of a plan has given, for people who watch it: counted per call, not per row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from weir.kernel.operators.operator import Operator
from weir.kernel.relations.relation import Relation
from weir.plan import nodes as p

_METHODS = ("run", "changes", "within")


@dataclass(slots=True)
class Cell:
    """The count of one operator; ``inside`` while one of its methods runs, for these call each other."""

    plan: p.Plan
    rows: int = 0
    inside: bool = False


class RowCounts:
    """Counts by the node of the plan; a node that became several operators has their sum."""

    def __init__(self) -> None:
        self._cells: dict[int, Cell] = {}
        self._root: list[Cell] = []

    def watch(self, plan: p.Plan, operator: Operator) -> Operator:
        """Count what an operator gives from now on."""
        cell = self._cell(plan)
        for name in _METHODS:
            setattr(operator, name, _counting(getattr(operator, name), cell))
        return operator

    def hold(self, plan: p.Plan, rows: int) -> None:
        """What a part is that does not change."""
        self._cell(plan).rows = rows

    def begin(self, root: p.Plan) -> None:
        """Count from here on. What a short cut answers has passed from the first join to the root."""
        self._root = []
        for plan in _rowwise(root):
            self._root.append(self._cell(plan))

    def answered(self, rows: int) -> None:
        """A short cut has given rows in place of the root."""
        for cell in self._root:
            cell.rows += rows

    def of(self, root: p.Plan) -> list[int | None]:
        """The counts in the order of ``p.tree``, None where nothing is counted."""
        found = (self._cells.get(id(plan)) for plan in p.tree(root))
        return [None if cell is None else cell.rows for cell in found]

    def _cell(self, plan: p.Plan) -> Cell:
        # The cell keeps its plan, whose identity can then not become that of another one.
        return self._cells.setdefault(id(plan), Cell(plan))


def _rowwise(root: p.Plan) -> Iterator[p.Plan]:
    """The root and what is below it as long as a row is a row."""
    yield root
    if isinstance(root, p.Project | p.Extend):
        yield from _rowwise(root.plan)


def _counting(method: Callable[..., Relation], cell: Cell) -> Callable[..., Relation]:
    def counting(*values: Any) -> Relation:
        if cell.inside:
            return method(*values)
        cell.inside = True
        try:
            found = method(*values)
        finally:
            cell.inside = False
        cell.rows += len(found)
        return found

    return counting
