"""Rewrites of a plan, one rule a file."""
