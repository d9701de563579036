"""A process that feeds mutated texts to every parser entry, for ``tests/faults/test_parsers.py``.

    python tests/fuzz_child.py SEED FIRST LAST MARK

Input number n of a seed is always the same. Its number is in the file MARK while it is being read, so that
whoever finds this process dead knows of what. What an entry raises beside what it may is an error here.
"""

from __future__ import annotations

import faulthandler
import mmap
import random
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from weir.errors import WeirError
from weir.fragments.client.page import parse_page
from weir.fragments.server.request import decoded, parse_values
from weir.language import parse
from weir.language.update import parse_update
from weir.linked.graphs.graph_files import graph_files, read_file
from weir.linked.service.remote_query import parse_results
from weir.rdf.formats.guarded_parser import SYNTAXES, Unparsable, as_nquads, parse_document, read_statements
from weir.rdf.formats.media import FORMATS, Format, format_of
from weir.rdf.formats.payloads import parse_payloads
from weir.rdf.formats.tnq import parse_lines
from weir.rdf.formats.units import Document, parse_documents
from weir.server.pushed_streams import check_lines

STACK = 2 << 20
"""A quarter of the usual stack: what nests as deeply as it may has to fit."""
SECONDS = 120.0
"""How long one input may take before the process gives itself up."""
_MOST, _USUAL, _FEW = 300_000, 1_500, 50
_TOGETHER = 45
"""Lines that are read at once. A failure names the last one: begin 50 inputs before it to repeat it."""
KEY = b"k" * 16
ENDINGS = (".nt", ".nq", ".ttl", ".trig", ".jsonld", ".rdf")
DIALECTS = ("auto", "sparql", "rspql", "cqels", "csparql", "sparqlstream")
RESULTS = ("application/sparql-results+json", "application/sparql-results+xml", "")

