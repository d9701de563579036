"""CTP-automata: many conjunctive queries matched against one stream."""

__all__ = ["benchmark", "queries", "systems"]
