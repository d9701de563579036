"""SPARQL's algebra on relations: an operator's object, which a plan is made of, and its function, in one
file.

Each file opens with what a row's ``[start, end)`` is, given those of the operator's inputs. ``inputs`` is
what joins read.
"""

__all__ = [
    "active_graph",
    "context",
    "filter",
    "group_by",
    "join",
    "left_join",
    "modifiers",
    "operator",
    "remote_service",
    "row_counts",
]
