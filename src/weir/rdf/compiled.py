"""Compiled loops that are compiled, or read from their cache, when that pays.

numba takes half a second to come up. A loop that says by ``over`` how many steps it takes is run by Python
itself until a process has taken ``PLAIN_STEPS`` of them, so that a command with little data does without, and
one with much loses little; any other loop is compiled when it is first called. A function that calls others
finds them by the names of its module, so those are put in place first.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from weir.extras import lazily

if TYPE_CHECKING:
    import numba
else:
    numba = lazily("numba")

F = TypeVar("F", bound=Callable[..., Any])
PLAIN_STEPS = 100_000
"""Steps that Python takes in a tenth of the time in which numba comes up."""
_UP: list[bool] = []
_taken = [0]


def is_up() -> bool:
    """Whether some loop was called in this process, so that another one costs little."""
    return bool(_UP)


class CompiledLater:
    """A function that numba compiles when it is first called, or when it is called with much to do."""

    def __init__(
        self, function: Callable[..., Any], over: tuple[str, ...] | None, options: dict[str, Any]
    ) -> None:
        update_wrapper(self, function)
        self.py_func, self._options = function, options
        names = function.__code__.co_varnames
        self._over = None if over is None else tuple(names.index(name) for name in over)
        self._made: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        if self._made is None and self._over is not None and not _UP:
            _taken[0] += 1 + sum(arguments[place].shape[-1] for place in self._over)
            if _taken[0] <= PLAIN_STEPS:
                with np.errstate(over="ignore"):
                    return self.py_func(*arguments)
        return (self._made or self.made())(*arguments)

    def made(self) -> Callable[..., Any]:
        """What numba makes of it; whatever it calls is made, too."""
        if self._made is None:
            names = self.py_func.__globals__
            for name in self.py_func.__code__.co_names:
                called = names.get(name)
                if isinstance(called, CompiledLater):
                    names[name] = called.made()
            _UP.append(True)
            self._made = numba.njit(**self._options)(self.py_func)
        return self._made


def njit(*, over: tuple[str, ...] | None = None, **options: Any) -> Callable[[F], F]:
    """As numba's own, later. ``over`` names the arrays whose lengths say how many steps the loop takes; such
    a loop must mean the same in Python, where an integer of numpy keeps its width."""

    def decorated(function: F) -> F:
        return cast("F", CompiledLater(function, over, options))

    return decorated
