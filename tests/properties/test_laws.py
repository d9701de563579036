"""Laws that need no oracle, over the same random runs: what must not change the result lines does not.

How input is cut into batches and lanes, restarts, other workers, the words that a query is written in, other
queries beside it, triples that it cannot match, splitting, sharing, and the evaluator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, note, seed, settings

from properties.generate import Message
from properties.stories import Batch, Lane, Lines, Story, parted, run, story
from properties.test_whole_path import CHANCE, EXAMPLES, MANY, SEED
from weir.errors import TranslationError, UsageError
from weir.language import Dialect, Query, parse, write
from weir.language.algebra import patterns as a
from weir.language.algebra.fold import walk
from weir.language.algebra.query import Describe
from weir.language.algebra.windows import Elements, TickKind, Triples
from weir.rdf.terms import IRI, BlankNode, Term, TripleTerm, Variable, triple_term
from weir.runtime.control import registration

pytestmark = pytest.mark.hypothesis
"""So that ``make long`` takes it."""

Law = Callable[[Random, Story], Iterator[dict[str, Lines]]]
"""The lines of runs that must all say the same as the story's own."""


def queued(given: Story) -> list[tuple[Lane, Message]]:
    """All messages, those of a lane in their order."""
    return [(lane, each) for batch in given.batches for lane, sent in batch.sent.items() for each in sent]


def recut(given: Story, queue: list[tuple[Lane, Message]], size: int) -> Story:
    """These messages, so many a batch."""
    lanes = tuple(dict.fromkeys([*given.lanes, *(lane for lane, _ in queue)]))
    batches = []
    for first in range(0, max(len(queue), 1), size):
        piece = queue[first : first + size]
        batches.append(Batch({lane: tuple(each for other, each in piece if other == lane) for lane in lanes}))
    if any(batch.ended for batch in given.batches):
        batches[-1] = replace(batches[-1], ended=frozenset(lanes))
    return replace(given, lanes=lanes, batches=tuple(batches))


def cutting(rng: Random, given: Story) -> Iterator[dict[str, Lines]]:
    queue = queued(given)
    for size in (1, rng.randrange(1, 4), max(len(queue), 1)):
        yield run(recut(given, queue, size))


def lanes(rng: Random, given: Story) -> Iterator[dict[str, Lines]]:
    """Where the order of messages of one time says nothing."""
    query = parse(given.text, "rspql")
    counted = any(isinstance(each.kind, Triples | Elements) for each in query.dataset.windows)
    if counted or _tuples(query):
        return
    ordered = sorted(queued(given), key=lambda each: each[1].time)
    moved = [((stream, rng.choice("abc")), each) for (stream, _), each in ordered]
    dealt = parted([*moved])
    lonely = replace(given, lanes=())
    yield run(recut(lonely, dealt, rng.randrange(1, 6)))


def named(given: Story) -> Story:
    """With IRIs for blank nodes, whose names are those of their lanes."""

    def name(message: Message) -> Message:
        terms = [[None if t is None else _unblank(t) for t in quad] for quad in message.quads]
        return replace(message, quads=tuple((s, p, o, g) for s, p, o, g in terms))  # type: ignore[misc]

    batches = tuple(
        replace(batch, sent={lane: tuple(map(name, sent)) for lane, sent in batch.sent.items()})
        for batch in given.batches
    )
    return replace(given, batches=batches)


def _unblank(term: Term) -> Term:
    if isinstance(term, TripleTerm):
        return triple_term(*(_unblank(each) for each in (term.subject, term.predicate, term.object))) or term
    return IRI("urn:b") if isinstance(term, BlankNode) else term


def _tuples(query: Query) -> bool:
    return any(each.semantics.tick.kind is TickKind.TUPLE for each in query.dataset.windows)


def restarts(rng: Random, given: Story) -> Iterator[dict[str, Lines]]:
    yield run(given, restarts=True)
    yield run(given, workers=2)


def words(rng: Random, given: Story) -> Iterator[dict[str, Lines]]:
    """Written again, in its own dialect and in every other that can say it."""
    query = parse(given.text, "rspql")
    for dialect in Dialect:
        try:
            text = write(query, dialect)
        except TranslationError:
            continue
        yield run(replace(given, queries={"q0": text}), dialect=dialect.value)


def company(rng: Random, given: Story) -> Iterator[dict[str, Lines]]:
    """Beside another query over the same streams."""
    other = story(rng)
    yield run(given, {"other": other.text.replace("<urn:out0>", "<urn:other>")})


def unmatched(rng: Random, given: Story) -> Iterator[dict[str, Lines]]:
    """With triples more of which no pattern can match one, where triples are not counted."""
    query = parse(given.text, "rspql")
    if isinstance(query.form, Describe) or any(map(_takes_anything, walk(query.pattern))):
        return
    if any(isinstance(each.kind, Triples) for each in query.dataset.windows):
        return
    odd = IRI("urn:unrelated")

    def widened(message: Message) -> Message:
        more = ((odd, odd, odd, None),) if message.quads and rng.random() < 0.5 else ()
        return replace(message, quads=(*more, *message.quads))

    batches = tuple(
        replace(batch, sent={lane: tuple(map(widened, sent)) for lane, sent in batch.sent.items()})
        for batch in given.batches
    )
    yield run(replace(given, batches=batches, default=(*given.default, (odd, odd, odd))))


def _takes_anything(node: object) -> bool:
    if isinstance(node, a.TriplePattern):
        return isinstance(node.predicate, Variable)
    return isinstance(node, a.NegatedSet | a.ZeroOrMore | a.ZeroOrOne)


def splitting(rng: Random, given: Story) -> Iterator[dict[str, Lines]]:
    yield run(given, slots=3)
    yield run(given, {"other": story(rng).text.replace("<urn:out0>", "<urn:other>")}, slots=2)


def shared(rng: Random, given: Story) -> Iterator[dict[str, Lines]]:
    """With sharing from two queries on; the other one is alike."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registration, "MANY", 2)
        yield run(given, {"other": given.text.replace("<urn:out0>", "<urn:other>")})


def evaluators(rng: Random, given: Story) -> Iterator[dict[str, Lines]]:
    yield run(given, evaluator="reference")
    try:
        yield run(given, evaluator="interval")
    except UsageError:
        return


LAWS: dict[str, Law] = {
    law.__name__: law
    for law in (cutting, lanes, restarts, words, company, unmatched, splitting, shared, evaluators)
}


@pytest.mark.parametrize("name", LAWS)
def test_lines_stay_the_same(name: str) -> None:
    others = 0

    @seed(SEED)
    @settings(MANY, max_examples=max(1, EXAMPLES // 10))
    @given(CHANCE)
    def holds(rng: Random) -> None:
        nonlocal others
        drawn = story(rng, tidy=name in ("cutting", "lanes"))
        if name == "lanes":
            drawn = named(drawn)
        note(f"{drawn}")
        expected = run(drawn)
        for found in LAWS[name](rng, drawn):
            others += 1
            assert found == expected

    holds()
    print(f"{name}: {others} other runs")
    assert others or EXAMPLES < 80
