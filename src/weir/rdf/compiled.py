"""Compiled loops that are compiled, or read from their cache, when one is first called.

numba takes half a second to come up, which a command that runs no loop does without. A function that calls
others finds them by the names of its module, so those are put in place first.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, TypeVar, cast

from weir.extras import lazily

if TYPE_CHECKING:
    import numba
else:
    numba = lazily("numba")

F = TypeVar("F", bound=Callable[..., Any])
_UP: list[bool] = []


def is_up() -> bool:
    """Whether some loop was called in this process, so that another one costs little."""
    return bool(_UP)


class CompiledLater:
    """A function that numba compiles when it is first called."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self.py_func, self._options = function, options
        self._made: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
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


def njit(**options: Any) -> Callable[[F], F]:
    """As numba's own, later."""

    def decorated(function: F) -> F:
        return cast("F", CompiledLater(function, options))

    return decorated