SEEDS: Sequence[bytes] = (
    b'1000\t<http://e/s> <http://e/p> "x"@en .\n2\t_:b <a:p> <<( <a:s> <a:p> "1"^^<a:t> )>> <a:g> .\n',
    b"2020-01-01T00:00:00Z\t<http://e/s> <http://e/p> <http://e/o> .\n1000\t\n# no line\n",
    b'@prefix e: <http://e/> . @base <http://b/> . e:s a e:T ; e:p ( 1 2.5 "x" ), [ e:q true ] {| e:r 1 |} .',
    b"PREFIX e: <http://e/> GRAPH e:g { << e:s e:p e:o ~ e:r >> e:q '''long ' text''' , \"\"\"x\"\"\" . }",
    b'{"@context": {"e": "http://e/", "p": {"@id": "e:p", "@type": "@id"}}, "@id": "e:s", "p":'
    b' ["e:o", {"@list": [1]}]}',
    b'[{"@graph": [{"@id": "a:s", "http://e/p": {"@value": "x", "@language": "en"}}], "@id": "a:g"}]',
    b'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY e "http://e/">]><rdf:RDF xmlns:e="&e;" xml:ba'
    b'se="http://b/" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><!-- c --><e:T rd'
    b'f:about="s"><e:p rdf:parseType="Literal"><x/></e:p><e:q xml:lang="en">&lt;<![CDATA[x]]><'
    b"/e:q></e:T></rdf:RDF>",
    b'{"head": {"vars": ["x"]}, "results": {"bindings": [{"x": {"type": "triple", "value": {"s'
    b'ubject": {"type": "uri", "value": "a:s"}, "predicate": {"type": "uri", "value": "a:p"}, '
    b'"object": {"type": "literal", "value": "x", "xml:lang": "en"}}}}, {"x": {"type": "bnode"'
    b', "value": "b"}}]}}',
    b'<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head><variable name="x"/></head>'
    b'<results><result><binding name="x"><literal datatype="http://www.w3.org/2001/XMLSchema#i'
    b'nteger">1</literal></binding></result></results></sparql>',
    b"PREFIX e: <http://e/> REGISTER RSTREAM <out> AS SELECT ?s (COUNT(DISTINCT ?o) AS ?n) FRO"
    b"M NAMED WINDOW <w> ON <s> [RANGE PT10M STEP 5s STARTING AT FIRST TICK CHANGE] WHERE { WI"
    b"NDOW <w> { ?s e:p/e:q* ?o FILTER(?o > 1 && NOT EXISTS { ?o ?x [] }) } OPTIONAL { GRAPH ?"
    b"g { ?s ?p ?v } } } GROUP BY ?s HAVING (?n > 2) ORDER BY DESC(?n)",
    b"SELECT ?a WHERE { STREAM <s> [RANGE 5s SLIDE 1s] { ?a ?b << ?c ?d ?e >> } SERVICE <http:"
    b"//e/q#weir:budget=1> { ?a ?f ?g } VALUES (?a ?b) { (UNDEF <x>) } BIND(REPLACE(STR(?a), '"
    b"(a|b)*', 'x') AS ?h) }",
    b"INSERT DATA { GRAPH <a:g> { <a:s> <a:p> 'x'@en , <<( <a:s> <a:p> 1 )>> } } ; DELETE DATA"
    b" { <a:s> <a:p> 1 }",
    b'(?s ?o) { (<a> "x"@en) (UNDEF <b>) }',
    b'<a:s> <a:p> "\\u00e9\\U0001F600\\n" .\n<a:s> <a:p> <a:o> <a:g> .',
)
LINES: Sequence[bytes] = [line for seed in (*SEEDS[:2], SEEDS[-1]) for line in seed.split(b"\n") if line]
TOKENS: Sequence[bytes] = (
    *(b"<<( ", b" )>>", b"<< ", b" >>", b"{| ", b" |}", b"[", b"]", b"(", b")", b"{", b"}", b"<", b">"),
    *(
        b'"',
        b"'",
        b'"""',
        b"'''",
        b"\\",
        b"\\u",
        b"\\ud800",
        b"#",
        b"\n",
        b"\r",
        b"\t",
        b" .",
        b"\x00",
        b"\xff",
    ),
    *(
        b"<a><b>",
        b"</a>",
        b"<a/>",
        b"<!--",
        b"-->",
        b"<![CDATA[",
        b"]]>",
        b'<!ENTITYa "&a;">',
        b"&a;",
        b"&#0;",
    ),
    *(
        b'"@context":{',
        b'"@id":"',
        b'"@list":[',
        b'"@reverse":{',
        b'"@type":"',
        b'"t1":"t2:x",',
        b"1e999999999",
    ),
    *(
        b"9" * 40,
        b"P9999999999D",
        b"@en-",
        b"^^",
        b"_:",
        b"SELECT ",
        b"FILTER(",
        b"NOT EXISTS{",
        b"!",
        b"^",
        b"/",
    ),
    *("\u202e\ufffe\U0010ffff".encode(), b"\xed\xa0\x80", b"\xef\xbb\xbf", b"%s%n", b"[RANGE ", b"=" * 9),
)


def mutated(rng: random.Random, seeds: Sequence[bytes] = SEEDS) -> bytes:
    """A seed, cut, spliced, repeated and sprinkled with tokens; one in ``_FEW`` is large."""
    data = rng.choice(seeds)

    def times(counts: Sequence[int]) -> int:
        return rng.choice([count for count in counts if most == _MOST or count <= 250])

    most = _MOST if rng.randrange(_FEW) == 0 else _USUAL
    for _ in range(rng.choice((1, 1, 2, 3, 5, 8))):
        at, to = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
        match rng.randrange(8):
            case 0:
                data = data[:at] + data[to:]
            case 1:
                data = data[:at] + rng.choice(TOKENS) + data[at:]
            case 2:
                data = data[:at] + rng.choice(TOKENS) * times((2, 50, 250, 2_000, 20_000)) + data[at:]
            case 3:
                piece = data[at : min(to, at + 40)]
                data = data[:at] + piece * times((2, 30, 250, 3_000)) + data[to:]
            case 4:
                other = rng.choice(SEEDS)
                data = data[:at] + other[rng.randrange(len(other)) :]
            case 5 if data:
                place = rng.randrange(len(data))
                data = data[:place] + bytes((rng.randrange(256),)) + data[place + 1 :]
            case 6:
                opening, closing = rng.choice(((b"{", b"}"), (b"[", b"]"), (b"(", b")"), (b"<a>", b"</a>")))
                deep = times((10, 150, 250, 5_000))
                data = data[:at] + opening * deep + data[at:to] + closing * deep + data[to:]
            case _:
                piece = rng.choice((b"<a:s> <a:p> <<( ", b'{"a:p":', b"<e:T><e:p>", b"{ ", b"( "))
                data = data[:at] + piece * times((90, 150, 1_000, 20_000)) + data[at:]
    return data[:most]


