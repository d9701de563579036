"""A conference: rooms on a floor plan, people with tags, papers they wrote; and how people move.

Everything follows from a seed, so two demos differ only in their clock.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

LV = "http://deri.org/floorplan/"
FOAF = "http://xmlns.com/foaf/0.1/"
DC = "http://purl.org/dc/elements/1.1/"
RFID = "http://deri.org/streams/rfid"
FLOORPLAN = "http://deri.org/floorplan/"

ROOMS = (
    "Entrance Hall",
    "Auditorium",
    "Room Ada",
    "Room Grace",
    "Room Alan",
    "Room Edsger",
    "Cafeteria",
    "Library",
    "Garden",
    "Poster Hall",
    "Demo Corner",
    "Terrace",
)
_WIDE = 4
_FIRST = (
    "Anna Ben Chloe David Emma Farid Grace Hugo Ines Jan Kira Leo Mona Nils Olga Pablo Rosa Sven Tara Uwe"
)
_LAST = "Abel Bauer Costa Dupont Eriksen Fischer Garcia Huang Ivanova Jansen Kowalski Larsen"
_TOPICS = "Streams Windows Joins Graphs Queries Ontologies Sensors Reasoning Federation Provenance"


@dataclass(frozen=True, slots=True)
class World:
    """``neighbours`` of each room, people's names, and the authors of each paper (by number)."""

    neighbours: tuple[tuple[int, ...], ...]
    people: tuple[str, ...]
    papers: tuple[tuple[int, ...], ...]

    @staticmethod
    def made(people: int = 60, papers: int = 40, seed: int = 7) -> World:
        """A world of this size."""
        dice = random.Random(seed)
        firsts, lasts = _FIRST.split(), _LAST.split()
        names = dice.sample([f"{first} {last}" for first in firsts for last in lasts], people)
        authors = tuple(tuple(dice.sample(range(people), dice.randint(2, 4))) for _ in range(papers))
        return World(tuple(_beside(room) for room in range(len(ROOMS))), tuple(names), authors)

    def floorplan(self) -> str:
        """The floor plan in Turtle."""
        lines = [f"@prefix lv: <{LV}> ."]
        for room, name in enumerate(ROOMS):
            lines.append(f'lv:room{room} lv:name "{name}" .')
            lines += [f"lv:room{room} lv:connected lv:room{other} ." for other in self.neighbours[room]]
        return "\n".join(lines) + "\n"

    def library(self) -> str:
        """People and papers in Turtle, shaped like DBLP."""
        dice = random.Random(len(self.papers))
        topics = _TOPICS.split()
        lines = [f"@prefix lv: <{LV}> .", f"@prefix foaf: <{FOAF}> .", f"@prefix dc: <{DC}> ."]
        lines += [f'lv:person{i} foaf:name "{name}" .' for i, name in enumerate(self.people)]
        for paper, authors in enumerate(self.papers):
            title = f"{dice.choice(topics)} and {dice.choice(topics)}"
            lines.append(f'lv:paper{paper} dc:title "{title}" .')
            lines += [f"lv:paper{paper} dc:creator lv:person{author} ." for author in authors]
        return "\n".join(lines) + "\n"

    def walk(self, seed: int = 1) -> Iterator[tuple[int, int]]:
        """(person, room) for ever: a tag is seen, now and then in the next room."""
        dice = random.Random(seed)
        where = [dice.randrange(len(ROOMS)) for _ in self.people]
        while True:
            person = dice.randrange(len(self.people))
            if dice.random() < 0.2:
                where[person] = dice.choice(self.neighbours[where[person]])
            yield person, where[person]


def detection(time: int, person: int, room: int) -> str:
    """One line of the stream; ``time`` in milliseconds."""
    return f"{time}\t<{LV}person{person}> <{LV}detectedAt> <{LV}room{room}> .\n"


def _beside(room: int) -> tuple[int, ...]:
    row, column = divmod(room, _WIDE)
    near = [(row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)]
    return tuple(
        r * _WIDE + c for r, c in near if 0 <= c < _WIDE and 0 <= r * _WIDE + c < len(ROOMS) and r >= 0
    )


QUERIES = {
    "reachable": f"""PREFIX lv: <{LV}>
CONSTRUCT {{ ?person1 lv:reachable ?person2 }}
FROM NAMED <{FLOORPLAN}>
WHERE {{
  STREAM <{RFID}> [NOW]      {{ ?person1 lv:detectedAt ?loc1 }}
  STREAM <{RFID}> [RANGE 1s] {{ ?person2 lv:detectedAt ?loc2 }}
  GRAPH <{FLOORPLAN}>        {{ ?loc1 lv:connected ?loc2 }}
}}
""",
    "coauthors": f"""PREFIX lv: <{LV}>
PREFIX foaf: <{FOAF}>
PREFIX dc: <{DC}>
SELECT DISTINCT ?name ?coauthor ?place
FROM NAMED <{FLOORPLAN}>
WHERE {{
  STREAM <{RFID}> [NOW]      {{ ?author lv:detectedAt ?room }}
  STREAM <{RFID}> [RANGE 2s] {{ ?other lv:detectedAt ?room }}
  GRAPH <{FLOORPLAN}>        {{ ?room lv:name ?place }}
  ?paper dc:creator ?author . ?paper dc:creator ?other .
  ?author foaf:name ?name . ?other foaf:name ?coauthor .
  FILTER (?author != ?other)
}}
""",
    "crowd": f"""PREFIX lv: <{LV}>
REGISTER RSTREAM <crowd> AS
SELECT ?place (COUNT(DISTINCT ?person) AS ?people)
FROM NAMED <{FLOORPLAN}>
FROM NAMED WINDOW <recent> ON <{RFID}> [RANGE PT4S STEP PT2S]
WHERE {{
  WINDOW <recent>     {{ ?person lv:detectedAt ?room }}
  GRAPH <{FLOORPLAN}> {{ ?room lv:name ?place }}
}}
GROUP BY ?place
""",
}
"""CQELS's Q2, Q3 for all authors at once, and how full each room is."""
