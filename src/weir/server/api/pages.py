"""What people look at: the dashboard, and the API's documentation.

The dashboard is made of files alone: hand-written ES modules, style sheets and one icon, with no build step
and nothing from elsewhere. It holds no state here: all that it shows comes over the API, under the reader's
own token, so the files themselves may be read by anybody. The documentation is one page made from the OpenAPI
description: no script, no other file.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.responses import FileResponse, HTMLResponse
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

STATIC = Path(__file__).parents[1] / "dashboard" / "static"

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
"""Scripts and styles from here only: text from a stream can never become code. Files carry an ETag."""

_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
code, pre { font-family: ui-monospace, monospace; font-size: .9em; }
h3 code { font-size: 1em; } .method { font-weight: 700; }
table { border-collapse: collapse; } td { padding: .1rem .8rem .1rem 0; vertical-align: top; }
section { border-top: 1px solid #8884; padding: .2rem 0 .6rem; }
nav a { margin-right: 1rem; }
"""


class Files(StaticFiles):
    """The modules and style sheets under ``/dashboard``."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers.update(HEADERS)
        return response


def mount(app: FastAPI) -> None:
    """Put the dashboard at ``/``, its files at ``/dashboard`` and the documentation at ``/docs``."""

    async def page() -> FileResponse:
        return FileResponse(STATIC / "index.html", headers=HEADERS)

    async def reference() -> HTMLResponse:
        return HTMLResponse(reference_page(app.openapi()))

    app.add_api_route("/docs", reference, include_in_schema=False, response_model=None)
    app.add_api_route("/", page, include_in_schema=False, methods=["GET", "HEAD"], response_model=None)
    app.mount("/dashboard", Files(directory=STATIC), name="dashboard")


def reference_page(description: Mapping[str, Any]) -> str:
    """The page. Operations are grouped by their tags."""
    groups: dict[str, list[tuple[str, str, Mapping[str, Any]]]] = {}
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            groups.setdefault(operation.get("tags", ["other"])[0], []).append((method, path, operation))
    title = escape(description["info"]["title"])
    links = "".join(f'<a href="#{escape(tag)}">{escape(tag)}</a>' for tag in groups)
    parts = [_group(tag, operations) for tag, operations in groups.items()]
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>'
        f"<h1>{title} {escape(description['info']['version'])}</h1>"
        f"<p>{escape(description['info'].get('description', ''))}</p>"
        f'<p><a href="openapi.json">openapi.json</a></p><nav>{links}</nav>{"".join(parts)}</body></html>'
    )


def _group(tag: str, operations: list[tuple[str, str, Mapping[str, Any]]]) -> str:
    inner = "".join(_operation(*each) for each in operations)
    return f'<h2 id="{escape(tag)}">{escape(tag)}</h2>{inner}'


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> str:
    rows = [
        f"<tr><td><code>{escape(each['name'])}</code></td><td>{escape(each['in'])}</td>"
        f"<td>{escape(each.get('description', ''))}</td></tr>"
        for each in operation.get("parameters", ())
    ]
    bodies = operation.get("requestBody", {}).get("content", {})
    if bodies:
        rows.append(f"<tr><td>body</td><td></td><td>{escape(', '.join(bodies))}</td></tr>")
    answers = [
        f"{status}{': ' + ', '.join(answer.get('content', {})) if answer.get('content') else ''}"
        for status, answer in operation.get("responses", {}).items()
    ]
    rows.append(f"<tr><td>answers</td><td></td><td>{escape('; '.join(answers))}</td></tr>")
    text = operation.get("description") or operation.get("summary", "")
    return (
        f'<section><h3><span class="method">{method.upper()}</span> <code>{escape(path)}</code></h3>'
        f"<p>{escape(text)}</p><table>{''.join(rows)}</table></section>"
    )
