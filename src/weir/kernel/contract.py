"""What an evaluator is: what goes in (messages in batches, static graphs), what comes out, what it promises.

Streams arrive as columns of term ids, ``Messages``. A slab lists *all* messages of a stream since the last,
sorted by (time, lane, position), with their numbers of triples, but only the triples that some
registered pattern can match: arrival, emptiness and counts concern all messages and triples.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol, TypeAlias

import numpy as np

from weir.errors import EvaluationError
from weir.rdf.columns import Ids
from weir.rdf.messages import Messages

NO_GRAPH = 0
"""The graph column of a triple outside any named graph; also the id of *unbound* in relations."""
FOREVER = np.iinfo(np.int64).max
_WORTH = 8


@dataclass(frozen=True, slots=True)
class GraphIndex:
    """How the triples of a large graph are found without a scan, in columns that may lie in a mapped file.

    The rows of a predicate are the range ``runs`` has for it, in the order of subject and object; in the same
    range ``by_object`` has those rows in the order of ``objects``.
    """

    runs: Mapping[int, tuple[int, int]]
    by_object: Ids
    objects: Ids


@dataclass(frozen=True, slots=True)
class GraphTable:
    """A graph as columns of term ids; equal triples have disjoint validity (it is a set). One that never
    changes may have an ``index``."""

    subject: Ids
    predicate: Ids
    object: Ids
    start: Ids | None = None
    end: Ids | None = None
    index: GraphIndex | None = field(default=None, kw_only=True)

    @staticmethod
    def empty() -> GraphTable:
        none = np.empty(0, np.int64)
        return GraphTable(none, none, none)


@dataclass(frozen=True, slots=True)
class Background:
    """The default graph given at registration and the named graphs, by IRI.

    A graph in ``made`` was not there from the beginning: it exists from the earliest of these times on, also
    when its last triple has gone.
    """

    default: GraphTable = field(default_factory=GraphTable.empty)
    named: Mapping[str, GraphTable] = field(default_factory=dict)
    made: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Slab:
    """New messages per stream IRI, and the event time ``through`` which the query's data are complete.

    ``through`` is the query's T: closes c ≤ T and content changes τ < T can be evaluated. ``end`` says
    that the input is finite and over: every window that holds a message is reported, in order.

    ``turn`` (which, of how many) is for evaluators that get the same slabs and share the work: together they
    evaluate every time once, each a stretch of them (``stretch``).

    With ``most`` only so many evaluations are made, the first ones: the next one is known to fail. The
    evaluator is of no use after that. With ``room`` an evaluation fails that comes after so many answers.
    """

    batches: Mapping[str, Messages]
    through: int
    end: bool = False
    turn: tuple[int, int] = (0, 1)
    most: int | None = None
    room: int | None = None

    def stretch(self, count: int) -> tuple[int, int]:
        """The first of ``count`` evaluation times that is this turn's, and the first that is no longer. A few
        are not worth sharing."""
        which, of = self.turn
        if count < _WORTH * of:
            return (0, count) if which == 0 else (count, count)
        return count * which // of, count * (which + 1) // of


@dataclass(frozen=True, slots=True)
class Answers:
    """Results in order of evaluation time: ``at`` µs (before EMIT AFTER), one row per solution.

    SELECT: a column of ids per variable (0 is unbound). CONSTRUCT/DESCRIBE: the columns are
    ``subject``, ``predicate``, ``object``. ASK: the one column ``boolean`` holds 0 or 1.
    ``empty`` lists the evaluation times without results, where the query asks for them. Where several
    evaluations have one time (TICK TUPLE), ``numbers`` tells them apart: the number of the evaluation of each
    row, and of each item of ``empty``.
    """

    at: Ids
    columns: Mapping[str, Ids]
    empty: Ids = field(default_factory=lambda: np.empty(0, np.int64))
    evaluations: int = 0
    numbers: tuple[Ids, Ids] | None = None

    @property
    def count(self) -> int:
        """How many there are; an evaluation that is told of without results is one, too."""
        return len(self.at) + len(self.empty)

    @property
    def evaluation(self) -> Ids:
        """What tells the evaluations of rows apart, ascending."""
        return self.at if self.numbers is None else self.numbers[0]

    def older(self, than: int) -> Answers:
        """Those before a time."""
        rows, silent = int(self.at.searchsorted(than)), int(self.empty.searchsorted(than))
        columns = {name: column[:rows] for name, column in self.columns.items()}
        numbers = None if self.numbers is None else (self.numbers[0][:rows], self.numbers[1][:silent])
        return Answers(self.at[:rows], columns, self.empty[:silent], self.evaluations, numbers)


Steps: TypeAlias = Generator[int, None, Answers]
"""An advance taken one evaluation at a time: it gives the time of each evaluation before it is made, and the
answers of all at the end."""


def all_of(steps: Steps) -> Answers:
    """All of the steps, one after the other."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            answers: Answers = done.value
            return answers


