"""The application: routes, the gate before them, the dashboard, fragments and documentation beside them.

The dashboard is made of files alone: hand-written ES modules, style sheets and one icon, with no build step
and nothing from elsewhere. It holds no state here: all that it shows comes over the API, under the reader's
own token, so the files themselves may be read by anybody. The documentation is one page made from the OpenAPI
description: no script, no other file.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from html import escape
from importlib import metadata
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from fastapi.requests import HTTPConnection
from fastapi.responses import FileResponse, HTMLResponse
from starlette.concurrency import run_in_threadpool
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from weir.errors import UsageError
from weir.fragments.server import ADMITTED, Dataset, FastPath, FragmentsApp, protocol
from weir.linked.serving.admission import Access
from weir.linked.serving.bounded_protocol import bounded_options
from weir.server.api import graph_routes, query_routes, result_routes, status_routes, stream_routes
from weir.server.api.access import HEADERS as GUARDED
from weir.server.api.access import WRITE, Gate
from weir.server.api.access_log import AccessLog
from weir.server.api.lanes import Lanes
from weir.server.problems import Problem, install
from weir.server.service import Service
from weir.server.settings import Settings
from weir.server.supervisor import Supervisor

_ABOUT = "Continuous SPARQL queries over RDF streams: streams, graphs, queries and their results over HTTP."
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


def build(service: Service) -> FastAPI:
    """The bare application, without the gate."""
    app = FastAPI(
        title="Weir",
        version=metadata.version("weir"),
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.service = service
    app.state.lanes = Lanes()
    install(app)
    for module in (stream_routes, graph_routes, query_routes, result_routes, status_routes):
        app.include_router(module.router)

    app.mount("/fragments", _scoped(service.fragments))
    mount(app)
    return app


def mount(app: FastAPI) -> None:
    """Put the dashboard at ``/``, its files at ``/dashboard`` and the documentation at ``/docs``."""

    async def page() -> FileResponse:
        return FileResponse(STATIC / "index.html", headers=HEADERS)

    async def reference() -> HTMLResponse:
        return HTMLResponse(reference_page(app.openapi()))

    app.add_api_route("/docs", reference, include_in_schema=False, response_model=None)
    app.add_api_route("/", page, include_in_schema=False, methods=["GET", "HEAD"], response_model=None)
    app.mount("/dashboard", Files(directory=STATIC), name="dashboard")


def _scoped(fragments: FragmentsApp) -> ASGIApp:
    """Fragments under the rules of the API: with tokens, facts are pushed by those that may write."""

    async def scoped(scope: Scope, receive: Receive, send: Send) -> None:
        changes = scope["type"] == "http" and scope["method"] not in ("GET", "HEAD", "OPTIONS")
        if changes and scope.get("weir.token") is not None:
            try:
                WRITE(HTTPConnection(scope))
            except Problem as problem:
                await problem.response()(scope, receive, send)
                return
            scope = {**scope, ADMITTED: True}
        await fragments(scope, receive, send)

    return scoped


def application(service: Service) -> ASGIApp:
    """The application behind its gate. CORS is off unless origins are named."""
    return _shared(_gate(service), service.settings)


def _gate(service: Service) -> Gate:
    settings = service.settings
    access = Access(settings.tokens, host=settings.host, origins=settings.origins)
    return Gate(build(service), access, settings.limits)


def _shared(gated: ASGIApp, settings: Settings) -> ASGIApp:
    if settings.origins:
        gated = CORSMiddleware(
            gated,
            allow_origins=settings.origins,
            allow_methods=["GET", "POST", "PUT", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "Last-Event-ID"],
            expose_headers=["Weir-Next", "Weir-Missed", "Location"],
        )
    return gated


@contextlib.asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """The job runs for as long as the application does."""
    service: Service = app.state.service
    service.channels.attach(asyncio.get_running_loop())
    await run_in_threadpool(service.start)
    supervisor = Supervisor(service)
    supervisor.start()
    try:
        yield
    finally:
        supervisor.stop()
        service.channels.close()
        await run_in_threadpool(service.stop)


def server(
    settings: Settings, datasets: Sequence[Dataset] = (), *, push: bool | str = False, **options: Any
) -> uvicorn.Server:
    """A uvicorn server of one service; ``.run()`` serves until it is told to end."""
    service = Service(settings)
    service.fragments.push = push
    for dataset in datasets:
        service.fragments.add(dataset)
    if (settings.certificate is None) != (settings.key is None):
        raise UsageError("TLS needs a certificate and its key", hint="[tls] certificate = FILE, key = FILE")
    values: dict[str, Any] = {
        **bounded_options(settings.limits.connections),
        "ssl_certfile": settings.certificate,
        "ssl_keyfile": settings.key,
        "access_log": False,
        "log_level": "warning",
        "timeout_graceful_shutdown": 5,
        "ws_max_size": 1 << 20,
        **options,
    }
    gate = _gate(service)
    if not settings.origins and settings.certificate is None and not settings.access_log:
        fast = FastPath(service.fragments, "/fragments", gate=gate, extra=GUARDED)
        values["http"] = protocol(fast)
    app = _shared(gate, settings)
    if settings.access_log:
        app = AccessLog(app)
    return uvicorn.Server(uvicorn.Config(app, host=settings.host, port=settings.port, **values))


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
