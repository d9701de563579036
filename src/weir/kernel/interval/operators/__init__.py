"""SPARQL's operators on interval relations: pure functions, one idea a file."""

from weir.kernel.interval.operators.index import Index
from weir.kernel.interval.operators.join import LIMIT, Matches, join, matches, merge
from weir.kernel.interval.operators.rowwise import clip, extend, filter, project, rename, union, values
from weir.kernel.interval.operators.scan import Slot, Triples, scan, select

__all__ = [
    "LIMIT",
    "Index",
    "Matches",
    "Slot",
    "Triples",
    "clip",
    "extend",
    "filter",
    "join",
    "matches",
    "merge",
    "project",
    "rename",
    "scan",
    "select",
    "union",
    "values",
]
