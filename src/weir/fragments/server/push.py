"""Dynamic facts by HTTP: an RDF document, annotated or with its validity in the query string.

POST adds facts. Triples that the document annotates itself, by any method, keep their own validity; the
others take ``start`` (default: now) and ``end`` or ``lifetime`` (seconds) of the query string.
``supersede=true`` ends older facts of equal subject and predicate. DELETE ends the facts of the
document's triples now.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from weir.errors import DataError, UsageError
from weir.fragments.protocol.annotation import BEGINNING, FOREVER, Fact, read_facts, read_time
from weir.fragments.protocol.documents import parse_document
from weir.fragments.server.dataset import Dataset, implicit_names
from weir.fragments.server.request import TooLarge

SECOND = 1_000_000


@dataclass(frozen=True, slots=True)
class Pushed:
    """What a push did: facts that were new, facts that had expired before they came."""

    added: int
    expired: int


def push_document(
    dataset: Dataset, body: bytes, media_type: str, options: Mapping[str, str], address: str, now: int
) -> Pushed:
    """Add a document's facts; what is wrong with it is a ``UsageError`` or a ``DataError``."""
    unknown = options.keys() - {"start", "end", "lifetime", "supersede"}
    if unknown:
        raise UsageError(
            f"unknown option {min(unknown)!r}", hint="use start, end, lifetime (seconds), supersede"
        )
    limits = dataset.limits
    quads = parse_document(body, media_type, base=address, most=8 * limits.push_facts)
    facts, rest = read_facts(quads, implicit_names("", address).address)
    if rest:
        start, end = _validity(options, now)
        facts += [Fact(s, p, o, start, end) for s, p, o, _ in rest]
    if len(facts) > limits.push_facts:
        raise TooLarge(f"more than {limits.push_facts} facts in one push")
    facts = [fact._replace(start=now) if fact.start == BEGINNING else fact for fact in facts]
    if any(fact.start > now + limits.ahead for fact in facts):
        raise UsageError(
            "a fact starts too far in the future",
            detail=f"the limit is {limits.ahead // SECOND} s from now",
            hint="compare the clocks of the two machines",
        )
    for fact in facts:
        if fact.end <= fact.start and fact.end > now:
            raise DataError(f"the fact {' '.join(fact.triple)} ends before it starts")
    kept = [fact for fact in facts if fact.end > fact.start]
    if not dataset.store.retention.history:
        kept = [fact for fact in kept if fact.end > now]
    added = dataset.push(kept, now, supersede=options.get("supersede") in ("true", "1"))
    return Pushed(added, len(facts) - len(kept))


def end_document(dataset: Dataset, body: bytes, media_type: str, address: str, now: int) -> int:
    """End the facts of a document's triples now; how many there were."""
    quads = parse_document(body, media_type, base=address, most=dataset.limits.push_facts)
    return dataset.end([quad[:3] for quad in quads], now)


def _validity(options: Mapping[str, str], now: int) -> tuple[int, int]:
    start = _time("start", options["start"]) if "start" in options else now
    if "end" in options:
        end = _time("end", options["end"])
    elif "lifetime" in options:
        try:
            seconds = float(options["lifetime"])
        except ValueError:
            raise UsageError(f"'lifetime' is no number: {options['lifetime'][:20]!r}") from None
        if not 0 < seconds < 1e10:
            raise UsageError("'lifetime' must be more than no time and less than 300 years")
        end = start + int(seconds * SECOND)
    else:
        raise UsageError(
            "the facts have no validity", hint="annotate them, or give 'end' or 'lifetime' in the address"
        )
    if start >= end:
        raise UsageError("the facts end before they start")
    return start, min(end, FOREVER)


def _time(name: str, value: str) -> int:
    try:
        return read_time(f'"{value}"')
    except DataError as error:
        raise UsageError(f"{name!r} is no time: {error.primary}") from None