def _graph_file(data: bytes, ending: str, folder: Path) -> None:
    path = folder / f"graph{ending}"
    path.write_bytes(data)
    for file in graph_files([path]):
        for _ in read_file(file, KEY):
            pass


def _payload(data: bytes, form: Format) -> object:
    return parse_payloads([data], form, scope="s", key=KEY, positions=[0], times=[1_000_000])


def _document(data: bytes, form: Format) -> object:
    return parse_documents([Document(data)], form, time_predicate="http://e/p", scope="s", key=KEY)


def _query(data: bytes, dialect: str) -> object:
    return parse(_text(data), dialect=dialect)


def _statements(data: bytes) -> object:
    return read_statements([line for line in _text(data).split("\n") if line.strip()])


def entries(folder: Path) -> list[Callable[[bytes], object]]:
    """Every way in which a text from outside reaches a parser."""
    base = "http://b/"
    return [
        *(partial(as_nquads, syntax=syntax, base=base) for syntax in dict.fromkeys(SYNTAXES.values())),
        *(partial(parse_document, media_type=each, base=base, most=10_000) for each in SYNTAXES),
        *(partial(_page, media_type=each) for each in SYNTAXES),
        *(partial(_payload, form=form) for form in FORMATS),
        *(partial(_document, form=form) for form in FORMATS if not form.timed),
        *(partial(_graph_file, ending=each, folder=folder) for each in ENDINGS),
        *(partial(_query, dialect=each) for each in DIALECTS),
        *(partial(parse_results, media_type=each) for each in RESULTS),
        partial(parse_lines, scope="s", key=KEY),
        check_lines,
        _statements,
        lambda data: parse_update(_text(data)),
        lambda data: parse_values(decoded(_text(data)), 1_000),
        lambda data: format_of(_text(data)[:200]),
    ]


def line_entries() -> list[Callable[[bytes], object]]:
    """Those that take many lines at once, of which each is judged by itself."""
    forms = [form for form in FORMATS if form.name in ("tnq", "ntriples", "nquads")]
    return [
        partial(parse_lines, scope="s", key=KEY),
        check_lines,
        _statements,
        *(partial(_payload, form=form) for form in forms),
    ]


def _line(rng: random.Random) -> bytes:
    """A line of a stream or of N-Quads; cut where it is large, because others are beside it."""
    data = mutated(rng, LINES)[:_USUAL].replace(b"\n", b" ").replace(b"\r", b" ")
    return rng.choice((b"", b"1000\t")) + data


def _page(data: bytes, media_type: str) -> object:
    return parse_page("http://e/d", data, media_type, 10_000)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def run(seed: str, first: int, last: int, mark: mmap.mmap, failures: list[str]) -> None:
    """Inputs ``[first, last)``. One in ten is a text, which goes through two entries of its own choice; the
    others are lines, and go through one entry together, some at a time."""
    with tempfile.TemporaryDirectory() as folder:
        every, of_lines = entries(Path(folder)), line_entries()
        lines: list[bytes] = []
        for number in range(first, last):
            rng = random.Random(f"{seed} {number}")
            if number % 10:
                lines.append(_line(rng))
                if len(lines) < _TOGETHER and number + 1 < last:
                    continue
                data, chosen = b"\n".join(lines), [rng.choice(of_lines)]
                lines = []
            else:
                data = mutated(rng)
                chosen = rng.sample(every, 2)
            mark[:20] = b"%20d" % number
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            for entry in chosen:
                try:
                    entry(data)
                except (WeirError, Unparsable):
                    pass
                except Exception:
                    failures.append(f"{seed} {number} {data[:200]!r}\n{traceback.format_exc(limit=-3)}")
                    if len(failures) > 5:
                        return
    faulthandler.cancel_dump_traceback_later()


def main() -> int:
    seed, first, last, path = sys.argv[1:]
    failures: list[str] = []
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 64) as mark:
        threading.stack_size(STACK)
        values = (seed, int(first), int(last), mark, failures)
        thread = threading.Thread(target=run, args=values)
        thread.start()
        thread.join()
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
