"""Algebra → text: the inverse of parsing, in any dialect that can express the query."""
