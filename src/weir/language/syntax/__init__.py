"""Text → algebra: lexer and the superset grammar of all dialects; what a dialect leaves unsaid stays open."""

__all__ = ["draft", "durations", "lexer", "outline", "queries", "terms", "triples"]
