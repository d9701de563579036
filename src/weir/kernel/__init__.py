"""Evaluators of continuous queries: ``interval``, vectorised, and ``reference``, the plain definition.

``contract`` says what an evaluator is, ``evaluators`` chooses one for a query, ``service_calls`` is what it
asks of SERVICE. Rooms, each importing those before it: ``relations`` (rows with the interval in which they
are visible), ``functions`` and ``expressions`` (values), ``windows`` (what is kept of streams, and when it
shows), ``operators`` (SPARQL's algebra on relations), ``fast`` (short cuts), ``interval`` and ``reference``
(the evaluators), ``matching`` (thousands of conjunctive queries at once).
"""

__all__ = ["contract", "evaluators", "service_calls"]
