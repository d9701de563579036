"""The queries of one slot, evaluated together: frames in, answers out. No Spark here.

Each stream has an inbox per (lateness, AHEAD, TIMES); queries are advanced in an order in which a query comes
after those whose output it reads, so chains run inside one step. What a step does depends only on the
state, the frames, the batch id and the wall clock recorded with the batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from weir.errors import EvaluationError, WeirError
from weir.kernel.contract import FOREVER, Answers, Slab
from weir.kernel.matching.shared import SharedAnswers
from weir.language.algebra.windows import Triples
from weir.linked.service import ServiceConfig, ServiceResolver
from weir.plan.analysis.chain import evaluation_order
from weir.plan.analysis.demand import Reading
from weir.rdf.columns import NEVER, Ids
from weir.rdf.messages import Messages
from weir.runtime.control.catalog import StreamEntry
from weir.runtime.ingest.frames import Frame
from weir.runtime.ingest.order import Dropped, Inbox
from weir.runtime.output.results import order_of_rows
from weir.runtime.output.text_columns import arrow_texts, coded_texts, texts_of
from weir.runtime.worker.members import Member, SharedQueries, horizon
from weir.runtime.worker.texts import StreamTexts, TextChunk

_DERIVED_AHEAD = 2**61
_MANY_TEXTS = 200_000
InboxKey = tuple[str, int, int, bool]


@dataclass(frozen=True, slots=True)
class Answered:
    """What one query answered in one step."""

    member: Member
    answers: Answers


@dataclass(frozen=True, slots=True)
class AnsweredTogether:
    """What queries that are evaluated together answered in one step."""

    members: Mapping[str, Member]
    answers: SharedAnswers


@dataclass(slots=True)
class Step:
    """The outcome of one step: answers in the order of evaluation (``shared`` those of queries that are
    evaluated together), what was dropped, whether all is over. The evaluations of a split query count in the
    first of its slots."""

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


class Group:
    """``dictionary`` holds the texts of everything alive in the group; ``services`` are what is declared
    about SERVICE endpoints; ``origin`` names the checkpoint that the group belongs to."""

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
        self.derived: dict[str, int] = {}
        self._texts_kept = 0
        self._order: tuple[str, ...] = ()
        self.shared: dict[Reading, SharedQueries] = {}

    def add(self, *members: Member) -> None:
        """Take in queries; the inboxes that they read from are made where they are missing."""
        for member in members:
            self.members[member.name] = member
            if member.evaluator is None:
                reading = member.readings[0]
                if reading not in self.shared:
                    self.shared[reading] = SharedQueries(self.dictionary)
                self.shared[reading].add(member)
        self._arrange()
        self.dictionary.settle()

    def drop(self, name: str) -> None:
        """Remove a query, and the inboxes that no other reads."""
        member = self.members.pop(name)
        if member.evaluator is None:
            shared = self.shared[member.readings[0]]
            shared.drop(name)
            if not shared.names:
                del self.shared[member.readings[0]]
        self.services.drop(name)
        self._arrange()

    def _arrange(self) -> None:
        self._order = evaluation_order({name: member.query for name, member in self.members.items()})
        outputs = self._outputs()
        wanted = {}
        for member in self.members.values():
            for reading in member.readings:
                key = self._key(reading, outputs)
                known = self.inboxes.get(key)
                entry = self.streams.get(reading.stream)
                idle = entry.idle if entry and reading.stream not in outputs else None
                number = entry.number if entry else 0
                wanted[key] = known or Inbox(key[1], key[2], idle, number, distinct=key[3])
        self.inboxes = wanted
        read = {key[0] for key in wanted}
        self.derived = {iri: self.derived.get(iri, 0) for iri in outputs if iri in read}

    def _outputs(self) -> dict[str, str]:
        """The streams that queries of this group make, and which query makes them."""
        return {
            member.query.output: name
            for name, member in self.members.items()
            if member.query.output is not None
        }

    def _key(self, reading: Reading, outputs: Mapping[str, str]) -> InboxKey:
        if reading.stream in outputs:
            return reading.stream, 0, _DERIVED_AHEAD, False
        entry = self.streams.get(reading.stream)
        distinct = reading.distinct or (entry is not None and entry.times_distinct)
        return reading.stream, reading.lateness, reading.ahead, distinct

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
        for name in self._order:
            member = self.members[name]
            answers = self._advance(member, outputs, batch, now)
            if answers is not None:
                step.answered.append(Answered(member, answers))
                step.evaluations += answers.evaluations if member.tells else 0
                step.results += len(answers.at)
        for reading, shared in self.shared.items():
            box = self.inboxes[self._key(reading, outputs)]
            together = self._advance_together(shared, reading.stream, box)
            if together is not None:
                step.shared.append(together)
                for name, evaluations, results in together.answers.counts():
                    self.members[name].evaluations += evaluations
                    self.members[name].results += results
                    step.evaluations += evaluations
                    step.results += results
        self._forget(outputs)
        step.ended = self.ended
        return step

    @property
    def ended(self) -> bool:
        """Whether nothing more can come of any query here."""
        return all(member.done for member in self.members.values())

    def _advance(self, member: Member, outputs: Mapping[str, str], batch: int, now: int) -> Answers | None:
        if member.done or member.evaluator is None:
            return None
        boxes = {reading.stream: self.inboxes[self._key(reading, outputs)] for reading in member.readings}
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
        slab = Slab(batches, through, end, member.turn)
        try:
            answers = member.evaluator.advance(slab)
        except WeirError:
            raise
        except Exception as error:
            raise EvaluationError(
                f"query {member.name!r} failed", detail=f"{type(error).__name__}: {error}"
            ) from error
        member.given, member.done = complete, end
        member.count(answers)
        output = member.query.output
        if output in self.derived:
            self._derive(output, member, answers, through, batch, now)
        return answers

    def _advance_together(self, shared: SharedQueries, stream: str, box: Inbox) -> AnsweredTogether | None:
        """Queries that are evaluated together make no streams, so whatever they read is there by now."""
        members = {name: self.members[name] for name in shared.names}
        given, end = max(member.given for member in members.values()), box.progress.ended
        if any(member.done for member in members.values()):
            for member in members.values():
                member.done = True
            return None
        if box.complete == NEVER:
            return None
        if box.complete <= given and not end:
            return None
        through = box.progress.high if end else box.complete
        upto = FOREVER if end else box.complete

        def slab(since: int) -> Slab:
            return Slab({stream: box.take(given, upto, since)}, through, end)

        answers = shared.evaluator.advance(slab, box.settled(upto))
        for member in members.values():
            member.given, member.done = box.complete, end
        return AnsweredTogether(members, answers)

    def _derive(
        self, stream: str, member: Member, answers: Answers, through: int, batch: int, now: int
    ) -> None:
        """The output of a CONSTRUCT as messages, one per evaluation, for the queries that read it. Where one
        of them counts triples, they are in the order in which they are written."""
        delay = member.query.semantics.emit_after
        subject, predicate, target = (answers.columns[name] for name in ("subject", "predicate", "object"))
        if self._is_counted(stream):
            coded = [coded_texts(ids, self.dictionary) for ids in (subject, predicate, target)]
            order = order_of_rows(answers.evaluation, coded, " ")
            subject, predicate, target = subject[order], predicate[order], target[order]
        _, firsts, message, counts = np.unique(
            answers.evaluation, return_index=True, return_inverse=True, return_counts=True
        )
        times = answers.at[firsts] + delay
        messages = Messages(
            times,
            counts.astype(np.int64),
            message.astype(np.int64),
            np.arange(len(message)) - firsts[message],
            subject,
            predicate,
            target,
            np.zeros(len(message), np.int64),
        )
        frame = Frame(stream, "", self.derived[stream], through + delay, member.done, messages)
        self.derived[stream] += len(times)
        ids = np.unique(np.concatenate([subject, predicate, target]))
        ids = ids[ids > 0]
        if len(ids):
            texts = arrow_texts(texts_of(ids, self.dictionary))
            until = self._until(int(times[-1]))
            self.dictionary.add_chunk(
                TextChunk.of(f"d{batch}.{len(self.dictionary.chunks)}", ids, texts, until)
            )
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
            self.dictionary.keep_only(np.union1d(self.live_ids(), ids), f"l{batch}")
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
        return np.unique(np.concatenate(columns)) if columns else np.empty(0, np.int64)

    def _forget(self, outputs: Mapping[str, str]) -> None:
        """Drop what every reader has."""
        for key, inbox in self.inboxes.items():
            readers = [
                member
                for member in self.members.values()
                if any(self._key(reading, outputs) == key for reading in member.readings)
            ]
            inbox.forget(min((FOREVER if m.done or m.as_it_comes else m.given) for m in readers))

    def _expire_texts(self) -> None:
        """Drop the texts that nothing alive can need; answers of the step before have been written out."""
        reached = [member.given for member in self.members.values() if not member.done]
        self.dictionary.expire(min(reached, default=FOREVER))
        self.dictionary.forget_computed()
