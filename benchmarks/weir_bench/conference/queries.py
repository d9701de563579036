"""Q1 to Q5 of CQELS section 4.1 as templates: in CQELS-QL, and as what a black box is asked.

A black box (C-SPARQL's way) keeps the windows as graphs of a triple store, brings them up to date at each
evaluation time and evaluates the query anew. ``$Name$`` is replaced by an author's name.
"""

from __future__ import annotations

from dataclasses import dataclass

PREFIXES = """PREFIX lv: <http://deri.org/floorplan/>
PREFIX dc: <http://purl.org/dc/elements/1.1/>
PREFIX dcterms: <http://purl.org/dc/terms/>
PREFIX foaf: <http://xmlns.com/foaf/0.1/>
PREFIX swrc: <http://swrc.ontoware.org/ontology#>
"""


@dataclass(frozen=True, slots=True)
class Template:
    """``windows`` are the widths of the query's two windows for the black box: seconds of a RANGE, or
    None for the latest sighting (NOW and TRIPLES 1 hold the same with one triple a message)."""

    name: str
    form: str
    latest: str
    ranged: str | None
    static: str
    seconds: int
    tail: str = ""
    latest_window: str = "NOW"
    instances: int = 10

    def cqels(self, author: str, seconds: int | None = None) -> str:
        """The continuous query, with the RANGE window as given or of another width."""
        streams = [f"STREAM <http://deri.org/streams/rfid> [{self.latest_window}] {{{self.latest}}}"]
        if self.ranged is not None:
            width = self.seconds if seconds is None else seconds
            streams.append(f"STREAM <http://deri.org/streams/rfid> [RANGE {width}s] {{{self.ranged}}}")
        return self._text(" ".join(streams), author)

    def sparql(self, author: str) -> str:
        """The query over the graphs ``w:latest`` and ``w:ranged`` of a store."""
        graphs = [f"GRAPH <w:latest> {{{self.latest}}}"]
        if self.ranged is not None:
            graphs.append(f"GRAPH <w:ranged> {{{self.ranged}}}")
        return self._text(" ".join(graphs), author)

    def _text(self, windows: str, author: str) -> str:
        static = self.static.replace("$Name$", author)
        return f"{PREFIXES}{self.form} WHERE {{ {windows} {static} }} {self.tail}"


QUERIES = (
    Template(
        "Q1",
        "SELECT ?locName ?locDesc",
        "?person lv:detectedAt ?loc",
        None,
        "GRAPH <http://deri.org/floorplan/> {?loc lv:name ?locName. ?loc lv:desc ?locDesc}"
        ' ?person foaf:name "$Name$".',
        0,
    ),
    Template(
        "Q2",
        "CONSTRUCT {?person1 lv:reachable ?person2}",
        "?person1 lv:detectedAt ?loc1",
        "?person2 lv:detectedAt ?loc2",
        "GRAPH <http://deri.org/floorplan/> {?loc1 lv:connected ?loc2}",
        3,
        instances=1,
    ),
    Template(
        "Q3",
        "SELECT ?coAuthName",
        "?auth lv:detectedAt ?loc",
        "?coAuth lv:detectedAt ?loc",
        "{ ?paper dc:creator ?auth. ?paper dc:creator ?coAuth."
        ' ?auth foaf:name "$Name$". ?coAuth foaf:name ?coAuthName} FILTER (?auth != ?coAuth)',
        5,
        latest_window="TRIPLES 1",
    ),
    Template(
        "Q4",
        "SELECT ?editorName",
        "?auth lv:detectedAt ?loc1",
        "?editor lv:detectedAt ?loc2",
        "GRAPH <http://deri.org/floorplan/> {?loc1 lv:connected ?loc2}"
        " ?paper dc:creator ?auth. ?paper dcterms:partOf ?proceeding."
        " ?proceeding swrc:editor ?editor. ?editor foaf:name ?editorName."
        ' ?auth foaf:name "$Name$"',
        15,
        latest_window="TRIPLES 1",
    ),
    Template(
        "Q5",
        "SELECT ?loc2 ?locName (count(distinct ?coAuth) as ?noCoAuths)",
        "?auth lv:detectedAt ?loc1",
        "?coAuth lv:detectedAt ?loc2",
        "GRAPH <http://deri.org/floorplan/> {?loc2 lv:name ?locName. ?loc2 lv:connected ?loc1}"
        ' {?paper dc:creator ?auth. ?paper dc:creator ?coAuth. ?auth foaf:name "$Name$"}'
        " FILTER (?auth != ?coAuth)",
        30,
        "GROUP BY ?loc2 ?locName",
        latest_window="TRIPLES 1",
    ),
)

PUBLISHED = {
    "CQELS": (0.47, 3.90, 0.51, 0.53, 21.83),
    "C-SPARQL": (332.46, 99.84, 331.68, 395.18, 322.64),
    "ETALIS": (0.06, 27.47, 79.95, 469.23, 160.83),
}
"""CQELS Table 2: milliseconds per evaluation, on the authors' machine of 2011."""
