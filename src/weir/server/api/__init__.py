"""The HTTP API: routes, what each request passes before them, and the shapes of answers."""

from weir.server.api.application import application, server

__all__ = ["application", "server"]
