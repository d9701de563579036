"""Keeping Spark from planning a batch for a moment, so that a log entry can name one that is not planned.

The driver puts down a file with a token; the next source that is asked for its offset answers the token and
waits until the file is gone. Spark plans in one thread, so from the answer on no batch is being planned,
and every planned one is in Spark's log of offsets.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from weir.storage import replace_file

HOLD = "hold"
HELD = "held"
_LOOK = 0.005
_LONGEST = 60.0
"""Seconds after which a source takes the driver for dead."""


@contextmanager
def planning_held(own: Path, active: Callable[[], bool]) -> Iterator[None]:
    """Hold planning while the block runs; ``active`` says whether there is still anybody to wait for."""
    token = secrets.token_hex(8)
    flag, answer = own / HOLD, own / HELD
    replace_file(flag, token.encode(), durable=False)
    try:
        while active() and _read(answer) != token:
            time.sleep(_LOOK)
        yield
    finally:
        flag.unlink(missing_ok=True)
        answer.unlink(missing_ok=True)


def wait_while_held(own: Path) -> None:
    """Called by a source before it offers anything."""
    token = _read(own / HOLD)
    if token is None:
        return
    with suppress(FileNotFoundError):
        replace_file(own / HELD, token.encode(), durable=False)
    until = time.monotonic() + _LONGEST
    while _read(own / HOLD) == token and time.monotonic() < until:
        time.sleep(_LOOK)


def _read(path: Path) -> str | None:
    try:
        return path.read_text()
    except FileNotFoundError:
        return None
