"""Does a test module notice when what it tests does nothing? (``test_mutation.py``)

As a plugin of pytest (``-p mutation_kit --mutate weir.some.module``) it runs a test module once for each
function or class of that module which the test module imports, with the body of the function, or of every
public method of the class, emptied. Emptied means: the code object is replaced in place, so that every
reference sees it. Each run is a fork of the process that has collected the tests, and ends with the first
test that fails or hangs. That test must pass where nothing is emptied, or the result says nothing.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from types import CodeType, FunctionType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from house_kit import SOURCE, Module, behind, imports_of, mirror, read

PATIENCE = 120.0
"""Seconds after which a run counts as one that hangs; starting Spark takes some."""
SURVIVED = "survived"
_SPECIAL = ("__call__", "__len__", "__iter__", "__getitem__")


@dataclass(frozen=True)
class Mutant:
    """What is emptied together, under the name by which the test module imports it."""

    name: str
    functions: tuple[FunctionType, ...]


def mutants(modules: dict[str, Module], module: Module) -> list[Mutant]:
    """The functions and classes of a module that its test module imports, by their names or through a door;
    where it imports none of them, all that are public, together."""
    loaded = importlib.import_module(module.name)
    tree = ast.parse(mirror(module).read_text())
    named = {each.name for each in imports_of(tree) if module.name in behind(modules, each)}
    found = [Mutant(name, tuple(functions_of(loaded, name))) for name in sorted(named)]
    found = [each for each in found if each.functions]
    if found:
        return found
    every = [each for name in vars(loaded) if name[0] != "_" for each in functions_of(loaded, name)]
    return [Mutant("everything", tuple(every))] if every else []


def functions_of(loaded: Any, name: str) -> Iterator[FunctionType]:
    """The functions behind a name of a module, if it is defined there: itself, or the methods of a class."""
    value = getattr(loaded, name, None)
    members = [value]
    if isinstance(value, type) and value.__module__ == loaded.__name__:
        members = [member for key, member in vars(value).items() if key[0] != "_" or key in _SPECIAL]
    for member in members:
        function = _function(member)
        if function is not None and function.__module__ == loaded.__name__:
            yield function


def _function(member: Any) -> FunctionType | None:
    """The function of a method, a property or a cached function; none of what is compiled."""
    if isinstance(member, property | cached_property):
        member = member.fget if isinstance(member, property) else member.func
    elif isinstance(member, staticmethod | classmethod) or hasattr(member, "cache_info"):
        member = member.__wrapped__
    return inspect.unwrap(member) if isinstance(member, FunctionType) else None


def empty(function: FunctionType) -> None:
    """Leave a function, generator or coroutine that takes anything and does nothing."""
    function.__code__ = _nothing(function.__code__)


def _nothing(code: CodeType) -> CodeType:
    """Code that does nothing, with the free variables of ``code``: a function's closure stays as it is."""
    waits = code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR)
    yields = code.co_flags & (inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR)
    start, body = "async def" if waits else "def", "return\n  yield" if yields else "return"
    free = " = ".join(["", *code.co_freevars, "None"])[3:]
    used = ", ".join([*code.co_freevars, ""])
    text = f"def make():\n {free}\n {start} made(*given, **named):\n  {body}\n  ({used})\n return made\n"
    namespace: dict[str, Callable[[], FunctionType]] = {}
    exec(text, namespace)
    return namespace["make"]().__code__


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--mutate", help="the module whose functions are emptied")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """In place of the tests, one run of them for each mutant; a line of standard output for each."""
    name = session.config.getoption("--mutate")
    if name is None:
        return None
    modules = read(SOURCE)
    items = sorted(session.items, key=_starts_spark)
    sound: dict[int, bool] = {}
    for mutant in mutants(modules, modules[name]):
        place = _outcome(session, items, mutant.functions)
        if place is None:
            told = SURVIVED
        elif sound.setdefault(place, _outcome(session, [items[place]], ()) is None):
            told = f"noticed by {items[place].name}"
        else:
            told = f"unknown: {items[place].name} fails anyway"
        print(f"{name}.{mutant.name}: {told}", flush=True)
    return True


def _starts_spark(item: pytest.Item) -> bool:
    return "spark" in getattr(item, "fixturenames", ()) or item.get_closest_marker("spark") is not None


def _outcome(
    session: pytest.Session, items: list[pytest.Item], emptied: tuple[FunctionType, ...]
) -> int | None:
    """The place of the first test that fails or hangs in a fork of this process, None where none does."""
    told, tell = os.pipe()
    child = os.fork()
    if not child:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        os._exit(_run(session, items, emptied, tell))
    os.close(tell)
    until = time.monotonic() + PATIENCE
    status = None
    while status is None and time.monotonic() < until:
        ended, state = os.waitpid(child, os.WNOHANG)
        if ended:
            status = os.waitstatus_to_exitcode(state)
        else:
            time.sleep(0.01)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if status is None:
        os.waitpid(child, 0)
    places = os.read(told, 1 << 20).split()
    os.close(told)
    return None if status == 0 else int(places[-1]) if places else 0


def _run(
    session: pytest.Session, items: list[pytest.Item], emptied: tuple[FunctionType, ...], tell: int
) -> int:
    """Run tests up to the first that fails; 1 where one does. Each is told by its place before it runs."""
    for function in emptied:
        empty(function)
    failed = False
    for place, item in enumerate(items):
        os.write(tell, b"%d " % place)
        following = items[place + 1] if place + 1 < len(items) else None
        if any(report.failed for report in runtestprotocol(item, log=False, nextitem=following)):
            failed = True
            break
    with suppress(BaseException):
        session._setupstate.teardown_exact(None)
    return int(failed)
