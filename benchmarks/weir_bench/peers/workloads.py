"""The questions that every engine is asked, and the folder in which a driver finds one.

In windows that close every second: a join, an aggregate and a join with static data over readings of sensors,
and Q1 to Q5 of CQELS over its conference, with both patterns of a query in one window of the query's range,
because rsp-rs and RSP-JS have one window a stream. And Q1 to Q5 as published, which move with every message:
for engines that read CQELS-QL. Times are small, because some engines count windows from 0. Some report a
window only when a later message comes, so messages that match nothing follow until every window has closed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from weir_bench.conference.queries import PREFIXES, QUERIES, Template
from weir_bench.data.conference import FLOORPLAN, LV, RFID, Conference, conference, day, room_text
from weir_bench.data.conference_files import lines
from weir_bench.data.library import author_text

WINDOW, STEP = "http://example.org/w", 1_000
READINGS = "http://example.org/readings"
_EX = "http://example.org/"
_SENSORS, _ROOMS, _PLACES = 50, 10, 3_389
_DENSE, _DENSE_COUNTS = 2, {"all": 50_000, "each": 5_000}
"""Readings come two triples every 2 ms, so a window of 3 s has 3,000 triples; they meet at so many places
that a join of them gives two results for three triples."""
_INTEGER = "<http://www.w3.org/2001/XMLSchema#integer>"
_LIBRARY, _PARTICIPANTS = 5_000, 60
"""Triples of the conference's library, which some engines copy for every window; people with tags."""


@dataclass(frozen=True, slots=True)
class Question:
    """``body`` is what the window has to match, ``around`` what else must hold, ``select`` what is asked."""

    select: str
    body: str
    around: str = ""
    tail: str = ""
    prefixes: str = f"PREFIX ex: <{_EX}>\n"
    stream: str = READINGS
    range_ms: int = 3_000

    def rspql(self) -> str:
        """Clauses begin on lines of their own: RSP-JS and rsp-rs find them there."""
        return (
            f"{self.prefixes}REGISTER RStream <output> AS\n{self.select}\n"
            f"FROM NAMED WINDOW <{WINDOW}> ON STREAM <{self.stream}> [RANGE {self.range_ms} STEP {STEP}]\n"
            f"WHERE {{\nWINDOW <{WINDOW}> {{ {self.body} }}\n{self.around}\n}} {self.tail}\n"
        )

    def csparql(self) -> str:
        return (
            f"REGISTER QUERY peers AS\n{self.prefixes}{self.select}\n"
            f"FROM STREAM <{self.stream}> [RANGE {self.range_ms}ms STEP {STEP}ms]\n"
            f"WHERE {{ {self.body} {self.around} }} {self.tail}\n"
        )

    def sparql(self) -> str:
        """What a store is asked whose graph ``WINDOW`` is the window."""
        where = f"GRAPH <{WINDOW}> {{ {self.body} }} {self.around}"
        return f"{self.prefixes}{self.select}\nWHERE {{ {where} }} {self.tail}\n"


@dataclass(frozen=True, slots=True)
class Workload:
    """A question about readings, or about the conference: ``question`` in windows that close, ``template`` as
    CQELS published it."""

    name: str
    question: Question | None = None
    template: Template | None = None
    gap_ms: int = 20
    counts: Mapping[str, int] = field(default_factory=lambda: {"all": 20_000, "each": 500})
    """Messages for each mode."""

    @property
    def texts(self) -> dict[str, str]:
        """The query files of the folder."""
        if self.question is not None:
            asked = self.question
            return {
                "query.rspql": asked.rspql(),
                "query.csparql": asked.csparql(),
                "query.sparql": asked.sparql(),
            }
        assert self.template is not None
        return {"query.cqels": self.template.cqels(_world().name(_world().notable[0]))}

    @property
    def stream(self) -> str:
        return RFID if self.question is None else self.question.stream


@lru_cache(maxsize=1)
def _world() -> Conference:
    return conference(_LIBRARY, _PARTICIPANTS)


def _closing(template: Template) -> Question:
    """A query of CQELS with its windows made one that closes every second."""
    select = template.form if template.form.startswith("SELECT") else "SELECT ?person1 ?person2"
    body = " . ".join(part for part in (template.latest, template.ranged) if part)
    return Question(
        select,
        body,
        template.static.replace("$Name$", _world().name(_world().notable[0])),
        template.tail,
        PREFIXES,
        RFID,
        1_000 * max(template.seconds, 1),
    )


