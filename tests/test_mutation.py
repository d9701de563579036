"""Every module's tests notice when what they test does nothing (``mutation_kit``)."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from types import FunctionType

import pytest

from house_kit import SMALL, TESTS, Module, mirror, source
from mutation_kit import SURVIVED, empty, functions_of

MODULES = [module for module in source().values() if not module.package and module.lines > SMALL]


@pytest.mark.long
@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name)
def test_its_tests_notice_when_it_does_nothing(module: Module) -> None:
    options = [
        "-p",
        "mutation_kit",
        "--mutate",
        module.name,
        "-s",
        "-m",
        "not long",
        "-p",
        "no:cacheprovider",
    ]
    path = os.pathsep.join([str(TESTS), *sys.path])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, mirror(module)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path, "WEIR_EXAMPLES": "0.3"},
        cwd=TESTS.parent,
    )
    told = [line for line in done.stdout.splitlines() if line.startswith(f"{module.name}.")]
    print(*told, sep="\n")
    assert told, done.stdout + done.stderr
    assert not [line for line in told if ": noticed by " not in line]
    assert SURVIVED not in done.stdout


def counted() -> int:
    return 3


def generated() -> Iterator[int]:
    yield 3


async def awaited() -> int:
    return 3


async def streamed() -> AsyncIterator[int]:
    yield 3


class Made:
    def value(self, given: int) -> object:
        return super().__hash__() + given

    @property
    def size(self) -> int:
        return 3

    @staticmethod
    def of() -> int:
        return 3

    def _inner(self) -> int:
        return 3


def test_emptied_functions_stay_what_they_are() -> None:
    module = sys.modules[__name__]
    for name in ("counted", "generated", "awaited", "streamed", "Made"):
        for function in functions_of(module, name):
            assert isinstance(function, FunctionType)
            empty(function)
    assert counted() is None
    assert list(generated()) == []
    assert asyncio.run(awaited()) is None  # type: ignore[func-returns-value]

    async def every() -> list[int]:
        return [each async for each in streamed()]

    assert asyncio.run(every()) == []
    made = Made()
    assert (made.value(1), made.size, Made.of(), made._inner()) == (None, None, None, 3)
