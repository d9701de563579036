"""The application: routes, the gate before them, the dashboard, fragments and documentation beside them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from importlib import metadata
from typing import Any

import uvicorn
from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from weir.fragments.server import Dataset
from weir.server.api import graph_routes, query_routes, result_routes, status_routes, stream_routes
from weir.server.api.access import Access, Gate
from weir.server.api.pages import mount
from weir.server.problems import install
from weir.server.service import Service, Supervisor
from weir.server.settings import Settings

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
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.service = service
    install(app)
    for module in (stream_routes, graph_routes, query_routes, result_routes, status_routes):
        app.include_router(module.router)

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
    values: dict[str, Any] = {
        "access_log": False,
        "log_level": "warning",
        "timeout_graceful_shutdown": 5,
        "ws_max_size": 1 << 20,
        "h11_max_incomplete_event_size": 65_536,
        **options,
    }
    app = application(service)
    return uvicorn.Server(uvicorn.Config(app, host=settings.host, port=settings.port, **values))
