"""The algebra: patterns, expressions, windows, and the query that holds them."""
