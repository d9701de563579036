"""Text → AST: lexer, syntax tree and the superset grammar of SPARQL 1.1 and the stream dialects."""
