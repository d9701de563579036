"""``weir explain``: a query, or a set of them, as text: what it means, how it is planned, how it will run.

``analysis`` runs it on data, ``query_sets`` takes many, ``differences`` compares two; each is read when it is
asked for.
"""

from weir.explain.one_query import Explanation, explain_text, explanation
from weir.explain.stages import stages

__all__ = [
    "Explanation",
    "analysis",
    "differences",
    "explain_text",
    "explanation",
    "plans",
    "query_sets",
    "stages",
]
