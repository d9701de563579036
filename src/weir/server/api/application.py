"""The application: routes, the gate before them, the dashboard, fragments and documentation beside them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from importlib import metadata

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp

from weir.server import problems
from weir.server.api import graph_routes as graphs
from weir.server.api import query_routes as queries
from weir.server.api import result_routes as results
from weir.server.api import status_routes as metrics
from weir.server.api import stream_routes as streams
from weir.server.api.access import Access
from weir.server.api.documentation import reference_page
from weir.server.api.gate import Gate
from weir.server.dashboard import mount
from weir.server.service import Service
from weir.server.supervisor import Watch

_ABOUT = "Continuous SPARQL queries over RDF streams: streams, graphs, queries and their results over HTTP."


def build(service: Service) -> FastAPI:
    """The bare application, without the gate."""
    app = FastAPI(
        title="Weir",
        version=metadata.version("weir"),
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan,
        generate_unique_id_function=_operation_id,
    )
    app.state.service = service
    problems.install(app)
    for module in (streams, graphs, queries, results, metrics):
        app.include_router(module.router)

    @app.get("/docs", include_in_schema=False)
    async def reference() -> HTMLResponse:
        return HTMLResponse(reference_page(app.openapi()))

    app.mount("/fragments", service.fragments)
    mount(app)
    return app


def application(service: Service) -> ASGIApp:
    """The application behind its gate. CORS is off unless origins are named."""
    settings = service.settings
    access = Access(settings.tokens, host=settings.host, origins=settings.origins)
    gated: ASGIApp = Gate(build(service), access, settings.limits)
    if settings.origins:
        gated = CORSMiddleware(
            gated,
            allow_origins=settings.origins,
            allow_methods=["GET", "POST", "PUT", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "Last-Event-ID"],
            expose_headers=["Weir-Next", "Weir-Missed", "Location"],
        )
    return gated


def _operation_id(route: APIRoute) -> str:
    return route.name


@contextlib.asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """The job runs for as long as the application does."""
    service: Service = app.state.service
    service.channels.attach(asyncio.get_running_loop())
    await run_in_threadpool(service.start)
    watch = Watch(service)
    watch.start()
    try:
        yield
    finally:
        watch.stop()
        service.channels.close()
        await run_in_threadpool(service.stop)
