"""Text → AST: lexer, syntax tree and the superset grammar of all dialects."""

__all__ = ["durations", "iris", "lexer", "queries", "source", "tree"]
