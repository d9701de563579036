"""The match step: which triples each slot wants, and which texts go with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from weir.kernel.matching.automaton import Matcher
from weir.rdf.columns import Ids, Mask
from weir.rdf.ids import encode_texts
from weir.rdf.messages import Messages, Terms
from weir.rdf.terms import Term
from weir.runtime.catalog import Catalog
from weir.runtime.chains import parsed
from weir.runtime.demand import Wanted, demands
from weir.runtime.frames import Frame
from weir.runtime.members import needs_every_text, share


@dataclass(slots=True)
class _Pool:
    """Patterns with one share rule: the automaton of all, and the places whose texts each needs."""

    matcher: Matcher = field(default_factory=Matcher)
    texts: dict[int, list[bool]] = field(default_factory=dict)

    def add(self, wanted: Iterable[Wanted], key: bytes) -> None:
        """All patterns at once: thousands are encoded as one column."""
        patterns = list(wanted)
        terms = [term for p in patterns for term in (p.subject, p.predicate, p.object, p.graph)]
        machines = self.matcher.add(_encode(terms, key).reshape(-1, 4))
        for machine, pattern in zip(machines.tolist(), patterns, strict=True):
            flags = self.texts.setdefault(machine, [False] * 4)
            self.texts[machine] = [a or b for a, b in zip(flags, pattern.texts, strict=True)]

    def match(self, columns: tuple[Ids, Ids, Ids, Ids]) -> tuple[Ids, Ids]:
        return self.matcher.match(*columns)

    def flags(self) -> np.ndarray:
        table = np.zeros((self.matcher.bound, 4), np.bool_)
        for machine, flags in self.texts.items():
            table[machine] = flags
        return table


def _encode(terms: Sequence[Term | None], key: bytes) -> Ids:
    """The ids of constants, 0 for anything."""
    out = np.zeros(len(terms), np.int64)
    known = [place for place, term in enumerate(terms) if term is not None]
    out[known] = encode_texts(pl.Series([str(terms[place]) for place in known], dtype=pl.String), key)
    return out


class MatchPlan:
    """For each slot and stream, the pools of patterns by the place that splits them (None: not split)."""

    def __init__(self, catalog: Catalog, slots: int, key: bytes) -> None:
        self.slots = slots
        self.own: set[int] = set()
        self.active: list[int] = []
        self._pools: dict[tuple[int, str], dict[int | None, _Pool]] = {}
        streams = list(catalog.streams)
        every: dict[tuple[int, str, int | None], list[Wanted]] = {}
        for registration in catalog.queries.values():
            query = parsed(registration.text, registration.dialect)
            wanted = demands(
                query, registration.over(streams), every_text=needs_every_text(registration.evaluator)
            )
            for slot in registration.slots:
                self.own.add(slot)
                for stream, patterns in wanted.items():
                    every.setdefault((slot, stream, registration.share), []).extend(patterns)
        for (slot, stream, split), found in every.items():
            pools = self._pools.setdefault((slot, stream), {})
            pools.setdefault(split, _Pool()).add(found, key)
        self.serve(())

    def serve(self, leaving: Iterable[int]) -> None:
        """Frames go to slots with queries and to those that have to be told that they have none."""
        self.active = sorted(self.own.union(leaving))

    def frame(
        self,
        slot: int,
        stream: str,
        lane: str,
        messages: Messages,
        position: int,
        *,
        ended: bool = False,
        side: Mapping[str, Any] | None = None,
    ) -> Frame:
        """What ``slot`` gets of these messages."""
        columns = _ids(messages)
        keep = np.zeros(len(messages.message), np.bool_)
        needed = [np.zeros(len(terms.texts), np.bool_) for terms in messages.columns]
        for place, pool in self._pools.get((slot, stream), {}).items():
            rows, machines = pool.match(columns)
            if place is not None:
                mine = share(columns[place][rows], self.slots) == slot
                rows, machines = rows[mine], machines[mine]
            keep[rows] = True
            flags = pool.flags()[machines]
            for which, terms in enumerate(messages.columns):
                needed[which][terms.codes[rows[flags[:, which]]]] = True
        kept = np.flatnonzero(keep)
        ids, texts = _texts(messages.columns, needed)
        return Frame(
            stream,
            lane,
            position,
            ended=ended,
            time=messages.time,
            triples=messages.triples,
            message=messages.message[kept],
            place=messages.place[kept],
            subject=columns[0][kept],
            predicate=columns[1][kept],
            object=columns[2][kept],
            graph=columns[3][kept],
            text_ids=ids,
            texts=texts,
            side=side or {},
        )


def _texts(columns: Iterable[Terms], needed: Iterable[Mask]) -> tuple[Ids, list[str]]:
    """The hashed terms marked in ``needed``, each once; inline ids carry their own text."""
    ids, texts = [], []
    for terms, marked in zip(columns, needed, strict=True):
        chosen = np.flatnonzero(marked & (terms.ids > 0))
        ids.append(terms.ids[chosen])
        texts.append(terms.texts.gather(chosen))
    every, first = np.unique(np.concatenate(ids), return_index=True)
    return every, pl.concat([t.rename("text") for t in texts]).gather(first).to_list()


def _ids(messages: Messages) -> tuple[Ids, Ids, Ids, Ids]:
    subject, predicate, target, graph = messages.columns
    return subject.column, predicate.column, target.column, graph.column
