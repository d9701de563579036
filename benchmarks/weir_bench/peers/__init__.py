"""Weir beside other engines for RDF streams: same data, same question, same answers counted."""

__all__ = ["benchmark"]
