"""SPARQL's operators on interval relations: pure functions, one idea a file."""

from weir.kernel.operators.distinct import distinct, distinct_on, reduced
from weir.kernel.operators.evaluate import Surroundings, each_index, extend_by, filter_by
from weir.kernel.operators.exists import exists, mark_exists, outer_rows
from weir.kernel.operators.group import Measure, group
from weir.kernel.operators.join import join
from weir.kernel.operators.leftjoin import left_join
from weir.kernel.operators.minus import minus
from weir.kernel.operators.order import order, slice
from weir.kernel.operators.paths import PathFinder
from weir.kernel.operators.rowwise import extend, filter, project, values
from weir.kernel.operators.scan import Slot, Triples, scan, select
from weir.kernel.relations.coverage import Pieces, expand, uncovered, unite
from weir.kernel.relations.matches import Matches, matches, merge
from weir.kernel.relations.relation import clip, fresh, rename, union
from weir.kernel.relations.sorted_keys import LIMIT, Index

__all__ = [
    "LIMIT",
    "Index",
    "Matches",
    "Measure",
    "PathFinder",
    "Pieces",
    "Slot",
    "Surroundings",
    "Triples",
    "clip",
    "distinct",
    "distinct_on",
    "each_index",
    "exists",
    "expand",
    "extend",
    "extend_by",
    "filter",
    "filter_by",
    "fresh",
    "group",
    "join",
    "left_join",
    "mark_exists",
    "matches",
    "merge",
    "minus",
    "order",
    "outer_rows",
    "project",
    "reduced",
    "rename",
    "scan",
    "select",
    "slice",
    "uncovered",
    "union",
    "unite",
    "values",
]
