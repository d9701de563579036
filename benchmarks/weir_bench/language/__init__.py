"""Parsing and translating, against rdflib."""

__all__ = ["benchmark"]
