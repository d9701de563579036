"""Many queries at once: the automaton of all triple patterns, and templates of queries of equal shape."""
