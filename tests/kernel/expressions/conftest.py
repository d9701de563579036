"""Every test runs twice: with the short cuts for a handful of rows, and without."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

import pytest

SHORT_CUTS = [
    ("weir.kernel.expressions.compile", "_FEW"),
    ("weir.kernel.expressions.columnar", "_FEW"),
]


@pytest.fixture(scope="module", params=["few rows", "many rows"], autouse=True)
def short_cuts(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "many rows":
            for module, name in SHORT_CUTS:
                patch.setattr(import_module(module), name, 0)
        yield
