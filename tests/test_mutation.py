"""Every module's tests notice when what they test does nothing (``mutation_kit``)."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from types import FunctionType

import pytest

from house_kit import SMALL, TESTS, Module, mirror, source
from mutation_kit import DATA, empty, functions_of

GROUPS: dict[str, list[Module]] = defaultdict(list)
"""The modules that have tests of their own: those of a room together, which saves imports; alone where the
tests start Spark."""
for _each in source().values():
    if not _each.package and _each.lines > SMALL:
        _alone = "SparkSession" in mirror(_each).read_text()
        GROUPS[_each.name if _alone else _each.name.split(".")[1]].append(_each)


@pytest.mark.long
@pytest.mark.parametrize("group", GROUPS)
def test_tests_notice_when_a_module_does_nothing(group: str) -> None:
    modules = GROUPS[group]
    names = ",".join(module.name for module in modules)
    options = ["-p", "mutation_kit", "-p", "no:cacheprovider", "-s", "-m", "not long", "--mutate", names]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *(mirror(module) for module in modules)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path]), "WEIR_EXAMPLES": "0.3"},
        cwd=TESTS.parent,
    )
    told = [line for line in done.stdout.splitlines() if line.startswith("weir.")]
    print(*told, sep="\n")
    silent = [each.name for each in modules if not any(line.startswith(each.name) for line in told)]
    assert not silent, done.stdout + done.stderr
    assert not [line for line in told if ": noticed by " not in line and not line.endswith(DATA)]


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
