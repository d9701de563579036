"""The queries of one slot, evaluated together: frames in, answers out. No Spark here.

Each stream has an inbox per (lateness, AHEAD, TIMES, first batch): T counts what a query sees, which begins
with its first batch. Inboxes that began at different times become one as soon as they are alike. Queries are
advanced in an order in which a query comes after those whose output it reads, so chains run inside one step.
What a step does depends only on the state, the frames, the batch id and the wall clock recorded with the
batch.

A query that fails says so in ``failures``; whatever else it left behind is unknown, so the group is thrown
away and the step made again, by one in which the query is ``ending`` (``pipeline.advance``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa

from weir.kernel.contract import FOREVER, Answers, Slab
from weir.language.algebra.windows import Triples
from weir.linked.service import ServiceConfig, ServiceResolver
from weir.plan.analysis.chain import evaluation_order
from weir.plan.analysis.demand import Reading
from weir.rdf.columns import NEVER, Ids, sorted_set
from weir.rdf.messages import Messages
from weir.runtime.control.catalog import Catalog, Registration, StreamEntry
from weir.runtime.control.failure import Failure
from weir.runtime.ingest.frames import Frame
from weir.runtime.ingest.order import Dropped, Inbox, InboxKey, mergeable
from weir.runtime.worker.alone import Failures
from weir.runtime.worker.derived import frame_of, texts_in
from weir.runtime.worker.members import Member, SharedQueries, horizon
from weir.runtime.worker.texts import StreamTexts, TextChunk
from weir.runtime.worker.together import Answered, AnsweredTogether, Together, counting
from weir.runtime.worker.turns import in_order_of_time, levels

_DERIVED_AHEAD = 2**61
_MANY_TEXTS = 200_000


@dataclass(slots=True)
class Step:
    """The outcome of one step: answers in the order of evaluation (``shared`` those of queries that are
    evaluated together), what was dropped, whether all is over. The evaluations of a split query count where
    it ``tells`` of them."""

    answered: list[Answered] = field(default_factory=list)
    shared: list[AnsweredTogether] = field(default_factory=list)
    dropped: list[tuple[str, Dropped]] = field(default_factory=list)
    ended: bool = False
    evaluations: int = 0
    results: int = 0

    def each(self) -> Iterator[Answered]:
        """The answers of every query by itself."""
        yield from self.answered
        for together in self.shared:
            for name, answers in together.answers.items():
                yield Answered(together.members[name], answers)


@dataclass(frozen=True, slots=True)
class Given:
    """What a query is given in a step; ``complete`` is the time below which it has all messages then."""

    slab: Slab
    complete: int


class Group:
    """``dictionary`` holds the texts of everything alive in the group; ``services`` are what is declared
    about SERVICE endpoints; ``origin`` names the checkpoint that the group belongs to.

    ``ending`` are the queries that are known to fail in the coming step, ``standing`` the streams that failed
    queries made, with what those were: their readers wait, and find them where they left them.
    """

    def __init__(
        self,
        dictionary: StreamTexts,
        streams: Mapping[str, StreamEntry],
        services: Mapping[str, ServiceConfig] | None = None,
        origin: str = "",
    ) -> None:
        self.origin = origin
        self.dictionary = dictionary
        self.services = ServiceResolver(dictionary, services)
        self.streams = streams
        self.members: dict[str, Member] = {}
        self.inboxes: dict[InboxKey, Inbox] = {}
        self.places: dict[InboxKey, InboxKey] = {}
        """Where readings are read: in the inbox that began with their batch, or in an elder that is alike."""
        self.derived: dict[str, int] = {}
        self._texts_kept = 0
        self._order: dict[str, tuple[int, bool]] = {}
        self.shared: dict[tuple[Reading, int], SharedQueries] = {}
        """By what they read and the first batch of their inbox."""
        self.failures = Failures()
        self.followed: Catalog | None = None  # Its members have the updates of graphs that it tells of.
        self.ending: Mapping[str, Failure] = {}
        self.standing: dict[str, Registration] = {}

    def add(self, *members: Member) -> None:
        """Take in queries; the inboxes that they read from are made where they are missing."""
        for member in members:
            self.members[member.name] = member
        self._arrange()
        self._share(members)
        self.dictionary.settle()

    def _share(self, members: Iterable[Member]) -> None:
        """Put queries that have no evaluator of their own to those that read the same inbox."""
        outputs = self._outputs()
        for member in members:
            if member.evaluator is None:
                reading = member.readings[0]
                place = reading, self._key(reading, member, outputs)[-1]
                if place not in self.shared:
                    self.shared[place] = SharedQueries(self.dictionary)
                self.shared[place].add(member)

    def settle(self, places: Mapping[InboxKey, InboxKey]) -> None:
        """Read from the inboxes that a stored state has for its readings."""
        known = {own: places.get(own, key) for own, key in self.places.items()}
        if known != self.places:
            self.places, self.shared = known, {}
            self._arrange()
            self._share(self.members.values())

    def drop(self, name: str) -> None:
        """Remove a query, and the inboxes that no other reads."""
        del self.members[name]
        for shared in self.shared.values():
            shared.drop(name)
        self.shared = {place: shared for place, shared in self.shared.items() if shared.names}
        self.services.drop(name)
        self._arrange()

    def end(self, name: str) -> None:
        """A query has failed, and what it could still say is said: nothing of it is left but its output,
        which stands still."""
        member = self.members[name]
        output = member.query.output
        if output in self.derived:
            self.standing[output] = member.registration
        self.drop(name)

    def starving(self) -> list[Failure]:
        """Queries that read what stands still and other streams beside it: they would wait, and keep whatever
        comes from the others meanwhile. They fail as well."""
        found = []
        for member in self.members.values():
            read = {reading.stream for reading in member.readings}
            still = sorted(read & self.standing.keys())
            if still and read - self.standing.keys():
                maker = self.standing[still[0]].name
                reason = f"it reads <{still[0]}>, and the query {maker!r}, which makes it, failed"
                since, slot = member.registration.since, self.failures.slot
                found.append(Failure(member.name, since, reason, None, None, slot))
        return found

    def _arrange(self) -> None:
        queries = {name: member.query for name, member in self.members.items()}
        found = levels(evaluation_order(queries), queries)
        self._order = dict(sorted(found.items(), key=lambda item: item[1]))
        outputs = self._outputs()
        wanted: dict[InboxKey, Inbox] = {}
        places: dict[InboxKey, InboxKey] = {}
        for member in self.members.values():
            for reading in member.readings:
                own = self._own_key(reading, member, outputs)
                key = places[own] = self.places.get(own, own)
                entry = self.streams.get(reading.stream)
                idle = entry.idle if entry and reading.stream not in outputs else None
                number = entry.number if entry else 0
                known = wanted.get(key) or self.inboxes.get(key)
                wanted[key] = known or Inbox(key[1], key[2], idle, number, distinct=key[3])
        self.inboxes, self.places = wanted, places
        read = {key[0] for key in wanted}
        self.derived = {iri: self.derived.get(iri, 0) for iri in outputs if iri in read}

    def _outputs(self) -> dict[str, str]:
        """The streams that queries of this group make, and which query makes them, or made them."""
        made = {
            member.query.output: name
            for name, member in self.members.items()
            if member.query.output is not None
        }
        return {**{stream: maker.name for stream, maker in self.standing.items()}, **made}

    def _own_key(self, reading: Reading, member: Member, outputs: Mapping[str, str]) -> InboxKey:
        since = member.registration.since
        if reading.stream in outputs:
            return reading.stream, 0, _DERIVED_AHEAD, False, since
        entry = self.streams.get(reading.stream)
        distinct = reading.distinct or (entry is not None and entry.times_distinct)
        return reading.stream, reading.lateness, reading.ahead, distinct, since

    def _key(self, reading: Reading, member: Member, outputs: Mapping[str, str]) -> InboxKey:
        return self.places[self._own_key(reading, member, outputs)]

    def step(self, frames: Sequence[Frame], batch: int, now: int) -> Step:
        """Take in the frames of a batch and evaluate what they complete; ``now`` is µs of wall clock."""
        step = Step()
        self._expire_texts()
        self._take_texts(frames, batch)
        outputs = self._outputs()
        for key, inbox in self.inboxes.items():
            if key[0] not in outputs:
                told = inbox.admit([f for f in frames if f.stream == key[0]], batch, now)
                step.dropped += [(key[0], item) for item in told]
        self._stand_still(batch, now)
        for (_, calling), names in groupby(self._order, self._order.__getitem__):
            members = [self.members[name] for name in names]
            if calling:
                advanced = self._take_turns(members, outputs, batch, now)
            else:
                advanced = self._one_by_one(members, outputs, step, batch, now)
            for member, answers in advanced:
                step.answered.append(Answered(member, answers))
                step.evaluations += answers.evaluations if member.tells else 0
                step.results += len(answers.at)
        self._forget(outputs)
        for elder, younger in mergeable(self.inboxes):
            self._take_over(elder, younger)
        step.ended = self.ended
        return step

    @property
    def ended(self) -> bool:
        """Whether nothing more can come of any query here."""
        return all(member.done for member in self.members.values())

    def _one_by_one(
        self, members: Sequence[Member], outputs: Mapping[str, str], step: Step, batch: int, now: int
    ) -> Iterator[tuple[Member, Answers]]:
        """Those whose output others read first. Queries that are evaluated together have one input, and none
        reads another's output: all of them come with the first."""
        advanced: set[tuple[Reading, int]] = set()
        for member in members:
            if member.evaluator is None:
                place = member.readings[0], self._key(member.readings[0], member, outputs)[-1]
                if place not in advanced:
                    advanced.add(place)
                    self._together(self.shared[place], outputs, step, batch, now)
                continue
            answers = None
            with self.failures.of(member.registration):
                given = self._given(member, outputs, batch, now)
                if given is not None and member.evaluator is not None:
                    answers = member.evaluator.advance(given.slab)
                    answers = self._settle(member, given, answers, batch, now)
            if answers is not None:
                yield member, answers

    def _together(
        self, shared: SharedQueries, outputs: Mapping[str, str], step: Step, batch: int, now: int
    ) -> None:
        """Advance queries that are evaluated together."""
        members = {name: self.members[name] for name in sorted(shared.names)}
        first = next(iter(members.values()))
        reading = first.readings[0]
        box = self.inboxes[self._key(reading, first, outputs)]
        work = Together(shared, members, reading.stream, box, self.failures)
        for each in work.ending(self.ending):
            step.answered.append(each)
            ends = self.ending[each.member.name].at
            reached = work.through if ends is None else min(work.through, ends)
            self._tell_readers(each.member, each.answers, reached, batch, now)
        together = work.advance()
        if together is None:
            return
        step.shared.append(together)
        counts = list(together.answers.counts())
        share = together.seconds / max(sum(1 + results for _, _, results in counts), 1)
        for name, evaluations, results in counts:
            self.members[name].evaluations += evaluations
            self.members[name].results += results
            self.failures.seconds[name] = share * (1 + results)
            step.evaluations += evaluations
            step.results += results
        for name, member in members.items():
            if member.query.output in self.derived:
                self._tell_readers(member, together.answers.of(name), work.through, batch, now)

    def _tell_readers(self, member: Member, answers: Answers, through: int, batch: int, now: int) -> None:
        output = member.query.output
        if output in self.derived:
            self._derive(output, member, answers, through, batch, now)

    def _take_turns(
        self, members: Sequence[Member], outputs: Mapping[str, str], batch: int, now: int
    ) -> Iterator[tuple[Member, Answers]]:
        """Queries that call SERVICE and do not read each other's output, all in the order of time."""
        given, steps = {}, {}
        for member in members:
            with self.failures.of(member.registration):
                found = self._given(member, outputs, batch, now)
                if found is not None and member.evaluator is not None:
                    given[member.name], steps[member.name] = found, member.evaluator.steps(found.slab)

        def work(name: str, step: Callable[[], None]) -> None:
            with self.failures.of(self.members[name].registration):
                step()

        answers = in_order_of_time(steps, self.services.together, work)
        for member in members:
            if member.name in answers:
                counted = None
                with self.failures.of(member.registration):
                    found = given[member.name]
                    counted = self._settle(member, found, answers[member.name], batch, now)
                if counted is not None:
                    yield member, counted

    def _given(self, member: Member, outputs: Mapping[str, str], batch: int, now: int) -> Given | None:
        """What a query is given in this step; None where nothing can come of it."""
        if member.done or member.evaluator is None:
            return None
        keys = [self._key(reading, member, outputs) for reading in member.readings]
        boxes = {key[0]: self.inboxes[key] for key in keys}
        complete = min((box.complete for box in boxes.values()), default=now)
        end = all(box.progress.ended for box in boxes.values())
        moved = complete > member.given or end
        if complete == NEVER or not (moved or member.as_it_comes):
            return None
        low, high, since = member.given, complete, member.registration.since
        if member.as_it_comes:
            low, high, since = NEVER, FOREVER, max(since, batch)
        through = max((box.progress.high for box in boxes.values()), default=now) if end else complete
        batches = {
            stream: member.part_of(box.take(low, FOREVER if end else high, since), stream)
            for stream, box in boxes.items()
        }
        ending = self.ending.get(member.name)
        most = None if ending is None else ending.before
        return Given(Slab(batches, through, end, member.turn, most, self.failures.room), complete)

    def _settle(self, member: Member, given: Given, answers: Answers, batch: int, now: int) -> Answers:
        """A query has answered what it was given: its output goes to those that read it. What counts of the
        answers of one that ends."""
        ending, through = self.ending.get(member.name), given.slab.through
        member.given, member.done = given.complete, given.slab.end and ending is None
        if ending is not None and ending.at is not None:
            answers, through = counting(answers, ending), min(through, ending.at)
        member.count(answers)
        self._tell_readers(member, answers, through, batch, now)
        return answers

    def _stand_still(self, batch: int, now: int) -> None:
        """Queries that end before their first evaluation of this batch have said all that lies before it."""
        for stream, maker in self.standing.items():
            ending = self.ending.get(maker.name)
            if stream in self.derived and ending is not None and ending.at is not None:
                reached = ending.at + maker.query.semantics.emit_after
                frame = Frame(stream, "", self.derived[stream], reached, False, Messages())
                for key, inbox in self.inboxes.items():
                    if key[0] == stream:
                        inbox.admit([frame], batch, now)

    def _derive(
        self, stream: str, member: Member, answers: Answers, through: int, batch: int, now: int
    ) -> None:
        """The output of a CONSTRUCT as messages, one per evaluation, for the queries that read it. Where one
        of them counts triples, they are in the order in which they are written."""
        first, counted = self.derived[stream], self._is_counted(stream)
        frame = frame_of(stream, first, member, answers, through, self.dictionary, counted=counted)
        self.derived[stream] += len(frame.messages.time)
        chunk = texts_in(frame, f"d{batch}.{list(self.derived).index(stream)}", self._until, self.dictionary)
        if chunk is not None:
            self.dictionary.add_chunk(chunk)
        for key, inbox in self.inboxes.items():
            if key[0] == stream:
                inbox.admit([frame], batch, now)

    def _is_counted(self, stream: str) -> bool:
        """Whether a window shows so many triples of a stream."""
        return any(
            isinstance(window.kind, Triples)
            for member in self.members.values()
            if any(reading.stream == stream for reading in member.readings)
            for window in member.query.dataset.windows
        )

    def _take_texts(self, frames: Iterable[Frame], batch: int) -> None:
        brought = [frame for frame in frames if len(frame.text_ids)]
        if not brought:
            return
        ids = np.concatenate([frame.text_ids for frame in brought])
        texts = pa.concat_arrays([frame.texts for frame in brought])
        until = self._until(max(int(frame.messages.time.max()) for frame in brought))
        self.dictionary.add_chunk(TextChunk.of(f"b{batch}", ids, texts, until))
        if until == FOREVER and self.dictionary.held > 2 * self._texts_kept + _MANY_TEXTS:
            self.dictionary.keep_only(sorted_set(np.concatenate([self.live_ids(), ids])), f"l{batch}")
            self._texts_kept = self.dictionary.held

    def _until(self, time: int) -> int:
        """When nothing can need the texts of messages of ``time`` any more; chained queries pass them on."""
        lasting = [horizon(member.query) for member in self.members.values()]
        if None in lasting:
            return FOREVER
        spans = [span for span in lasting if span is not None]
        return time + (sum(spans) if self.derived else max(spans, default=0))

    def live_ids(self) -> Ids:
        """Every id that a waiting message or an evaluator holds."""
        columns = [
            getattr(inbox.waiting, name)
            for inbox in self.inboxes.values()
            for name in ("subject", "predicate", "object", "graph")
        ]
        evaluators: list[Any] = [member.evaluator for member in self.members.values()]
        columns += [each.live_ids() for each in evaluators if hasattr(each, "live_ids")]
        columns += [shared.evaluator.live_ids() for shared in self.shared.values()]
        return sorted_set(np.concatenate(columns)) if columns else np.empty(0, np.int64)

    def _forget(self, outputs: Mapping[str, str]) -> None:
        """Drop what every reader has."""
        needed = dict.fromkeys(self.inboxes, FOREVER)
        for member in self.members.values():
            if not (member.done or member.as_it_comes):
                for reading in member.readings:
                    key = self._key(reading, member, outputs)
                    needed[key] = min(needed[key], member.given)
        for key, inbox in self.inboxes.items():
            inbox.forget(needed[key])

    def _take_over(self, elder: InboxKey, younger: InboxKey) -> None:
        """One inbox serves the readers of both."""
        del self.inboxes[younger]
        moved = {own for own, key in self.places.items() if key == younger}
        self.places |= dict.fromkeys(moved, elder)
        outputs = self._outputs()
        for place, shared in list(self.shared.items()):
            members = [self.members[name] for name in sorted(shared.names)[:1]]
            if any(self._own_key(place[0], member, outputs) in moved for member in members):
                known = self.shared.setdefault((place[0], elder[-1]), shared)
                del self.shared[place]
                if known is not shared:
                    known.take_over(shared)

    def _expire_texts(self) -> None:
        """Drop the texts that nothing alive can need; answers of the step before have been written out."""
        reached = [member.given for member in self.members.values() if not member.done]
        self.dictionary.expire(min(reached, default=FOREVER))
        self.dictionary.forget_computed()
