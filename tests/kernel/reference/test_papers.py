"""Worked examples of the papers: CQELS Table 1 and Q2's form."""

from __future__ import annotations

from reference_kit import run, static_of
from weir.kernel.reference import Message
from weir.language import parse
from weir.rdf.terms import IRI

SECOND = 1_000_000


def name(text: str) -> IRI:
    return IRI(f"urn:{text}")


CONNECTED = [
    (name(a), name("conn"), name(b)) for a, b in (("r1", "r2"), ("r1", "r3"), ("r2", "r1"), ("r3", "r1"))
]
DETECTED = [("m0", "r1"), ("m1", "r2"), ("m2", "r1"), ("m3", "r2")]


def test_table_1_of_cqels() -> None:
    """Localisation, T = 2: the person in the RANGE window reaches the one just detected."""
    query = parse(
        """PREFIX : <urn:>
        CONSTRUCT { ?p2 :reaches ?p1 } WHERE {
          STREAM :s [NOW] { ?p1 :detectedAt ?l1 }
          STREAM :s [RANGE 2s] { ?p2 :detectedAt ?l2 }
          GRAPH :map { ?l1 :conn ?l2 }
        }""",
        "cqels",
    )
    stream = [
        Message(t * SECOND, ((name(person), name("detectedAt"), name(room), None),))
        for t, (person, room) in enumerate(DETECTED)
    ]
    found = run(query, {"urn:s": stream}, static_of([], {"urn:map": CONNECTED}))
    assert [(at // SECOND, row[0].value, row[2].value) for at, row in found] == [
        (1, "urn:m0", "urn:m1"),
        (2, "urn:m1", "urn:m2"),
        (3, "urn:m2", "urn:m3"),
    ]
