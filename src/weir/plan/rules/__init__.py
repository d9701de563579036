"""Rewrites of a plan, one rule a file."""

__all__ = ["filters", "optionals", "static"]
