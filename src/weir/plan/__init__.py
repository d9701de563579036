"""The plan of a query: the algebra with every leaf told where it reads, rewritten by rules in order."""

__all__ = ["analysis", "build", "nodes", "parameters", "planner", "querysets"]
