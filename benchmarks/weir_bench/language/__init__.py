"""Parsing and translating: against rdflib."""
