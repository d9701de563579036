"""What routes ask of a request: the service, the address that it was called by, its scope and its types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import Depends, Request
from fastapi.requests import HTTPConnection

from weir.linked.http.headers import negotiate
from weir.server.problems import Problem
from weir.server.service import Service
from weir.server.settings import SCOPES, Token


def service_of(connection: HTTPConnection) -> Service:
    """The service behind the application."""
    service: Service = connection.app.state.service
    return service


Here = Annotated[Service, Depends(service_of)]


async def body_of(request: Request) -> bytes:
    """The body as it is."""
    return await request.body()


Body = Annotated[bytes, Depends(body_of)]


def base_of(connection: HTTPConnection) -> str:
    """The address of the service as the client wrote it."""
    return str(connection.base_url).rstrip("/")


class Needs:
    """A dependency of routes: the scope that they need."""

    def __init__(self, scope: str) -> None:
        self.level = SCOPES.index(scope)
        self.scope = scope

    def __call__(self, connection: HTTPConnection) -> None:
        token: Token | None = connection.scope.get("weir.token")
        if token is not None and SCOPES.index(token.scope) < self.level:
            challenge = f'Bearer error="insufficient_scope", scope="{self.scope}"'
            raise Problem(
                403,
                f"the token does not have the scope {self.scope}",
                headers={"WWW-Authenticate": challenge},
            )


READ, WRITE, ADMIN = Needs("read"), Needs("write"), Needs("admin")


def chosen(request: Request, offered: Sequence[str]) -> str:
    """The best of ``offered`` for a request, the first where nothing is asked for; else 406."""
    found = negotiate(request.headers.get("accept", ""), offered)
    if found is None:
        raise Problem(406, "none of these types can be made", f"known are {', '.join(offered)}")
    return found
