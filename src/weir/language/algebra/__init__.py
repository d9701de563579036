"""The algebra: patterns, expressions, windows, and the query that holds them."""

__all__ = ["expressions", "fold", "patterns", "query", "scope", "unbound", "value_kinds", "windows"]
