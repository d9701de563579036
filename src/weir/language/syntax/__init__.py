"""Text → AST: lexer, syntax tree and the superset grammar of all dialects."""

__all__ = ["cursor", "durations", "lexer", "queries", "terms", "tree"]
