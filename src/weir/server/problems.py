"""Errors as problem details (RFC 9457): every failure is ``application/problem+json``."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from weir.errors import (
    CheckpointError,
    DataError,
    EvaluationError,
    RemoteError,
    SyntaxError,
    TranslationError,
    UsageError,
    WeirError,
)

MEDIA_TYPE = "application/problem+json"
_LOG = logging.getLogger(__name__)
_STATUS: Mapping[type[WeirError], int] = {
    SyntaxError: 422,
    TranslationError: 422,
    UsageError: 422,
    DataError: 422,
    EvaluationError: 422,
    CheckpointError: 409,
    RemoteError: 502,
}


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
    status = next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 422)
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
    if status == 502:
        status = 422
    return Problem(status, error.primary, error.detail, type=f"urn:weir:problem:{kind}", hint=error.hint)


def _length(error: SyntaxError) -> int:
    """How many characters are to be underlined: the word at the place."""
    lines = error.source.splitlines()
    if not 0 < error.line <= len(lines):
        return 1
    rest = lines[error.line - 1][error.column - 1 :]
    word = 0
    while word < len(rest) and (rest[word].isalnum() or rest[word] in "_:?$<>/.#-"):
        word += 1
    return max(1, word)


def install(app: FastAPI) -> None:
    """Handlers for everything that may be raised."""
    app.add_exception_handler(Problem, _on_problem)
    app.add_exception_handler(WeirError, _on_weir)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(Exception, _on_bug)


async def _on_problem(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Problem)
    return error.response()


async def _on_weir(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, WeirError)
    return problem_of(error).response()


async def _on_http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    title = HTTPStatus(error.status_code).phrase
    detail = error.detail if error.detail != title else None
    return Problem(error.status_code, title, detail, headers=error.headers).response()


async def _on_invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    places = [
        {"place": "/".join(str(part) for part in each["loc"]), "reason": str(each["msg"])} for each in found
    ]
    detail = "; ".join(f"{each['place']}: {each['reason']}" for each in places[:5])
    return Problem(422, "the request is not as described", detail, errors=places).response()


async def _on_bug(request: Request, error: Exception) -> JSONResponse:
    _LOG.exception("%s %s failed", request.method, request.url.path, exc_info=error)
    return Problem(500, "the server failed", "what happened is in its log").response()
