"""What client and server agree on: annotations of facts, hypermedia controls."""

__all__ = ["annotation", "controls", "event_streams", "fact_columns"]
