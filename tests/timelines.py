"""Drawn timelines through both evaluators.

A timeline gives a message per letter: ``"a..b"`` is message a at 0 ms and b at 3 ms, one column a
millisecond; letters in brackets come in one message, ``"(ab)c"``; ``"a&b"`` are two messages of one
time. What is expected is written as the times of evaluations (ms) with the letters seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from reference_kit import evaluations
from weir.kernel.contract import Answers, Background, Slab
from weir.kernel.interval.evaluator import IntervalEvaluator
from weir.kernel.reference import Message
from weir.language import Query, parse
from weir.language.algebra.windows import Past, Range
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.messages import Messages
from weir.rdf.terms import IRI, Literal

MS = 1_000
P = IRI("urn:p")
STREAM = "urn:s"


def messages(drawing: str) -> list[Message]:
    found: list[Message] = []
    time, place = 0, 0
    while place < len(drawing):
        letters = drawing[place]
        if letters == "(":
            end = drawing.index(")", place)
            letters = drawing[place + 1 : end]
            place = end
        place += 1
        if letters == "&":
            time -= 1
            continue
        if letters != ".":
            quads = tuple((IRI(letter), P, Literal("x"), None) for letter in letters)
            found.append(Message(time * MS, quads))
        time += 1
    return found


def over(window: str, r2s: str = "", after: str = "") -> Query:
    """A query that shows what a window holds. Without STEP a window tumbles in RSP-QL; ``MOVING …`` is
    one without, as in CQELS, which moves with every message."""
    moving = window.startswith("MOVING ")
    query = parse(
        f"SELECT {r2s} ?s FROM NAMED WINDOW <urn:w> ON STREAM <{STREAM}> [{window.removeprefix('MOVING ')}] "
        f"{after} WHERE {{ WINDOW <urn:w> {{ ?s ?p ?o }} }}",
        "rspql",
    )
    if not moving:
        return query
    (declared,) = query.dataset.windows
    assert isinstance(declared.kind, Range | Past)
    semantics = declared.semantics
    if semantics.report.window_close:
        semantics = replace(
            semantics, report=replace(semantics.report, window_close=False, content_change=True)
        )
    declared = replace(declared, kind=replace(declared.kind, step=None), semantics=semantics)
    return replace(query, dataset=replace(query.dataset, windows=(declared,)))


def shown(at: int, letters: Sequence[str]) -> str:
    return f"{at // MS if at % MS == 0 else at / MS}:{''.join(sorted(letters))}"


def seen(window: str, drawing: str, *, end: bool = True, r2s: str = "", after: str = "") -> list[str]:
    """Evaluations as ``"5:ab"``: the time in ms and what came out, in order of letters.

    Both evaluators must agree, ``interval`` with the input whole and message by message; it does not tell
    apart several evaluations of one time.
    """
    return seen_by(over(window, r2s, after), messages(drawing), end=end)


def seen_by(query: Query, stream: Sequence[Message], *, end: bool = True) -> list[str]:
    done = evaluations(query, {STREAM: stream}, end=end)
    found = [shown(each.at, [row["s"].value for row in each.rows]) for each in done]
    lateness = max(window.semantics.lateness for window in query.dataset.windows)
    for size in (len(stream) or 1, 1):
        assert interval_sees(query, stream, size, lateness, end) == merged(found), (
            f"interval, {size} at a time"
        )
    return found


def merged(found: Sequence[str]) -> list[str]:
    """Evaluations of one time as one."""
    pairs = [each.split(":") for each in found]
    return [
        f"{time}:{''.join(sorted(letter for _, letters in same for letter in letters))}"
        for time, same in groupby(pairs, key=lambda pair: pair[0])
    ]


def interval_sees(query: Query, stream: Sequence[Message], size: int, lateness: int, end: bool) -> list[str]:
    query = replace(query, semantics=replace(query.semantics, report_empty=True))
    dictionary = Dictionary()
    evaluator = IntervalEvaluator(query, Background(), dictionary)
    letters: dict[int, list[str]] = {}
    for slab in slabs(stream, size, lateness, end, dictionary):
        answers: Answers = evaluator.advance(slab)
        for at in answers.empty.tolist():
            letters.setdefault(at, [])
        texts = dictionary.texts(answers.columns["s"])
        for at, text in zip(answers.at.tolist(), texts, strict=True):
            letters.setdefault(at, []).append(text.strip("<>"))
    return [shown(at, letters[at]) for at in sorted(letters)]


def slabs(
    stream: Sequence[Message], size: int, lateness: int, end: bool, dictionary: Dictionary
) -> Iterator[Slab]:
    ordered = sorted(stream, key=lambda message: message.time)
    through = -(2**61)
    for low in range(0, len(ordered), size):
        part = ordered[low : low + size]
        through = max(message.time for message in part) - lateness
        yield Slab({STREAM: batch(part, dictionary)}, through)
    if end:
        yield Slab({}, through, end=True)


def batch(sent: Sequence[Message], dictionary: Dictionary) -> Messages:
    quads = [quad for message in sent for quad in message.quads]
    columns = [dictionary.encode_terms([quad[place] for quad in quads]) for place in range(4)]
    counts = np.array([len(message.quads) for message in sent], np.int64)
    position = np.arange(len(quads)) - np.repeat(np.cumsum(counts) - counts, counts)
    time = np.array([message.time for message in sent], np.int64)
    return Messages(time, counts, np.repeat(np.arange(len(sent)), counts), position, *columns)
