"""Expressions over relations, vectorised."""
