"""The HTTP API, the fragments server and the dashboard."""
