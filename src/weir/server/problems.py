"""Errors as problem details (RFC 9457): every failure is ``application/problem+json``."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse

from weir.errors import CheckpointError, StorageError, SyntaxError, UsageError, WeirError

MEDIA_TYPE = "application/problem+json"
_LOG = logging.getLogger(__name__)
_WORD = re.compile(r"[\w:?$<>/.#-]*")


class ProblemBody(BaseModel):
    """A problem as clients see it; syntax errors have a place, counted from 1."""

    model_config = ConfigDict(extra="allow")

    type: str = "about:blank"
    title: str
    status: int
    detail: str | None = None
    hint: str | None = None
    line: int | None = None
    column: int | None = None
    length: int | None = None


class Problem(Exception):
    """Raised by handlers; ``more`` are extension members."""

    def __init__(
        self,
        status: int,
        title: str,
        detail: str | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(title)
        self.status = status
        self.headers = dict(headers or {})
        self.body: dict[str, Any] = {"type": "about:blank", "title": title, "status": status}
        if detail:
            self.body["detail"] = detail
        self.body |= {name: value for name, value in more.items() if value is not None}

    def response(self) -> JSONResponse:
        return JSONResponse(self.body, self.status, headers=self.headers, media_type=MEDIA_TYPE)


def problem_of(error: WeirError) -> Problem:
    """Weir's own errors. A remote endpoint that fails is not this server's failure, so it is a 422 too."""
    if isinstance(error, SyntaxError):
        return Problem(
            422,
            error.primary,
            str(error),
            type="urn:weir:problem:syntax",
            line=error.line,
            column=error.column,
            length=_length(error),
            hint=error.hint,
        )
    kind = type(error).__name__.removesuffix("Error").lower()
    if isinstance(error, StorageError):
        headers = {"Retry-After": "5"}
        return Problem(503, error.primary, type=f"urn:weir:problem:{kind}", hint=error.hint, headers=headers)
    status = 409 if isinstance(error, CheckpointError) else 422
    return Problem(status, error.primary, error.detail, type=f"urn:weir:problem:{kind}", hint=error.hint)


@contextmanager
def conflicts() -> Iterator[None]:
    """What a job refuses as it stands is a conflict: 409."""
    try:
        yield
    except UsageError as error:
        raise Problem(409, error.primary, error.detail, hint=error.hint) from None


def _length(error: SyntaxError) -> int:
    """How many characters are to be underlined: the word at the place."""
    lines = error.source.splitlines()
    if not 0 < error.line <= len(lines):
        return 1
    word = _WORD.match(lines[error.line - 1], error.column - 1)
    return max(1, len(word.group())) if word else 1


def install(app: FastAPI) -> None:
    """Make a problem of everything that may be raised."""
    for kind in (Problem, WeirError, HTTPException, RequestValidationError, ClientDisconnect, Exception):
        app.add_exception_handler(kind, _answer)


async def _answer(request: Request, error: Exception) -> JSONResponse:
    match error:
        case Problem():
            return error.response()
        case WeirError():
            return problem_of(error).response()
        case ClientDisconnect():
            return Problem(400, "the client went away").response()  # Nobody hears it, and no log is filled.
        case HTTPException():
            title = HTTPStatus(error.status_code).phrase
            detail = error.detail if error.detail != title else None
            return Problem(error.status_code, title, detail, headers=error.headers).response()
        case RequestValidationError():
            places = [
                {"place": "/".join(str(part) for part in each["loc"]), "reason": str(each["msg"])}
                for each in error.errors()
            ]
            detail = "; ".join(f"{each['place']}: {each['reason']}" for each in places[:5])
            return Problem(422, "the request is not as described", detail, errors=places).response()
    _LOG.exception("%s %s failed", request.method, request.url.path, exc_info=error)
    return Problem(500, "the server failed", "what happened is in its log").response()