def workloads(published: bool = False) -> list[Workload]:
    """All of them; those as published only where somebody is there to be compared with."""
    found = [
        Workload(
            "join",
            Question("SELECT ?x ?y", "?x ex:in ?r . ?y ex:hot ?r ."),
            gap_ms=_DENSE,
            counts=_DENSE_COUNTS,
        ),
        Workload(
            "aggregate",
            Question(
                "SELECT ?s (COUNT(?o) AS ?n) (MAX(?v) AS ?most)",
                "?o ex:by ?s . ?o ex:value ?v .",
                tail="GROUP BY ?s",
            ),
            gap_ms=_DENSE,
            counts=_DENSE_COUNTS,
        ),
        Workload(
            "static",
            Question("SELECT ?o ?room", "?o ex:by ?s . ?o ex:value ?v .", "?s ex:room ?room ."),
            gap_ms=_DENSE,
            counts=_DENSE_COUNTS,
        ),
    ]
    counts = {"all": 2_000, "each": 200}
    found += [Workload(each.name, _closing(each), None, 50, counts) for each in QUERIES]
    if published:
        found += [Workload(f"{each.name} as published", None, each, 10) for each in QUERIES]
    return found


def messages(workload: Workload, count: int) -> list[str]:
    """Lines of each message, and those that only let time pass at the end."""
    if workload.stream == RFID:
        statements = _sightings(count, workload.gap_ms)
    else:
        statements = [_reading(workload.name, number) for number in range(count)]
    found = [
        "".join(f"{STEP + number * workload.gap_ms}\t{triple}\n" for triple in triples)
        for number, triples in enumerate(statements)
    ]
    last = (STEP + (count - 1) * workload.gap_ms) // STEP * STEP
    width = 0 if workload.question is None else workload.question.range_ms
    for later in range(last + STEP // 2, last + width + 3 * STEP, STEP):
        found.append(f"{later + STEP}\t<{_EX}time> <{_EX}passes> <{_EX}on> .\n")
    return found


def _reading(name: str, number: int) -> Sequence[str]:
    if name == "join":
        return (
            f"<{_EX}o{number}> <{_EX}in> <{_EX}r{number * 7 % _PLACES}> .",
            f"<{_EX}h{number}> <{_EX}hot> <{_EX}r{number * 11 % _PLACES}> .",
        )
    return (
        f"<{_EX}o{number}> <{_EX}by> <{_EX}s{number * 13 % _SENSORS}> .",
        f'<{_EX}o{number}> <{_EX}value> "{number * 37 % 1000}"^^{_INTEGER} .',
    )


def _sightings(count: int, gap_ms: int) -> list[Sequence[str]]:
    _, author, room = day(_world(), 0, count, 1_000 / gap_ms, 1)
    pairs = zip(author.tolist(), room.tolist(), strict=True)
    return [(f"{author_text(who)} <{LV}detectedAt> {room_text(where)} .",) for who, where in pairs]


def write(workload: Workload, count: int, folder: Path) -> int:
    """Write the folder that a driver is given; how many triples the stream has."""
    folder.mkdir(parents=True, exist_ok=True)
    stream = messages(workload, count)
    for name, text in workload.texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "stream.tnq").write_text("".join(stream), encoding="utf-8")
    graphs = {}
    if workload.stream == RFID:
        static = lines(_world().library.all()).to_list()
        graphs = {FLOORPLAN: "floorplan.nt"}
        (folder / "floorplan.nt").write_text("".join(lines(_world().floorplan)), encoding="utf-8")
    else:
        sensors = range(0, _SENSORS, 2) if workload.name == "static" else ()
        static = [f"<{_EX}s{each}> <{_EX}room> <{_EX}room{each % _ROOMS}> .\n" for each in sensors]
    (folder / "static.nt").write_text("".join(static), encoding="utf-8")
    told: dict[str, Any] = {"stream": workload.stream, "graphs": graphs}
    if workload.question is not None:
        told |= {"window": WINDOW, "range_ms": workload.question.range_ms, "step_ms": STEP}
    (folder / "workload.json").write_text(json.dumps(told), encoding="utf-8")
    return sum(text.count("\n") for text in stream)
