"""The questions that every engine is asked, and the folder in which a driver finds one.

Readings of sensors, one message each of two triples, ``GAP`` ms apart; windows of 3 s every second, reported
when they close. Times are small, because some engines count windows from 0. Some report a window only when a
later message comes, so messages that match nothing follow until every window has closed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

STREAM, WINDOW = "http://example.org/readings", "http://example.org/w"
RANGE, STEP, GAP = 3_000, 1_000, 20
_EX = "http://example.org/"
_SENSORS, _ROOMS = 50, 10
_INTEGER = "<http://www.w3.org/2001/XMLSchema#integer>"


@dataclass(frozen=True, slots=True)
class Workload:
    """``body`` is what the window has to match, ``around`` what else must hold, ``select`` what is asked."""

    name: str
    select: str
    body: str
    around: str = ""
    tail: str = ""

    def rspql(self) -> str:
        """Clauses begin on lines of their own: RSP-JS and rsp-rs find them there."""
        return (
            f"PREFIX ex: <{_EX}>\nREGISTER RStream <output> AS\n{self.select}\n"
            f"FROM NAMED WINDOW ex:w ON STREAM ex:readings [RANGE {RANGE} STEP {STEP}]\n"
            f"WHERE {{\nWINDOW ex:w {{ {self.body} }}\n{self.around}\n}} {self.tail}\n"
        )

    def csparql(self) -> str:
        return (
            f"REGISTER QUERY peers AS\nPREFIX ex: <{_EX}>\n{self.select}\n"
            f"FROM STREAM <{STREAM}> [RANGE {RANGE}ms STEP {STEP}ms]\n"
            f"WHERE {{ {self.body} {self.around} }} {self.tail}\n"
        )

    def sparql(self) -> str:
        """What a store is asked whose graph ``WINDOW`` is the window."""
        where = f"GRAPH ex:w {{ {self.body} }} {self.around}"
        return f"PREFIX ex: <{_EX}>\n{self.select}\nWHERE {{ {where} }} {self.tail}\n"


WORKLOADS = (
    Workload("join", "SELECT ?x ?y", "?x ex:in ?r . ?y ex:hot ?r ."),
    Workload(
        "aggregate",
        "SELECT ?s (COUNT(?o) AS ?n) (MAX(?v) AS ?most)",
        "?o ex:by ?s . ?o ex:value ?v .",
        tail="GROUP BY ?s",
    ),
    Workload("static", "SELECT ?o ?room", "?o ex:by ?s . ?o ex:value ?v .", "?s ex:room ?room ."),
)


def messages(workload: Workload, count: int) -> list[str]:
    """Lines of each message, and those that only let time pass at the end."""
    found = []
    for number in range(count):
        time = STEP + number * GAP
        if workload.name == "join":
            triples = [f"<{_EX}o{number}> <{_EX}in> <{_EX}r{number * 7 % 40}> ."]
            triples += [f"<{_EX}h{number}> <{_EX}hot> <{_EX}r{number * 11 % 40}> ."]
        else:
            value = f'"{number * 37 % 1000}"^^{_INTEGER}'
            triples = [f"<{_EX}o{number}> <{_EX}by> <{_EX}s{number * 13 % _SENSORS}> ."]
            triples += [f"<{_EX}o{number}> <{_EX}value> {value} ."]
        found.append("".join(f"{time}\t{triple}\n" for triple in triples))
    last = (STEP + count * GAP) // STEP * STEP
    for later in range(last + STEP // 2, last + RANGE + 3 * STEP, STEP):
        found.append(f"{later + STEP}\t<{_EX}time> <{_EX}passes> <{_EX}on> .\n")
    return found


def write(workload: Workload, count: int, folder: Path) -> int:
    """Write the folder that a driver is given; how many triples the stream has."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = messages(workload, count)
    (folder / "query.rspql").write_text(workload.rspql(), encoding="utf-8")
    (folder / "query.csparql").write_text(workload.csparql(), encoding="utf-8")
    (folder / "query.sparql").write_text(workload.sparql(), encoding="utf-8")
    (folder / "stream.tnq").write_text("".join(lines), encoding="utf-8")
    rooms = [f"<{_EX}s{each}> <{_EX}room> <{_EX}room{each % _ROOMS}> .\n" for each in range(0, _SENSORS, 2)]
    (folder / "static.nt").write_text("".join(rooms if workload.around else []), encoding="utf-8")
    told = {"stream": STREAM, "window": WINDOW, "range_ms": RANGE, "step_ms": STEP}
    (folder / "workload.json").write_text(json.dumps(told), encoding="utf-8")
    return sum(text.count("\n") for text in lines)
