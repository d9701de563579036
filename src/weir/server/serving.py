"""``weir serve``: the application under uvicorn, in one process with the job."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import uvicorn

from weir.fragments.server import Dataset
from weir.server.api.application import application
from weir.server.service import Service
from weir.server.settings import Settings


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
    return uvicorn.Server(
        uvicorn.Config(application(service), host=settings.host, port=settings.port, **values)
    )
