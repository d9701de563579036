"""AST → algebra: the translation of SPARQL 1.1 section 18.2, windows, and the static checks."""
