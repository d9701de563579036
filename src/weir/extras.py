"""Optional parts of Weir: a module that needs a package of an extra is loaded when it is first used.

Such a module imports its packages at the top, as any other; only whoever chooses it at run time (the address
of a source or a sink, a command) loads it by ``load``, so that the core runs without the extras.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from weir.errors import UsageError

EXTRAS: Mapping[str, tuple[str, ...]] = {
    "kafka": ("confluent_kafka",),
    "mqtt": ("paho",),
    "server": (
        "fastapi",
        "starlette",
        "pydantic",
        "uvicorn",
        "httptools",
        "uvloop",
        "websockets",
        "prometheus_client",
    ),
    "bench": ("matplotlib", "oxigraph", "psutil", "rdflib", "scipy"),
}
"""The packages of each extra, by the names under which they are imported."""


def load(module: str) -> Any:
    """The module; raises ``UsageError`` that says what to install where a package of its is missing."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package.startswith("weir"):
            raise UsageError(f"this build of Weir has no {error.name}") from None
        extra = next((name for name, packages in EXTRAS.items() if package in packages), "all")
        hint = f'install what it needs with: pip install "weir[{extra}]"'
        raise UsageError(f"{module} needs the package {package}", hint=hint) from None
