"""What client and server agree on: annotations of facts, hypermedia controls, documents."""

__all__ = ["annotation", "controls", "documents"]
