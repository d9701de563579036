"""Optional parts of Weir: a module that needs a package of an extra is loaded when it is first used.

Such a module imports its packages at the top, as any other; only whoever chooses it at run time (the address
of a source or a sink, a command) loads it by ``load``, so that the core runs without the extras.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import threading
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from types import ModuleType
from typing import Any

from weir.errors import UsageError

EXTRAS: Mapping[str, tuple[str, ...]] = {
    "connect": ("grpc", "grpc_status", "zstandard"),
    "kafka": ("confluent_kafka",),
    "mqtt": ("paho",),
    "s3": ("boto3", "botocore"),
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
    "traces": ("opentelemetry",),
    "bench": ("matplotlib", "oxigraph", "psutil", "rdflib", "scipy"),
}
"""The packages of each extra, by the names under which they are imported."""


class _Later(ModuleType):
    """Stands in for a module until something of it is used. Two threads may use it first: the import's own
    lock makes the second one wait, which the standard library's ``LazyLoader`` does not."""

    def __getattr__(self, name: str) -> Any:
        with _LOCK:
            if sys.modules.get(self.__name__) is self:
                del sys.modules[self.__name__]
        value = getattr(importlib.import_module(self.__name__), name)
        setattr(self, name, value)
        return value

    def __reduce__(self) -> tuple[Any, ...]:
        """A function that goes to another process takes the module along by its name, as it would any."""
        return importlib.import_module, (self.__name__,)


_LOCK = threading.Lock()


def lazily(module: str) -> ModuleType:
    """The module, read when something of it is first used: what a short command does without costs it
    nothing. For packages that take a tenth of a second, where they are used inside functions only."""
    if module not in sys.modules:
        if importlib.util.find_spec(module) is None:
            return importlib.import_module(module)
        sys.modules[module] = _Later(module)
    return sys.modules[module]


@cache
def brought(group: str) -> Mapping[str, Any]:
    """What installed packages bring to Weir: the entry points of a group, by name."""
    found: dict[str, Any] = {}
    for point in metadata.entry_points(group=group):
        try:
            found[point.name] = point.load()
        except Exception as error:
            whose = f" of the package {point.dist.name}" if point.dist is not None else ""
            raise UsageError(f"{group} {point.name!r}{whose} cannot be loaded", detail=str(error)) from error
    return found


def old_pyspark(what: str) -> UsageError:
    """The error where the installed pyspark is too old for something."""
    return UsageError(
        f"{what} needs pyspark 4.2 or newer, and {metadata.version('pyspark')} is installed",
        hint='pip install "pyspark>=4.2"; with 4.1 weir.continuous, weir load and weir try work',
    )


def load(module: str) -> Any:
    """The module; raises ``UsageError`` that says what to install where a package of its is missing."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package.startswith("weir"):
            raise UsageError(f"this build of Weir has no {error.name}") from None
        if package == "pyspark" and error.name != package:
            raise old_pyspark(module) from None
        extra = next((name for name, packages in EXTRAS.items() if package in packages), "all")
        hint = f'install what it needs with: pip install "weir[{extra}]"'
        raise UsageError(f"{module} needs the package {package}", hint=hint) from None
