"""The reference evaluator: the algebra at each evaluation time, over multisets of term tuples."""

from weir.kernel.reference.api import evaluate_query, evaluations, run
from weir.kernel.reference.evaluator import ReferenceEvaluator
from weir.kernel.reference.messages import Message
from weir.kernel.reference.streaming import ContinuousQuery, Evaluated, Static, Timed

__all__ = [
    "ContinuousQuery",
    "Evaluated",
    "Message",
    "ReferenceEvaluator",
    "Static",
    "Timed",
    "evaluate_query",
    "evaluations",
    "run",
]
