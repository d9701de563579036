"""What routes get from a request: the service, and the address that it was called by."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends
from fastapi.requests import HTTPConnection

from weir.server.service import Service


def service_of(connection: HTTPConnection) -> Service:
    """The service behind the application."""
    service: Service = connection.app.state.service
    return service


Here = Annotated[Service, Depends(service_of)]


def base_of(connection: HTTPConnection) -> str:
    """The address of the service as the client wrote it."""
    return str(connection.base_url).rstrip("/")
