"""Laws that need no oracle, over the same random runs: what must not change the result lines does not.

How input is cut into batches and lanes, restarts, other workers, the words that a query is written in, other
queries beside and before it, triples that it cannot match, splitting, sharing, and the evaluator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, note, seed, settings

from properties.generate import Message
from properties.stories import Batch, Lane, Lines, Story, begun, parted, run, step, story
from properties.test_whole_path import CHANCE, EXAMPLES, MANY, SEED
from weir.errors import SyntaxError, TranslationError, UsageError
from weir.language import Dialect, Query, parse, write
from weir.language.algebra import patterns as a
from weir.language.algebra.fold import rebuilt, walk
from weir.language.algebra.query import R2S, Describe
from weir.language.algebra.windows import Elements, TickKind, Triples
from weir.plan.analysis.split import splitting as split_of
from weir.rdf.terms import IRI, BlankNode, Term, TripleTerm, Variable, triple_term

pytestmark = pytest.mark.hypothesis
"""So that ``make long`` takes it."""

Law = Callable[[Random, Story], Iterator[dict[str, Lines]]]
"""The lines of runs that must all say the same as the story's own."""


ODD = IRI("urn:unrelated")


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
    if not orderless(given):
        return
    ordered = sorted(queued(given), key=lambda each: each[1].time)
    moved = [((stream, rng.choice("abc")), each) for (stream, _), each in ordered]
    dealt = parted([*moved])
    lonely = replace(given, lanes=())
    yield run(recut(lonely, dealt, rng.randrange(1, 6)))


def orderless(given: Story) -> bool:
    """Whether the order of messages says nothing, and neither does which lane is behind: all lanes end. Under
    TIMES DISTINCT a message is late by the order of its lane."""
    query = parse(given.text, "rspql")
    windows = query.dataset.windows
    counted = any(isinstance(each.kind, Triples | Elements) for each in windows) or _tuples(query)
    promised = any(each.semantics.times_distinct for each in windows)
    return any(batch.ended for batch in given.batches) and not counted and not promised


def named(given: Story) -> Story:
    """With IRIs for blank nodes, whose names say where in which lane they were."""

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
    yield run(given, {"other": another(rng, given)})


def another(rng: Random, given: Story) -> str:
    """The text of some other query. Its windows are not much shorter than the times between messages: one
    that slides by microseconds would be evaluated millions of times."""
    return story(rng, unit=given.unit).text.replace("<urn:out0>", "<urn:other>")


def elders(rng: Random, given: Story) -> Iterator[dict[str, Lines]]:
    """Registered after a query like it that has read the same streams, up to later times."""
    far = Message(2 * max(each.time for _, each in queued(given)) + 1, ((ODD, ODD, ODD, None),))
    for slots in (1, 2):
        other = given.text.replace("<urn:out0>", "<urn:other>")
        scenario = begun(replace(given, queries={"other": other}), slots=slots)
        step(scenario, Batch({lane: (far,) for lane in given.lanes if rng.random() < 0.8}))
        name = scenario.job.registry.register(given.text, None, "rspql", "auto")
        found = [line for batch in given.batches for line in step(scenario, batch)]
        yield {"q0": [{**line, "query": "q0"} for line in found if line["query"] == name]}


def unmatched(rng: Random, given: Story) -> Iterator[dict[str, Lines]]:
    """With triples more of which no pattern can match one, where triples are not counted."""
    query = parse(given.text, "rspql")
    if isinstance(query.form, Describe) or any(map(_takes_anything, walk(query.pattern))):
        return
    if any(isinstance(each.kind, Triples) for each in query.dataset.windows):
        return

    def widened(message: Message) -> Message:
        more = ((ODD, ODD, ODD, None),) if message.quads and rng.random() < 0.5 else ()
        return replace(message, quads=(*more, *message.quads))

    batches = tuple(
        replace(batch, sent={lane: tuple(map(widened, sent)) for lane, sent in batch.sent.items()})
        for batch in given.batches
    )
    yield run(replace(given, batches=batches, default=(*given.default, (ODD, ODD, ODD))))


def _takes_anything(node: object) -> bool:
    if isinstance(node, a.TriplePattern):
        return isinstance(node.predicate, Variable)
    return isinstance(node, a.NegatedSet | a.ZeroOrMore | a.ZeroOrOne)


def about_one(rng: Random, given: Story) -> Story:
    """With one subject in all patterns on windows, which many queries are split by, more of them if they send
    everything out; its output has no name."""

    def about(node: Any, inside: bool = False) -> Any:
        if isinstance(node, a.TriplePattern) and inside:
            return replace(node, subject=Variable("x"))
        return rebuilt(node, lambda part: about(part, inside or isinstance(node, a.Window)))

    query = parse(given.text, "rspql")
    semantics = replace(query.semantics, r2s=R2S.RSTREAM) if rng.random() < 0.5 else query.semantics
    query = replace(query, pattern=about(query.pattern), semantics=semantics, output=None)
    try:
        text = write(query, Dialect.RSPQL)
        parse(text, "rspql")
    except (TranslationError, SyntaxError):
        return given
    return replace(given, queries={"q0": text})


def is_split(given: Story) -> bool:
    return split_of(parse(given.text, "rspql")).place is not None


def splitting(rng: Random, given: Story) -> Iterator[dict[str, Lines]]:
    yield run(given, slots=3)
    yield run(given, slots=3, evaluator="reference")
    yield run(given, {"other": another(rng, given)}, slots=2)


def shared(rng: Random, given: Story) -> Iterator[dict[str, Lines]]:
    """The other one is alike, so that they are evaluated together where they can be."""
    yield run(given, {"other": given.text.replace("<urn:out0>", "<urn:other>")})


def evaluators(rng: Random, given: Story) -> Iterator[dict[str, Lines]]:
    yield run(given, evaluator="reference")
    try:
        yield run(given, evaluator="interval")
    except UsageError:
        return


LAWS: dict[str, Law] = {
    law.__name__: law
    for law in (cutting, lanes, restarts, words, company, elders, unmatched, splitting, shared, evaluators)
}


@pytest.mark.parametrize("name", LAWS)
def test_lines_stay_the_same(name: str) -> None:
    others = 0

    @seed(SEED)
    @settings(MANY, max_examples=max(1, EXAMPLES // 10))
    @given(CHANCE)
    def holds(rng: Random) -> None:
        nonlocal others
        drawn = story(rng, tidy=name in ("cutting", "lanes", "elders"))
        if name == "lanes":
            others_drawn = (story(rng, tidy=True) for _ in range(20))
            drawn = next((each for each in others_drawn if orderless(each)), drawn)
        if name in ("lanes", "elders", "unmatched"):
            drawn = named(drawn)
        if name == "splitting":
            drawn = next(filter(is_split, (about_one(rng, story(rng)) for _ in range(60))), drawn)
        note(f"{drawn}")
        expected = run(drawn)
        for found in LAWS[name](rng, drawn):
            others += 1
            assert found == expected

    holds()
    print(f"{name}: {others} other runs")
    assert others or EXAMPLES < 80
