"""The HTTP service under load: pushed messages, subscribers and latency."""
