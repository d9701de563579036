"""``weir explain``: a query, or a set of them, as text: what it means, how it is planned, how it will run.

``analysis`` runs it on data, ``query_sets`` takes many; each is read when it is asked for.
"""

from weir.explain.one_query import explain_text
from weir.explain.stages import stages

__all__ = ["analysis", "explain_text", "plans", "query_sets", "stages"]
