"""Continuous queries over Triple and Quad Pattern Fragments: the protocol, its client and its server."""