class Evaluator(Protocol):
    """The two evaluators, ``reference`` and ``interval``: same query and data, same answers."""

    def advance(self, slab: Slab) -> Answers:
        """Evaluate every evaluation time that the slab completes. Deterministic and cut-invariant.

        Raises ``FailedAt`` where an evaluation fails by itself; limits hold for each one, not for a slab."""
        ...

    def steps(self, slab: Slab) -> Steps:
        """``advance`` one evaluation at a time, for queries that take turns: their evaluations can be made in
        the order of time."""
        ...

    def snapshot(self) -> bytes:
        """The whole state, readable by ``restore`` in another process."""
        ...

    def restore(self, state: bytes) -> None:
        """Replace the state by one that ``snapshot`` gave for the same query."""
        ...

    def renew(self, background: Background) -> None:
        """Use other static graphs from the next slab on; the state stays."""
        ...

    def statistics(self) -> Mapping[str, Any]:
        """Counters for ``explain --analyze`` and metrics: live rows, evaluations, routes taken."""
        ...


@dataclass(frozen=True, slots=True)
class Stretch:
    """Rows of a table from number ``start`` on, of which those below ``first`` are gone by now."""

    first: int
    start: int
    columns: list[Ids]


class Segmented(Protocol):
    """An evaluator whose state is mostly tables to which rows are appended and from which old ones go.

    Rows have absolute numbers, so that a store can keep a table as panes, write only rows it has not seen,
    and drop a pane whole once all its rows are gone. Law: ``rebuild`` of ``core`` and the live rows of every
    table is ``restore`` of ``snapshot``; so is, on an evaluator in an earlier state of the same history,
    ``rebuild`` of the rows that came since.
    """

    def core(self) -> bytes:
        """Everything but the tables."""
        ...

    def tables(self) -> Mapping[str, tuple[int, int]]:
        """The number of the first live row of each table, and the number that the next row will get."""
        ...

    def rows(self, table: str, first: int, end: int) -> list[Ids]:
        """The columns of the rows with these numbers."""
        ...

    def rebuild(self, core: bytes, tables: Mapping[str, Stretch]) -> None:
        """Replace the state by a stored one. A stretch that starts where a table ends is appended to it;
        any other replaces the table, and must then hold all live rows."""
        ...


class Lack(Enum):
    """Everything that a query may need and does not get here, in words."""

    DRAWS_IN_EXISTS = "RAND, UUID, STRUUID or BNODE inside EXISTS"
    DRAWS_IN_GRAPH = "RAND, UUID, STRUUID or BNODE inside GRAPH ?g"
    DRAWS_BESIDE_EXISTS = "EXISTS on a variable bound beside RAND, UUID, STRUUID or BNODE"
    DRAWS_WITH_EXISTS = "RAND, UUID, STRUUID or BNODE and EXISTS in one aggregate or key of ORDER BY"
    NESTED_SERVICE = "SERVICE inside GRAPH ?g, or inside an EXISTS that reads outer variables"
    NO_ENDPOINTS = "SERVICE without endpoints to call"


NOT_ITS_OWN = (KeyboardInterrupt, GeneratorExit)
"""What is no failure of an evaluation: somebody wants the process to stop."""


def refuse_more(answers: int, room: int | None) -> None:
    """Raise where there is no room for so many answers: one message may complete any number of evaluations,
    and their answers are kept until all are made."""
    if room is not None and answers > room:
        raise EvaluationError(
            f"more than {room:,} answers in one batch",
            hint="a message that lies far ahead of those before it completes all evaluations between: AHEAD "
            "in the query's windows sets it aside",
        )


class FailedAt(Exception):
    """An evaluation failed: the one at ``time``, after ``before`` others of its slab, None where they were
    not counted. The error itself is the cause; it may be anything."""

    def __init__(self, time: int, before: int | None) -> None:
        super().__init__(f"the evaluation at {time} failed")
        self.time = time
        self.before = before


class NotCovered(EvaluationError):
    """The query needs what ``interval`` lacks."""

    def __init__(self, lack: Lack | str) -> None:
        super().__init__(lack.value if isinstance(lack, Lack) else lack)
