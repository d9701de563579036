"""What both sides of a fragments server agree on: annotations of facts, controls, documents."""

__all__ = ["annotation", "controls", "documents"]
