"""The dashboard's files and the headers they are sent with.

The page is made of files alone: hand-written ES modules, style sheets and one icon, with no build step and
nothing from elsewhere. It holds no state here: all that it shows comes over the API, under the reader's own
token, so the files themselves may be read by anybody.
"""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

STATIC = Path(__file__).parent / "static"

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
"""Scripts and styles from here only: text from a stream can never become code. Files carry an ETag."""


class Files(StaticFiles):
    """The modules and style sheets under ``/dashboard``."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers.update(HEADERS)
        return response


def mount(app: FastAPI) -> None:
    """Put the page at ``/`` and its files at ``/dashboard``; the API's routes stay as they are."""

    async def page() -> FileResponse:
        return FileResponse(STATIC / "index.html", headers=HEADERS)

    app.add_api_route("/", page, include_in_schema=False, methods=["GET", "HEAD"], response_model=None)
    app.mount("/dashboard", Files(directory=STATIC), name="dashboard")
