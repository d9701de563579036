"""The reference evaluator: the algebra at each evaluation time, over multisets of term tuples."""

from weir.kernel.reference.continuous_query import ContinuousQuery
from weir.kernel.reference.datasets import Static, Timed
from weir.kernel.reference.evaluator import ReferenceEvaluator
from weir.kernel.reference.windows import Message

__all__ = [
    "ContinuousQuery",
    "Message",
    "ReferenceEvaluator",
    "Static",
    "Timed",
    "algebra",
    "datasets",
    "multisets",
    "query_forms",
]
