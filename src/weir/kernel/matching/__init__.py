"""Thousands of registered queries matched against a stream in batches: CTP-automata, and templates beside it.

``shared`` is where queries are registered and answered together. It puts conjunctive queries on equal windows
into sets (``conjunctive``): the triple patterns of a set are one ``automaton`` (the paper's TPM stage), its
join orders one ``trie``, down which ``resolve`` checks the constraints of all queries at once (CCR).
Other queries of one shape are one template (``shapes``).
"""

__all__ = ["answers", "automaton", "conjunctive", "join_order", "shapes", "shared"]
