"""The reference evaluator: the algebra at each evaluation time, over multisets of term tuples."""

from weir.kernel.reference.continuous_query import (
    ContinuousQuery,
    Evaluated,
    evaluate_query,
    evaluations,
    run,
)
from weir.kernel.reference.datasets import Static, Timed
from weir.kernel.reference.evaluator import ReferenceEvaluator
from weir.kernel.reference.term_messages import Message

__all__ = [
    "ContinuousQuery",
    "Evaluated",
    "Message",
    "ReferenceEvaluator",
    "Static",
    "Timed",
    "algebra",
    "datasets",
    "evaluate_query",
    "evaluations",
    "query_forms",
    "run",
]
