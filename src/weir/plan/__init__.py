"""Rewrites, the split into stream, static and service parts, templates, physical plans, explain."""
