"""A group's state as panes: named byte strings of which only the changed ones are written.

The state store is the truth. What a pane holds is said by its name: ``inbox/…`` messages that wait,
``texts/…`` texts of one batch, ``core/…`` and ``rows/…`` an evaluator's small state and its tables,
``query/…`` the snapshot of an evaluator without tables, ``shared/…`` that of queries evaluated together,
``services`` the views of SERVICE. The ``head`` lists them all with their digests, beside everything small,
and names the states before it: a worker that has one of those needs only what came since.

A pane of a table is a run of its rows. New rows of each batch make a pane; small neighbours are merged into
larger ones, so that a table of n rows has few panes and a row is written about log(n) times.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import pyarrow as pa

from weir.errors import CheckpointError
from weir.kernel.contract import Segmented, Stretch
from weir.plan.analysis.demand import Reading
from weir.rdf.messages import Messages
from weir.runtime.ingest.order import InboxKey
from weir.runtime.worker.group import Group
from weir.runtime.worker.members import Member
from weir.runtime.worker.texts import TextChunk
from weir.storage import Container, numbers, pack, unpack

FORMAT = 5
MOST_ROWS = 1 << 16
"""The most rows of a pane that is made of smaller ones."""

_LINEAGE = 64
_PANE = "weir.pane/1"

Run = tuple[int, int]
"""Row numbers ``[first, end)``."""
Tables = dict[str, tuple[int, list[Run]]]
"""Of each table the first live row, and the runs of its panes."""
Fetch = Callable[[str], bytes]


@dataclass(slots=True)
class StoredPanes:
    """What the store holds: digests of all panes, the panes of each query's tables, the states before."""

    digests: dict[str, str] = field(default_factory=dict)
    tables: dict[str, Tables] = field(default_factory=dict)
    lineage: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Changes:
    """What to write so that the store holds the state: panes to put, panes to remove, the new head."""

    head: bytes
    put: Mapping[str, bytes]
    remove: tuple[str, ...]
    stored: StoredPanes


def dump(group: Group, stored: StoredPanes, nonce: str) -> Changes:
    """The state against what the store holds."""
    panes: dict[str, bytes] = {}
    kept: dict[str, str] = {}
    for chunk in group.dictionary.chunks:
        name = f"texts/{chunk.name}"
        if name in stored.digests:
            kept[name] = stored.digests[name]
        else:
            panes[name] = _packed({"texts": {"id": chunk.ids, "text": chunk.texts}})
    for key, inbox in group.inboxes.items():
        if len(inbox.waiting):
            columns = inbox.waiting.columns
            panes[f"inbox/{_key(key)}"] = _packed({name: {name: each} for name, each in columns.items()})
    tables: dict[str, Tables] = {}
    for (reading, since), shared in group.shared.items():
        panes[_shared(reading, since)] = shared.saved = shared.evaluator.snapshot()
    for member in group.members.values():
        if not member.done and member.evaluator is not None:
            with group.failures.of(member.registration):
                _dump_member(member, stored, panes, kept, tables)
    if group.services.used:
        panes["services"] = group.services.snapshot()
    digests = {name: _digest(data) for name, data in panes.items()}
    changed = {name: data for name, data in panes.items() if stored.digests.get(name) != digests[name]}
    digests |= kept
    lineage = [*stored.lineage, nonce][-_LINEAGE:]
    head = {
        "format": FORMAT,
        "nonce": nonce,
        "origin": group.origin,
        "lineage": lineage,
        "panes": digests,
        "tables": tables,
        "derived": group.derived,
        "updates": {name: list(m.effective.items()) for name, m in group.members.items() if m.effective},
        "texts": {chunk.name: chunk.until for chunk in group.dictionary.chunks},
        "inboxes": {_key(key): inbox.head() for key, inbox in group.inboxes.items()},
        "places": [[own, key] for own, key in group.places.items()],
        "members": {
            name: [member.registration.since, member.given, member.done, member.evaluations, member.results]
            for name, member in group.members.items()
        },
    }
    removed = tuple(name for name in stored.digests if name not in digests)
    return Changes(json.dumps(head).encode(), changed, removed, StoredPanes(digests, tables, lineage))


def segmented(member: Member) -> Segmented | None:
    """The evaluator, where its state has tables."""
    evaluator: Any = member.evaluator
    return cast(Segmented, evaluator) if hasattr(evaluator, "rebuild") else None


def _same(name: str, member: Member, stored: StoredPanes) -> bool:
    """Whether the store's tables under this name are of this registration, not of one dropped before."""
    return f"core/{name}" in stored.digests and member.stored


def _dump_member(
    member: Member,
    stored: StoredPanes,
    panes: dict[str, bytes],
    kept: dict[str, str],
    tables: dict[str, Tables],
) -> None:
    assert member.evaluator is not None
    name, evaluator = member.name, segmented(member)
    if evaluator is None:
        panes[f"query/{name}"] = member.evaluator.snapshot()
        return
    panes[f"core/{name}"] = evaluator.core()
    before = stored.tables.get(name, {}) if _same(name, member, stored) else {}
    tables[name] = _dump_tables(name, evaluator, before, stored, panes, kept)


def _dump_tables(
    query: str,
    evaluator: Segmented,
    before: Tables,
    stored: StoredPanes,
    panes: dict[str, bytes],
    kept: dict[str, str],
) -> Tables:
    tables: Tables = {}
    for table, (first, end) in evaluator.tables().items():
        old, new = repaned(before.get(table, (0, []))[1], first, end)
        for run in old:
            name = _pane(query, table, run)
            kept[name] = stored.digests[name]
        if new is not None:
            columns = {str(place): column for place, column in enumerate(evaluator.rows(table, *new))}
            panes[_pane(query, table, new)] = _packed({"rows": columns})
            old = [*old, new]
        tables[table] = first, old
    return tables


