"""AST → algebra: the translation of SPARQL 1.1 section 18.2, with windows."""

__all__ = ["queries"]
