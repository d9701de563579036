"""Messages as ``.tnq`` lines: the inverse of ``rdf.lines``."""

from __future__ import annotations

import numpy as np

from weir.rdf.messages import Messages
from weir.rdf.xsd.calendar import civil_text


def write_tnq(messages: Messages) -> bytes:
    """Messages as ``.tnq`` lines, statements in canonical form; a heartbeat is a time alone.

    Times are milliseconds, or an xsd:dateTime where they are finer. Neighbours of equal time become one
    message when the lines are read again.
    """
    stamps = np.array([tnq_time(at) for at in messages.time.tolist()], object)
    texts = [terms.texts.gather(terms.codes).to_list() for terms in messages.columns]
    lines: list[list[str]] = [[] for _ in stamps]
    for number, *terms in zip(messages.message.tolist(), *texts, strict=True):
        lines[number].append(f"{stamps[number]}\t{' '.join(term for term in terms if term)} .\n")
    every = [each or [f"{stamp}\t\n"] for stamp, each in zip(stamps, lines, strict=True)]
    return "".join(line for each in every for line in each).encode()


def tnq_time(microseconds: int) -> str:
    """How a stream line writes a time."""
    if microseconds % 1000 == 0:
        return str(microseconds // 1000)
    return civil_text(microseconds, 6) + "Z"
