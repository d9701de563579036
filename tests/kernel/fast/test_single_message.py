"""One message row by row: the answers of the arrays, and only where nothing else is new."""

from __future__ import annotations

from timelines import batch
from weir.kernel.contract import Background, Slab
from weir.kernel.fast.single_message import SingleMessage
from weir.kernel.interval.evaluator import IntervalEvaluator
from weir.kernel.reference import Message
from weir.language import parse
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI

TEXT = """SELECT ?x ?y
    WHERE { STREAM <urn:s> [NOW] { ?x <urn:p> ?l } STREAM <urn:s> [RANGE 3ms] { ?y <urn:p> ?l } }"""


def sent(numbers: str) -> Message:
    time, who, where = numbers
    return Message(int(time) * 1_000, ((IRI(f"urn:{who}"), IRI("urn:p"), IRI(f"urn:{where}"), None),))


def answers(size: int) -> tuple[list[tuple[int, ...]], IntervalEvaluator]:
    dictionary = Dictionary()
    made = IntervalEvaluator(parse(TEXT, "cqels"), Background(), dictionary)
    stream = [sent(each) for each in ("1ak", "2bk", "3cl", "4dk", "8ek")]
    rows = []
    for low in range(0, len(stream), size):
        part = stream[low : low + size]
        found = made.advance(Slab({"urn:s": batch(part, dictionary)}, part[-1].time + 1))
        texts = [dictionary.texts(found.columns[name]) for name in ("x", "y")]
        rows += [
            (at, *(text[-2] for text in pair)) for at, *pair in zip(found.at.tolist(), *texts, strict=True)
        ]
    return sorted(rows), made


def test_message_by_message_as_all_at_once() -> None:
    alone, made = answers(1)
    together, _ = answers(5)
    assert alone == together
    assert (4_000, "d", "b") in alone and (4_000, "d", "a") not in alone
    assert sum(route.used for route in short_cut(made)._routes.values()) == 5


def short_cut(made: IntervalEvaluator) -> SingleMessage:
    (single,) = [each for each in made._short_cuts if isinstance(each, SingleMessage)]
    return single


def test_several_evaluations_are_declined() -> None:
    _, made = answers(5)
    single = short_cut(made)
    assert not single._routes
    times = made.streams.arrivals["urn:s"].times
    chunk = next(iter(made._clock._shared(times, None, len(times))))
    assert single.answer(chunk) is None


def test_equal_mappings_count_each_time() -> None:
    """The second input binds nothing new and has two equal rows: what follows joins with both."""
    text = """SELECT ?z ?y WHERE {
        STREAM <urn:s> [NOW] { ?z <urn:q> ?x } STREAM <urn:s> [RANGE 9ms] { ?x <urn:q> ?x }
        STREAM <urn:s> [RANGE 9ms] { ?z <urn:p> ?y } }"""
    loop, dictionary = ((IRI("urn:b"), IRI("urn:q"), IRI("urn:b"), None),), Dictionary()
    links = tuple((IRI("urn:b"), IRI("urn:p"), IRI(f"urn:{each}"), None) for each in "cde")
    made = IntervalEvaluator(parse(text, "cqels"), Background(), dictionary)
    sizes = []
    for time, quads in enumerate((loop, links, loop)):
        part = batch([Message(time * 1_000, quads)], dictionary)
        sizes.append(len(made.advance(Slab({"urn:s": part}, time * 1_000 + 1)).at))
    assert sizes == [0, 0, 6]
    assert any(route.count("→") == 2 for route in made.statistics()["routes"])
