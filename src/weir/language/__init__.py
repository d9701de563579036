"""Text → AST → algebra: one superset grammar, one small file per dialect, semantics as values."""
