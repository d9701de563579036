"""The reference evaluator: the algebra at each evaluation time, over multisets of term tuples."""

from weir.kernel.reference.continuousquery import ContinuousQuery, Evaluated, evaluate_query, evaluations, run
from weir.kernel.reference.datasets import Static, Timed
from weir.kernel.reference.evaluator import ReferenceEvaluator
from weir.kernel.reference.streams import Message

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
    "queryforms",
    "run",
]
