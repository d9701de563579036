"""SPARQL queries over static graphs, each in a process that can be ended."""

from __future__ import annotations

import json
import os
import signal

import pytest

import weir
from weir.errors import UsageError
from weir.kernel.contract import Background, GraphTable
from weir.rdf.ids.dictionary import Dictionary
from weir.server.sparql_process import (
    GRAPHS,
    SOLUTIONS,
    Overdue,
    SparqlProcess,
    Task,
    answer,
    over,
)

ALL = "SELECT * { ?s ?p ?o }"


def task(text: str, media_type: str = "application/json") -> Task:
    """A query over one triple, <http://e/a> <http://e/b> <http://e/c>."""
    dictionary = Dictionary()
    texts = [f"<http://e/{name}>" for name in "abc"]
    ids = dictionary.encode_texts(texts)
    graphs = Background(GraphTable(*(ids[place : place + 1] for place in range(3))))
    known = dict(zip(ids.tolist(), texts, strict=True))
    return Task(weir.parse(text, dialect="sparql"), graphs, dictionary.key, known, media_type)


def test_every_form_is_answered() -> None:
    (row,) = json.loads(answer(task(ALL)))["results"]["bindings"]
    assert {name: value["value"] for name, value in row.items()} == {
        "s": "http://e/a",
        "p": "http://e/b",
        "o": "http://e/c",
    }
    assert json.loads(answer(task("ASK { <http://e/a> ?p ?o }")))["boolean"] is True
    assert json.loads(answer(task("ASK { <http://e/z> ?p ?o }")))["boolean"] is False
    made = answer(task("CONSTRUCT { ?o ?p ?s } { ?s ?p ?o }", "application/n-triples"))
    assert made == b"<http://e/c> <http://e/b> <http://e/a> .\n"


@pytest.mark.parametrize("media_type", SOLUTIONS)
def test_solutions_in_every_syntax(media_type: str) -> None:
    assert b"http://e/b" in answer(task(ALL, media_type))


@pytest.mark.parametrize("media_type", GRAPHS)
def test_graphs_in_every_syntax(media_type: str) -> None:
    assert b"http://e/c" in answer(task("CONSTRUCT WHERE { ?s ?p ?o }", media_type))


def test_the_parameters_of_the_protocol_choose_the_graphs() -> None:
    query = weir.parse(ALL, dialect="sparql")
    assert over(query, [], []) is query
    assert over(query, ["http://e/g"], []).dataset.default == ("http://e/g",)
    with pytest.raises(UsageError, match="continuous"):
        over(weir.parse("SELECT * { STREAM <http://e/s> [NOW] { ?a ?b ?c } }"), [], [])


def test_a_process_answers_again_and_again_and_is_ended_when_it_is_late() -> None:
    process = SparqlProcess(60)
    try:
        assert process.ask(task(ALL)) == process.ask(task(ALL)) == answer(task(ALL))
        os.kill(process._process.pid, signal.SIGSTOP)
        process.seconds = 0.1
        with pytest.raises(Overdue):
            process.ask(task(ALL))
        process.seconds = 60
        assert process.ask(task(ALL)) == answer(task(ALL))
    finally:
        process.close()
