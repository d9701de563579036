"""A simulation with a seed: a story of input and changes, told twice.

Once plainly: one worker, no faults, each query by the reference evaluator. Once as the world is: slots and
workers that take turns and forget, batches that crash in every place and are repeated from the state before
them, a second driver that does the same batch, sinks that fail, clocks that jump, queries that fail by
chance. Both must have written the same, to the byte, but that a query which failed by chance is silent from
then on, or, where the batch was written before it was repeated and the query failed, from the next batch on.

Everything that is random comes from the seed, so a seed that fails fails again.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from weir.errors import UsageError
from weir.kernel.functions import builtins
from weir.language.algebra.expressions import Builtin
from weir.linked.graphs import GraphSources
from weir.rdf.formats.tnq import parse_lines
from weir.rdf.messages import Parsed
from weir.rdf.terms import Literal, Term
from weir.runtime.control.catalog import StreamEntry, entry_of
from weir.runtime.control.failure import Failure
from weir.runtime.direct import DirectJob, MemoryStore
from weir.runtime.ingest.frames import Frame
from weir.runtime.ingest.parts import LaneInput
from weir.runtime.output.sinks.base import Results, Sink
from weir.runtime.output.sinks.result_files import ExactFile, json_lines_sink

KEY = b"simulation"
E = "http://e/"
STREAMS = ("s", "r")
IDLE = 5_000_000
POISON = "endpoint"
"""What those say that fail by a message, wherever it is read."""
Line = dict[str, Any]


class Crash(BaseException):
    """The driver or a worker is gone."""


@dataclass(frozen=True)
class Turn:
    """One batch of a story: the changes before it, the lines of each (stream, lane), the clock."""

    changes: tuple[tuple[str, ...], ...]
    lines: dict[tuple[str, str], str]
    ends: bool
    now: int


@dataclass(frozen=True)
class Story:
    """What happens, whoever tells it."""

    seed: int
    turns: tuple[Turn, ...]


QUERIES: dict[str, str] = {
    "count": "SELECT ?y (COUNT(*) AS ?n) {w} WHERE {{ WINDOW <w> {{ ?x :p ?y }} }} GROUP BY ?y",
    "rows": "SELECT ?x ?y {w} WHERE {{ WINDOW <w> {{ ?x :p ?y }} }}",
    "join": "SELECT ?x ?z {w} WHERE {{ WINDOW <w> {{ ?x :p ?y . ?x :q ?z }} }}",
    "static": "SELECT ?x ?c {w} WHERE {{ WINDOW <w> {{ ?x :p ?y }} GRAPH <g> {{ ?y :c ?c }} }}",
    "absent": "SELECT ?x {w} WHERE {{ WINDOW <w> {{ ?x :p ?y }} MINUS {{ WINDOW <w> {{ ?x :q ?z }} }} }}",
    "shout": "SELECT ?x (UCASE(STR(?y)) AS ?z) {w} WHERE {{ WINDOW <w> {{ ?x :p ?y }} }}",
    "call": "SELECT ?x ?z {w} WHERE {{ WINDOW <w> {{ ?x :e ?e }} SERVICE ?e {{ ?x :q ?z }} }}",
    "ask": "ASK {w} WHERE {{ WINDOW <w> {{ ?x :q ?y }} }}",
}
MAKES = "CONSTRUCT {{ ?x :p ?y }} {w} WHERE {{ WINDOW <w> {{ ?x :p ?y }} }}"
CALLS = "CONSTRUCT {{ ?x :p ?z }} {w} WHERE {{ WINDOW <w> {{ ?x :e ?e }} SERVICE ?e {{ ?x :q ?z }} }}"
SHARED = "SELECT ?x {w} WHERE {{ WINDOW <w> {{ ?x :p <http://e/y{k}> . ?x :q ?z }} }}"
WINDOWS = (
    "RANGE 10 STEP 10",
    "RANGE 20 STEP 10",
    "RANGE 15 STEP 5 LATENESS 5",
    "RANGE 20 STEP 20 REPORT CONTENT CHANGE",
    "NOW",
    "TRIPLES 3",
    "ELEMENTS 4",
)


def text_of(name: str, form: str, window: str, operator: str, stream: str, k: int = 0) -> str:
    clause = f"FROM NAMED WINDOW <w> ON <{stream}> [{window}]"
    return f"PREFIX : <{E}> REGISTER {operator} <{name}> AS " + form.format(w=clause, k=k)


def story(seed: int) -> Story:
    """A story: queries come, go, are paused and resumed while messages come, some of them poison."""
    dice = random.Random(seed)
    known: list[str] = []
    number = 0
    clock = 0
    now = 1_000_000_000
    turns = []
    for turn in range(dice.randint(4, 9)):
        changes: list[tuple[str, ...]] = []
        for _ in range(dice.choice((0, 1, 1, 2)) if turn else dice.randint(3, 6)):
            what = dice.random()
            if what < 0.6 or not known:
                number += 1
                name = f"q{number}"
                form = dice.choice(sorted(QUERIES))
                window, operator = (
                    dice.choice(WINDOWS),
                    dice.choice(("RSTREAM", "RSTREAM", "ISTREAM", "DSTREAM")),
                )
                if form == "ask":
                    operator = "RSTREAM"
                changes.append(
                    ("register", name, text_of(name, QUERIES[form], window, operator, dice.choice(STREAMS)))
                )
                known.append(name)
            elif what < 0.7:
                number += 1
                made = f"m{number}"
                form = dice.choice((MAKES, MAKES, CALLS))
                changes.append(
                    (
                        "register",
                        made,
                        text_of(made, form, dice.choice(WINDOWS[:3]), "RSTREAM", dice.choice(STREAMS)),
                    )
                )
                number += 1
                name = f"q{number}"
                form = QUERIES[dice.choice(("count", "rows"))]
                changes.append(
                    ("register", name, text_of(name, form, dice.choice(WINDOWS[:2]), "RSTREAM", made))
                )
                known += [name]
            elif what < 0.75:
                number += 1
                window, stream = dice.choice(WINDOWS[:2]), dice.choice(STREAMS)
                some = {
                    f"q{number}x{k}": text_of(f"q{number}x{k}", SHARED, window, "RSTREAM", stream, k)
                    for k in range(17)
                }
                changes.append(("together", json.dumps(some)))
                known += list(some)[:2]
            elif what < 0.85:
                changes.append((dice.choice(("pause", "resume", "resume")), dice.choice(known)))
            elif what < 0.92:
                changes.append(("drop", known.pop(dice.randrange(len(known)))))
            else:
                verb = dice.choice(("INSERT", "DELETE"))
                changes.append(
                    (
                        "update",
                        f"{verb} DATA {{ GRAPH <g> {{ <{E}y{dice.randrange(4)}> <{E}c> 1 }} }}",
                    )
                )
        lines: dict[tuple[str, str], str] = {}
        begin = clock
        for stream in STREAMS:
            for lane in "01"[: dice.randint(1, 2)]:
                clock = begin + dice.randint(0, 3)
                told = []
                for _ in range(dice.randrange(9)):
                    clock += dice.choice((0, 1, 1, 2, 5, 12))
                    at = clock - (dice.randrange(8) if dice.random() < 0.1 else 0)
                    told.append(f"{max(at, 0)}\t{statement(dice)} .\n")
                lines[stream, lane] = "".join(told)
        clock = begin + dice.randint(5, 30)
        now += dice.choice((1_000_000, 1_000_000, 10_000_000, -3_000_000, 86_400_000_000))
        turns.append(Turn(tuple(changes), lines, False, now))
    turns.append(Turn((), {}, True, now + 1_000_000))
    return Story(seed, tuple(turns))


def statement(dice: random.Random) -> str:
    subject = f"<{E}x{dice.randrange(5)}>"
    what = dice.random()
    if what < 0.6:
        return f"{subject} <{E}p> <{E}y{dice.randrange(4)}>"
    if what < 0.94:
        return f"{subject} <{E}q> <{E}z{dice.randrange(3)}>"
    return f'{subject} <{E}e> "no endpoint"'


@lru_cache(maxsize=256)
def parsed_once(data: bytes, scope: str, base: int) -> Parsed:
    return parse_lines(data, scope=scope, key=KEY, base=base)


@dataclass
class Lanes:
    """The input of a story: the lines of a turn, always the same however often it is read."""

    positions: dict[tuple[str, str], int] = field(default_factory=dict)

    def frames(self, job: DirectJob, turn: Turn) -> dict[int, list[Frame]]:
        plan = job.place.match_plan(job.number)
        found: dict[int, list[Frame]] = {slot: [] for slot in plan.active}
        names = sorted({*self.positions, *turn.lines})
        for stream, lane in names:
            data = turn.lines.get((stream, lane), "").encode()
            position = self.positions.get((stream, lane), 0)
            parsed = parsed_once(data, f"{stream} {lane}", position)
            given = LaneInput(lane, parsed, position, len(data), (), ended=turn.ends)
            for slot, frame in plan.frames(stream, given):
                found[slot].append(Frame.from_bytes(frame.to_bytes()))
        return found

    def done(self, turn: Turn) -> None:
        for name, text in turn.lines.items():
            self.positions[name] = self.positions.get(name, 0) + len(text.encode())


def change(job: DirectJob, told: tuple[str, ...], evaluator: str) -> None:
    """One change; what is refused is refused in both tellings."""
    match told:
        case ("register", name, text):
            job.registry.register(text, name, "auto", evaluator)
        case ("together", texts):
            job.registry.register_all(json.loads(texts), "auto", evaluator)
        case ("pause", name):
            job.registry.pause(name)
        case ("resume", name):
            job.registry.resume(name)
        case ("drop", name):
            job.registry.drop(name)
        case ("update", request):
            job.graphs.update(request)


def opened(folder: Path, sinks: Sequence[Sink], slots: int, workers: int) -> DirectJob:
    folder.mkdir(parents=True)
    (folder / "g.ttl").write_text(f"<{E}y0> <{E}c> 0 . <{E}y1> <{E}c> 1 .\n")
    library = GraphSources()
    library.add("g", folder / "g.ttl")
    job = DirectJob(folder / "c", slots=slots, library=library, key=KEY, sinks=sinks, workers=workers)
    entries = [StreamEntry(iri, IDLE, number=number) for number, iri in enumerate(STREAMS)]
    job.control.append(lambda batch: [entry_of(each, batch) for each in entries])
    return job


@dataclass
class Told:
    """What a telling wrote, by query, and which queries failed in it: (batch, failure). ``known`` are the
    failures that were logged when their batch was written."""

    lines: dict[str, list[Line]] = field(default_factory=lambda: defaultdict(list))
    failures: list[tuple[int, Failure]] = field(default_factory=list)
    known: list[tuple[int, Failure]] = field(default_factory=list)
    refused: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)


def plainly(
    story: Story, folder: Path, ends: Sequence[tuple[int, Failure]], known: Sequence[tuple[int, Failure]]
) -> Told:
    """The story without faults. ``ends`` are the queries that failed by chance in the other telling: they are
    paused behind that batch, and what they said in it from that time on is taken back where the failure was
    ``known`` when the batch was written."""
    told = Told()
    job = opened(folder, [], 1, 1)
    lanes = Lanes()
    cut = [each for each in ends if each in known]
    for number, turn in enumerate(story.turns):
        for batch, failure in ends:
            if batch == number - 1:
                job.registry.pause(failure.name)
        told.refused += applied(job, number, turn, "reference")
        for line in job.step(lanes.frames(job, turn), turn.now):
            if not any(batch == number and late(line, failure) for batch, failure in cut):
                told.lines[line["query"]].append(line)
        lanes.done(turn)
    told.failures = logged(job)
    return told


def late(line: Line, failure: Failure) -> bool:
    """Whether a line lies at or beyond the time at which its query failed."""
    if line["query"] != failure.name:
        return False
    if failure.at is None:
        return failure.before is not None
    at = line["at"]
    micros = (int(at[11:13]) * 3600 + int(at[14:16]) * 60 + int(at[17:19])) * 1_000_000
    fraction = at[20:].rstrip("Z")
    return micros + int(fraction.ljust(6, "0")) >= failure.at


def applied(job: DirectJob, number: int, turn: Turn, evaluator: str) -> list[tuple[int, tuple[str, ...]]]:
    refused = []
    for each in turn.changes:
        try:
            change(job, each, evaluator)
        except UsageError:
            refused.append((number, each))
    return refused


def logged(job: DirectJob) -> list[tuple[int, Failure]]:
    """The failures in the control log, with the batch in which each happened."""
    entries = job.checkpoint.control().entries()
    return [(entry.batch - 1, Failure(**entry.values)) for entry in entries if entry.operation == "fail"]


# The world


class Shaky(Sink):
    """The last sink: a crash while or after a batch is delivered; also one that is slow and gives up."""

    form = "jsonl"
    promise = "at least once"

    def __init__(self, faults: Faults) -> None:
        self.faults = faults

    def write(self, batch: int, results: Sequence[Results]) -> None:
        self.faults.maybe("in the sinks")


class ShakyStore(MemoryStore):
    """A state store that a worker may die in the middle of writing to."""

    faults: Faults | None = None

    def copy(self) -> ShakyStore:
        return revived(kept(self), self.faults)

    def put(self, name: str, data: bytes) -> None:
        if self.faults is not None:
            self.faults.maybe("in the state store")
        super().put(name, data)


@dataclass
class Faults:
    """What goes wrong, and where; the more often a batch was tried the less."""

    dice: random.Random
    tried: int = 0
    happened: list[str] = field(default_factory=list)
    chance: float = 0.0

    def maybe(self, where: str) -> None:
        if self.tried < 4 and self.dice.random() < self.chance:
            self.happened.append(where)
            raise Crash(where)


class ShakyJob(DirectJob):
    """A job whose driver may die before and after it logs a failure."""

    faults: Faults

    def _fail(self, batch: int, failures: Sequence[Failure]) -> None:
        self.faults.maybe("before a failure is logged")
        super()._fail(batch, failures)
        self.faults.maybe("after a failure is logged")


@contextmanager
def by_chance(dice: random.Random) -> Iterator[Callable[[], None]]:
    """UCASE fails for some of its values, others in every attempt: call what is given to draw them."""
    errors: tuple[Callable[[], BaseException], ...] = (
        MemoryError,
        lambda: RecursionError("too deep"),
        lambda: OverflowError("too large"),
        lambda: SystemExit(3),
    )
    bad: set[str] = set()
    plain = builtins.BUILTINS[Builtin.UCASE]

    def ucase(text: Term) -> Term:
        if isinstance(text, Literal) and text.lexical in bad:
            raise errors[len(text.lexical) % len(errors)]()
        made: Term = plain(text)
        return made

    def draw() -> None:
        bad.clear()
        if dice.random() < 0.25:
            bad.add(f"{E}y{dice.randrange(4)}")

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(builtins.BUILTINS, Builtin.UCASE, ucase)
        yield draw
        bad.clear()


def shaken(story: Story, folder: Path) -> tuple[Told, list[str]]:
    """The story as the world is; what was written, and what went wrong."""
    dice = random.Random(story.seed * 7919 + 1)
    faults = Faults(dice, chance=dice.choice((0.0, 0.05, 0.2)))
    out, log = folder / "out.jsonl", folder / "out.log"
    slots, workers = dice.randint(1, 3), dice.randint(1, 3)
    told = Told()
    job = world(folder, faults, slots, workers)
    lanes = Lanes()
    file = ExactFile(out, log)
    sink = json_lines_sink(file)
    with by_chance(dice) as draw:
        for number, turn in enumerate(story.turns):
            told.refused += applied(job, number, turn, "auto")
            faults.tried = 0
            before = {slot: kept(store) for slot, store in job.stores.items()}
            written = False
            while job.number == number:
                draw()
                if dice.random() < 0.2:
                    for place in job.places:
                        place.groups.clear()
                if dice.random() < 0.1:
                    second_driver(job, lanes, turn)
                sink.open()
                job.delivery.sinks = [Shaky(faults), sink, Shaky(faults)]
                try:
                    job.step(lanes.frames(job, turn), turn.now)
                except Crash:
                    faults.tried += 1
                    job.stores.clear()
                    job.stores.update({slot: revived(state, faults) for slot, state in before.items()})
                    job.number = number
                    job.restart()
                finally:
                    sink.close()
                if not written and (file.has(number) or job.number > number):
                    written = True
                    told.known += [each for each in logged(job) if each[0] == number]
            lanes.done(turn)
    for line in map(json.loads, out.read_text().splitlines()):
        told.lines[line["query"]].append(line)
    told.failures = logged(job)
    return told, faults.happened


def world(folder: Path, faults: Faults, slots: int, workers: int) -> ShakyJob:
    made = opened_as(ShakyJob, folder, slots, workers)
    made.faults = faults
    made.delivery.fail = made._fail
    made.stores = defaultdict(lambda: revived(({}, None), faults))
    return made


def opened_as(kind: type[ShakyJob], folder: Path, slots: int, workers: int) -> ShakyJob:
    job = opened(folder / "world", [], slots, workers)
    job.__class__ = kind
    assert isinstance(job, ShakyJob)
    return job


State = tuple[dict[str, bytes], bytes | None]


def kept(store: MemoryStore) -> State:
    return dict(store.panes), store.head()


def revived(state: State, faults: Faults | None) -> ShakyStore:
    made = ShakyStore()
    made.panes, made._head = dict(state[0]), state[1]
    made.faults = faults
    return made


def second_driver(job: DirectJob, lanes: Lanes, turn: Turn) -> None:
    """Another driver does the same batch on the same checkpoint, as one that was cut off might; nothing of
    it counts, and nothing of it disturbs."""
    other = DirectJob(job.folder, slots=job.slots, library=job.library, key=KEY)
    other.number = job.number
    other.stores = defaultdict(MemoryStore)
    other.stores.update({slot: revived(kept(store), None) for slot, store in job.stores.items()})
    other.delivery.fail = lambda batch, failures: None
    other.step(lanes.frames(other, turn), turn.now)


def failed(failures: Sequence[tuple[int, Failure]]) -> list[tuple[int, str, int | None]]:
    """Which queries failed, in which batch and at which time; a split one fails once."""
    first: dict[tuple[int, str], int | None] = {}
    for batch, each in failures:
        known = first.get((batch, each.name))
        first[batch, each.name] = each.at if known is None else min(known, each.at or known)
    return sorted((batch, name, at) for (batch, name), at in first.items())


def differences(seed: int, folder: Path) -> list[str]:
    """What differs between the two tellings of a seed; nothing, if all is well."""
    told = story(seed)
    found, happened = shaken(told, folder / "shaken")
    # Those that failed by chance end in the plain telling, too; the others fail there by themselves.
    chance = [(batch, each) for batch, each in found.failures if POISON not in each.reason]
    meant = plainly(told, folder / "plain", chance, found.known)
    have, want = (failed(each) for each in (found.failures, [*meant.failures, *chance]))
    wrong = [f"failed: {have}\n  meant: {want}"] if have != want else []
    for name in sorted({*found.lines, *meant.lines}):
        have, want = (list(map(json.dumps, each.lines.get(name, []))) for each in (found, meant))
        if have != want:
            wrong.append(
                f"{name}: {len(have)} lines, {len(want)} meant\n  have {have[:6]}\n  want {want[:6]}"
            )
    if wrong:
        wrong.append(f"went wrong: {happened}; failures {found.failures}")
    return wrong
