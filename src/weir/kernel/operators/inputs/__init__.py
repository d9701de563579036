"""What joins read: triples of a pattern in a window, a view on static graphs, a relation computed below."""

__all__ = ["input", "pattern_inputs", "window_input"]
