"""The HTTP service under load: pushed messages, subscribers and latency."""

__all__ = ["benchmark"]
