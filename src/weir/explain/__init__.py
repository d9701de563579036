"""``weir explain``: a query, or a set of them, as text: what it means, how it is planned, how it will run."""

from weir.explain.one_query import analyze_text, explain_text
from weir.explain.query_sets import explain_set_text
from weir.explain.stages import stages

__all__ = ["analyze_text", "explain_set_text", "explain_text", "plans", "stages"]
