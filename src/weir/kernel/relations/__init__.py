"""Relations: columns of term ids and, for each row, the interval of indices in which it is visible.

``relation`` is the type; ``keys`` compares and finds rows, ``matches`` pairs them;
``coverage`` is the arithmetic of intervals.
"""

__all__ = ["coverage", "keys", "matches", "relation"]
