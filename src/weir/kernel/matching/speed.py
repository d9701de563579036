"""The compiled loops where numba is installed, None where it is not."""

from __future__ import annotations

from types import ModuleType

try:
    from weir.kernel.matching import compiled as _compiled
except ImportError:
    _compiled = None  # type: ignore[assignment]

compiled: ModuleType | None = _compiled
