"""The use case of the query streamer (section 3): departures of trains from one station.

100 departures have three static triples each (time, head sign, route) and two dynamic ones (delay,
platform), which are made anew every ten seconds: about 300 static and 200 dynamic triples.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from weir.fragments.protocol.annotation import Fact, Quad, time_text
from weir.rdf.terms import XSD

SECOND = 1_000_000
TRAIN = "http://example.org/train#"
STATION = "http://example.org/stations/008892007/departures/"
_CITIES = (
    "Ghent",
    "Bruges",
    "Antwerp",
    "Brussels",
    "Leuven",
    "Liège",
    "Namur",
    "Kortrijk",
    "Ostend",
    "Hasselt",
)
_ROUTES = ("IC", "L", "P", "S")


@dataclass(frozen=True, slots=True)
class Departures:
    """``first`` (µs) is when the first train leaves; one leaves every minute."""

    first: int
    trains: int = 100
    period: int = 10 * SECOND
    seed: int = 0

    def static(self) -> list[Quad]:
        """What the timetable says."""
        chance = random.Random(self.seed)
        quads: list[Quad] = []
        for train in range(self.trains):
            subject = f"<{STATION}{train}>"
            route = f'"{chance.choice(_ROUTES)} {chance.randrange(100, 4000)}"'
            quads += [
                (subject, f"<{TRAIN}departureTime>", time_text(self.first + train * 60 * SECOND), ""),
                (subject, f"<{TRAIN}headSign>", f'"{chance.choice(_CITIES)}"', ""),
                (subject, f"<{TRAIN}routeLabel>", route, ""),
            ]
        return quads

    def version(self, number: int, start: int) -> list[Fact]:
        """What the boards show for one period from ``start`` on."""
        chance = random.Random(self.seed * 1_000_003 + number)
        facts = []
        for train in range(self.trains):
            subject = f"<{STATION}{train}>"
            delay = max(0, round(chance.gauss(2, 4)))
            values = (
                ("delay", f'"{delay}"^^<{XSD}integer>'),
                ("platform", f'"{(train + chance.randrange(2)) % 12 + 1}"'),
            )
            facts += [
                Fact(subject, f"<{TRAIN}{name}>", text, start, start + self.period) for name, text in values
            ]
        return facts

    def expected(self, number: int, client: int = 0, minutes: int = 60) -> int:
        """How many results the query has over a version: every train of its hour has one."""
        begin = client % max(1, self.trains - minutes)
        return min(self.trains, begin + minutes) - begin

    def query(self, client: int = 0, minutes: int = 60) -> str:
        """Listing 1.1: the departures of an hour; each client asks for another one."""
        begin = self.first + (client % max(1, self.trains - minutes)) * 60 * SECOND - SECOND
        times = [time_text(begin), time_text(begin + minutes * 60 * SECOND)]
        return (
            f"PREFIX t: <{TRAIN}>\n"
            "SELECT ?delay ?platform ?headSign ?routeLabel ?departureTime WHERE {\n"
            "  _:id t:delay ?delay .\n"
            "  _:id t:platform ?platform .\n"
            "  _:id t:departureTime ?departureTime .\n"
            "  _:id t:headSign ?headSign .\n"
            "  _:id t:routeLabel ?routeLabel .\n"
            f"  FILTER (?departureTime > {times[0]})\n"
            f"  FILTER (?departureTime < {times[1]})\n"
            "}\n"
        )
