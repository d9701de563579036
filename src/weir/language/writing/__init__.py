"""Algebra → text: the inverse of parsing, in any dialect that can say it."""

__all__ = ["dialects", "expressions", "queries", "terms", "translation", "windows"]