def load(group: Group, head: Mapping[str, Any], fetch: Fetch) -> None:
    """Bring ``group`` to the state of ``head``.

    The group is new, or in one of the states that the head descends from; its members may be newer than
    the head. Only what it lacks is fetched.
    """
    if head.get("origin", "") not in ("", group.origin):
        raise CheckpointError(
            "the state belongs to another query, or to another checkpoint of Weir",
            hint="give Spark and Weir the folders that they had together, or new ones",
        )
    known = {chunk.name: chunk for chunk in group.dictionary.chunks}
    chunks = []
    for name, until in head["texts"].items():
        if name not in known:
            texts = _unpacked(fetch(f"texts/{name}")).table("texts")
            known[name] = TextChunk(numbers(texts["id"]), texts["text"], name, until)
        chunks.append(known[name])
    group.dictionary.chunks = chunks
    places = [(cast(InboxKey, tuple(own)), cast(InboxKey, tuple(key))) for own, key in head["places"]]
    group.settle(dict(places))
    for key, inbox in group.inboxes.items():
        stored = head["inboxes"].get(_key(key))
        if stored is not None:
            name = f"inbox/{_key(key)}"
            waiting = Messages()
            if name in head["panes"]:
                found = _unpacked(fetch(name)).tables
                waiting = Messages.of_columns({each: numbers(table[each]) for each, table in found.items()})
            inbox.restore(stored, waiting)
    for name, member in group.members.items():
        found = head["members"].get(name)
        if found is not None and found[0] == member.registration.since:
            _, member.given, member.done, member.evaluations, member.results = found
            member.effective = dict(head.get("updates", {}).get(name, ()))
            member.stored = True
            if member.done or member.evaluator is None:
                continue
            evaluator = segmented(member)
            with group.failures.of(member.registration, CheckpointError), _refusal(f"query {name!r}"):
                if evaluator is None:
                    member.evaluator.restore(fetch(f"query/{name}"))
                else:
                    stretches = _load_tables(name, evaluator, head["tables"][name], fetch)
                    evaluator.rebuild(fetch(f"core/{name}"), stretches)
    for (reading, since), shared in group.shared.items():
        if _shared(reading, since) in head["panes"]:
            with _refusal(f"the queries on <{reading.stream}>"):
                shared.saved = fetch(_shared(reading, since))
                shared.evaluator.restore(shared.saved)
    if "services" in head["panes"]:
        with _refusal("what SERVICE answered"):
            group.services.restore(fetch("services"))
    group.derived |= {iri: count for iri, count in head["derived"].items() if iri in group.derived}


@contextmanager
def _refusal(whose: str) -> Iterator[None]:
    """A state that an evaluator refuses, with whose it is and what to do."""
    try:
        yield
    except CheckpointError as error:
        raise CheckpointError(
            f"the state of {whose} cannot be taken up",
            detail=error.primary,
            hint="go on with the version of Weir that wrote it, or start again with a new checkpoint",
        ) from error


def _load_tables(
    query: str, evaluator: Segmented, tables: Mapping[str, Any], fetch: Fetch
) -> dict[str, Stretch]:
    present = evaluator.tables()
    out = {}
    for table, (first, runs) in tables.items():
        end = runs[-1][1] if runs else first
        oldest, reached = present.get(table, (0, 0))
        start = reached if reached and oldest <= first <= reached <= end else first
        parts = []
        for run in runs:
            if run[1] > start:
                columns = _unpacked(fetch(_pane(query, table, run))).table("rows").values()
                parts.append([numbers(column)[max(0, start - run[0]) :] for column in columns])
        empty = evaluator.rows(table, reached, reached) if not parts else []
        joined = [np.concatenate(same) for same in zip(*parts, strict=True)] if parts else empty
        out[table] = Stretch(first, start, joined)
    return out


def repaned(runs: Sequence[Run], first: int, end: int) -> tuple[list[Run], Run | None]:
    """The panes of a table whose live rows are ``[first, end)``, given those it had: what stays, what is new.

    Panes without live rows go. The new one takes in the rows not yet stored, and its smaller neighbours.
    """
    kept = [run for run in runs if run[1] > first]
    start = kept[-1][1] if kept else first
    if start >= end:
        return kept, None
    while kept:
        last = kept[-1]
        small = last[1] - last[0] <= 2 * (end - start) and end - last[0] <= MOST_ROWS
        if not small:
            break
        start = last[0]
        kept.pop()
    return kept, (max(start, first), end)


def _pane(query: str, table: str, run: Run) -> str:
    return f"rows/{query}/{run[0]}-{run[1]}/{table}"


def _shared(reading: Reading, since: int) -> str:
    return f"shared/{_key((reading.stream, reading.lateness, reading.ahead, reading.distinct, since))}"


def _key(key: InboxKey) -> str:
    stream, lateness, ahead, distinct, since = key
    return f"{since},{lateness},{ahead},{'distinct,' if distinct else ''}{stream}"


def _packed(tables: Mapping[str, Mapping[str, np.ndarray | pa.Array]]) -> bytes:
    return bytes(pack(_PANE, {}, tables))


def _unpacked(data: bytes) -> Container:
    return unpack(data, _PANE)


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=12).hexdigest()
