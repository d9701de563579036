"""Does a test module notice when what it tests does nothing? (``test_mutation.py``)

As a plugin of pytest (``-p mutation_kit --mutate weir.rdf.terms,weir.rdf.messages``) it runs the test module
of each of these modules once for each function or class that it imports from there, with the body of the
function, or of every public method of the class, emptied: the code object is replaced in place, so that every
reference sees it. Each run is a fork of the process that has collected the tests, and ends with the first
test that fails or hangs. That test must pass where nothing is emptied, or the result says nothing.
"""

from __future__ import annotations

import importlib
import inspect
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from types import CodeType, FunctionType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from house_kit import SOURCE, Module, mirror, read, used_names

PATIENCE = 120.0
"""Seconds after which a run counts as one that hangs; starting Spark takes some."""
SURVIVED = "survived"
DATA = "values alone, without a function"
_SPECIAL = ("__call__", "__getitem__", "__iter__", "__len__", "__str__")
"""Methods with a name of Python's own that are emptied, too."""


@dataclass(frozen=True)
class Mutant:
    """What is emptied together, under the name by which the test module knows it."""

    name: str
    functions: tuple[Any, ...]


def mutants(modules: dict[str, Module], module: Module) -> list[Mutant]:
    """The functions and classes of a module that its test module imports, by their names or through a door;
    where it imports none of them, all that are public, together."""
    loaded = importlib.import_module(module.name)
    named = used_names(modules, module)
    found = [Mutant(name, tuple(functions_of(loaded, name))) for name in sorted(named)]
    found = [each for each in found if each.functions]
    if found:
        return found
    every = [each for name in vars(loaded) if name[0] != "_" for each in functions_of(loaded, name)]
    return [Mutant("everything", tuple(every))] if every else []


def functions_of(loaded: Any, name: str) -> Iterator[Any]:
    """The functions behind a name of a module, if it is defined there: itself, or the methods of a class."""
    value = getattr(loaded, name, None)
    members = [value]
    if isinstance(value, type) and value.__module__ == loaded.__name__:
        members = [member for key, member in vars(value).items() if key[0] != "_" or key in _SPECIAL]
    for member in members:
        function = _function(member)
        if function is not None and function.__module__ == loaded.__name__:
            yield function


def _function(member: Any) -> Any:
    """The function of a method, a property or a cached function; or one that is compiled by numba."""
    if isinstance(member, property | cached_property):
        member = member.fget if isinstance(member, property) else member.func
    elif isinstance(member, staticmethod | classmethod) or hasattr(member, "cache_info"):
        member = member.__wrapped__
    if hasattr(member, "py_func"):
        return member
    return inspect.unwrap(member) if isinstance(member, FunctionType) else None


def empty(function: Any) -> None:
    """Leave a function, generator or coroutine that takes anything and does nothing. What is compiled is
    taken out of every module that knows it."""
    if isinstance(function, FunctionType):
        function.__code__ = _nothing(function.__code__)
        return
    for module in list(sys.modules.values()):
        for name, value in list(getattr(module, "__dict__", {}).items()):
            if value is function:
                setattr(module, name, lambda *given, **named: None)


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
    """``--mutate``."""
    parser.addoption("--mutate", help="modules whose functions are emptied")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """In place of the tests, a run of them for each mutant, and a line of standard output."""
    named = session.config.getoption("--mutate")
    if named is None:
        return None
    modules = read(SOURCE)
    for name in named.split(","):
        module = modules[name]
        items = sorted((each for each in session.items if each.path == mirror(module)), key=_starts_spark)
        found = mutants(modules, module)
        for mutant in found:
            print(f"{name}.{mutant.name}: {_told(session, items, mutant)}", flush=True)
        if not found:
            print(f"{name}: {DATA}", flush=True)
    return True


def _told(session: pytest.Session, items: list[pytest.Item], mutant: Mutant) -> str:
    place = _outcome(session, items, mutant.functions)
    if place is None:
        return SURVIVED
    fails = _outcome(session, [items[place]], ()) is not None
    return f"unknown: {items[place].name} fails anyway" if fails else f"noticed by {items[place].name}"


def _starts_spark(item: pytest.Item) -> bool:
    return "spark" in getattr(item, "fixturenames", ()) or item.get_closest_marker("spark") is not None


def _outcome(session: pytest.Session, items: list[pytest.Item], emptied: tuple[Any, ...]) -> int | None:
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


def _run(session: pytest.Session, items: list[pytest.Item], emptied: tuple[Any, ...], tell: int) -> int:
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
