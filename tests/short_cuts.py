"""Short cuts for a handful of rows: tests run with them, and without."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module

import pytest


def with_and_without(*short_cuts: tuple[str, str]) -> Callable[..., object]:
    """A fixture that runs every test twice; the short cuts are numbers of rows, by module and name."""

    @pytest.fixture(scope="module", params=["few rows", "many rows"], autouse=True)
    def fixture(request: pytest.FixtureRequest) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            if request.param == "many rows":
                for module, name in short_cuts:
                    patch.setattr(import_module(module), name, 0)
            yield

    return fixture
