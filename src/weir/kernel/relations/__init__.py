"""Relations: columns of term ids and, for each row, the interval of indices in which it is visible.

``relation`` is the type; ``keys`` compares rows, ``sorted_keys`` finds them, ``matches`` pairs them;
``coverage`` and ``sweep`` are the arithmetic of intervals. No operator of
SPARQL is here.
"""

__all__ = ["coverage", "keys", "matches", "relation", "sorted_keys", "sweep"]
