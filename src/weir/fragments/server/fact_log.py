"""The facts of a data set, kept: a log of what was pushed and ended, from which a store is made again.

A record is a container of columns in a block of a log of segments (``storage``). It is on the disk before
what it says is done, and doing the same again in the same order gives the same facts with the same numbers,
so the names of their graphs, properties and statements stay. When the log has grown far beyond the facts
that are left, the store is written out as a whole, in a new segment, and the older ones go: what is on the
disk is bounded by what retention keeps.

    begin …        a copy of the store begins: its counters
    segment …      one segment of it
    members …      one page of the event stream
    whole          the copy is complete: it takes the place of all before
    push, end      what was done since
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from weir.errors import CheckpointError, StorageError
from weir.fragments.ldes import Members
from weir.fragments.protocol.annotation import Fact, TripleText
from weir.fragments.protocol.fact_columns import fact_columns, facts_of, triple_columns, triples_of
from weir.fragments.server.facts import FactStore, Retention
from weir.fragments.server.quad_index import Segment
from weir.storage import Container, numbers, pack, unpack
from weir.storage.segments import Mark, SegmentWriter

_KIND = "weir.fragments.facts/2"
_ROOM = 4 * 2**20
"""Bytes of records beside which a copy of the store is not worth its writing."""


class FactLog:
    """The log in ``folder``, which has one writer at a time; ``store`` is what it makes."""

    def __init__(self, folder: Path, retention: Retention, *, members: int = 0, room: int = _ROOM) -> None:
        self.folder = folder
        self._room = room
        self._members = members
        self._writer = SegmentWriter(folder)
        self._copy = 0
        try:
            self.store = self._replayed(retention)
        except BaseException:
            self._writer.close()
            raise

    def push(self, facts: Sequence[Fact], now: int, supersede: bool) -> None:
        """Keep that facts were pushed, before they are."""
        self._append({"op": "push", "now": now, "supersede": supersede}, facts=fact_columns(facts))

    def end(self, triples: Sequence[TripleText], at: int, now: int) -> None:
        """Keep that facts were ended, before they are."""
        self._append({"op": "end", "at": at, "now": now}, triples=triple_columns(triples))

    def compact(self) -> bool:
        """Write the store out as a whole where the log has grown far beyond it; whether that was done.

        Where the disk refuses, the log is whole without it, and it is tried again when it has grown further.
        """
        if self._writer.unread() <= self._room + 2 * self._copy:
            return False
        try:
            self._write_out()
        except StorageError:
            self._copy = self._writer.unread()
            return False
        return True

    def _write_out(self) -> None:
        store = self.store
        self._writer.roll()
        begin = Mark(self._writer.mark.segment, 0)
        versions = store.predicate_versions
        members = store.members
        counters = {"next": store.next_number, "version": store.version, "versions": versions}
        counters["members"] = [members.oldest, members.latest]
        self._append({"op": "begin", **counters})
        for segment in store.segments:
            columns = {**fact_columns(segment.facts()), "number": segment.number}
            self._append({"op": "segment", "kind": segment.kind}, facts=columns)
        for page, kept in members.columns():
            self._append({"op": "members", "page": page}, members=dict(kept))
        self._append({"op": "whole"})
        self._writer.forget(begin)
        self._copy = self._writer.unread(look=True)

    def close(self) -> None:
        """Let the log go to another writer."""
        self._writer.close()

    def _append(self, header: dict[str, Any], **tables: dict[str, Any]) -> None:
        self._writer.append(pack(_KIND, header, tables, compression="zstd").to_pybytes())

    def _replayed(self, retention: Retention) -> FactStore:
        """The store that the records of the log make."""
        store = self._empty(retention)
        copied: FactStore | None = None
        first = min(self._writer.numbers, default=0)
        size = 0
        for record, length in self._records(Mark(first, 0)):
            header = record.header
            size = length if header["op"] == "begin" else size + length
            if header["op"] == "push":
                facts = facts_of(record.table("facts"))
                if header["supersede"]:
                    store.supersede(facts)
                store.add(facts, header["now"])
            elif header["op"] == "end":
                store.end(triples_of(record.table("triples")), header["at"], header["now"])
            elif header["op"] == "begin":
                copied = self._empty(retention)
                copied.next_number, copied.version = header["next"], header["version"]
                copied.predicate_versions = dict(header["versions"])
                copied.members.oldest, copied.members.latest = header["members"]
            elif copied is None:
                raise CheckpointError(
                    f"the log in {self.folder} is damaged", detail="a copy has no beginning"
                )
            elif header["op"] == "segment":
                segment = Segment(
                    facts_of(record.table("facts")), numbers(record.table("facts")["number"]).tolist()
                )
                segment.kind = header["kind"]
                copied.restore(segment)
            elif header["op"] == "members":
                copied.members.restore(header["page"], record.table("members"))
            else:
                store, copied, self._copy = copied, None, size
        return store

    def _empty(self, retention: Retention) -> FactStore:
        return FactStore(retention, Members(self._members, retention.age))

    def _records(self, begin: Mark) -> Iterator[tuple[Container, int]]:
        """The records from a place on, each with its length."""
        data: bytes = b""
        loaded = -1
        for number, block in self._writer.blocks(begin, self._writer.mark):
            if number != loaded:
                with open(self._writer.path(number), "rb") as file:
                    data = file.read()
                loaded = number
            yield unpack(data[block.body : block.end], _KIND), block.end - block.begin
