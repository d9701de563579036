"""The service over HTTP: streams, graphs, queries and their results, fragments beside them, the dashboard."""

from weir.server.api import server
from weir.server.settings import Settings, read_settings

__all__ = ["Settings", "read_settings", "server"]
