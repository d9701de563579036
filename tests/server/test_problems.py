"""Errors as problem details."""

from __future__ import annotations

import pytest

import weir
from weir.errors import CheckpointError, RemoteError, StorageError, SyntaxError, UsageError
from weir.server.problems import Problem, conflicts, problem_of


def test_a_syntax_error_has_its_place() -> None:
    with pytest.raises(SyntaxError) as wrong:
        weir.parse("SELECT * WHERE {\n ?a nothing }", dialect="sparql")
    body = problem_of(wrong.value).body
    assert (body["status"], body["line"], body["column"], body["length"]) == (422, 2, 5, 7)
    assert body["type"] == "urn:weir:problem:syntax"


def test_errors_have_the_status_of_their_kind() -> None:
    assert problem_of(CheckpointError("taken")).status == 409
    full = problem_of(StorageError("no room", hint="make some"))
    assert (full.status, full.headers, full.body["hint"]) == (503, {"Retry-After": "5"}, "make some")
    assert problem_of(RemoteError("away")).body == {
        "type": "urn:weir:problem:remote",
        "title": "away",
        "status": 422,
    }


def test_what_a_job_refuses_is_a_conflict() -> None:
    with pytest.raises(Problem) as refused, conflicts():
        raise UsageError("the stream is read", hint="drop the query first")
    assert (refused.value.status, refused.value.body["hint"]) == (409, "drop the query first")


def test_a_problem_is_a_document_of_its_own_type() -> None:
    response = Problem(503, "later", headers={"Retry-After": "2"}, line=None).response()
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["retry-after"] == "2"
    assert b"line" not in response.body
