"""The dashboard: a page that speaks only the public HTTP API."""

from weir.server.dashboard.pages import mount

__all__ = ["mount"]
