"""Continuous queries over HTTP."""

from __future__ import annotations

from pathlib import Path

from server_kit import answers, call, still_service
from weir.server.api.query_routes import query_json

TEXT = "SELECT ?a ?n { STREAM <http://e/s> [NOW] { ?a <http://e/b> ?n } }"


def test_queries_are_registered_paused_resumed_and_dropped(tmp_path: Path) -> None:
    service = still_service(tmp_path)
    made = call(service, "POST", "/api/queries", json={"text": TEXT, "name": "q"})
    assert (made.status_code, made.headers["location"]) == (201, "/api/queries/q")
    assert (made.json()["variables"], made.json()["form"]) == (["a", "n"], "SELECT")
    assert call(service, "POST", "/api/queries", json={"text": TEXT, "name": "q"}).status_code == 409
    assert call(service, "POST", "/api/queries/q/pause").json()["paused"] is True
    assert call(service, "POST", "/api/queries/q/resume").json()["paused"] is False
    assert [each["id"] for each in call(service, "GET", "/api/queries").json()["queries"]] == ["q"]
    assert call(service, "DELETE", "/api/queries/q").status_code == 204
    assert call(service, "GET", "/api/queries/q").status_code == 404


def test_what_a_query_has_given_tells_which_variables_are_numbers(tmp_path: Path) -> None:
    service = still_service(tmp_path)
    info = service.register(TEXT, "q", "cqels", "auto")
    number = {"type": "literal", "value": "1", "datatype": "http://www.w3.org/2001/XMLSchema#integer"}
    service.log.write(0, [answers("q", 0, 2, bindings={"n": number, "a": {"type": "uri", "value": "x:y"}})])
    told = query_json(service, info)
    assert (told.numeric, told.position, told.oldest) == (["n"], 2, 0)


def test_a_query_is_explained_and_its_activity_told(tmp_path: Path) -> None:
    service = still_service(tmp_path)
    service.register(TEXT, "q", "cqels", "auto")
    explained = call(service, "GET", "/api/queries/q/explain").json()
    assert "== algebra ==" in explained["text"]
    assert explained["plan"]["edges"][-1][1] == "out"
    activity = call(service, "GET", "/api/queries/q/activity").json()
    assert (activity["now"], len(activity["windows"])) == (None, 1)


def test_results_are_published_and_taken_down(tmp_path: Path) -> None:
    service = still_service(tmp_path)
    service.register(TEXT, "q", "cqels", "auto")
    assert call(service, "PUT", "/api/queries/q/fragments", json={}).json() == {
        "dataset": "/fragments/q",
        "predicates": {"a": "urn:weir:q:result:a", "n": "urn:weir:q:result:n"},
    }
    assert call(service, "GET", "/fragments/q").status_code == 200
    assert call(service, "DELETE", "/api/queries/q/fragments").status_code == 204
    assert call(service, "DELETE", "/api/queries/q/fragments").status_code == 404


def test_texts_are_parsed_and_translated_without_being_registered(tmp_path: Path) -> None:
    service = still_service(tmp_path)
    told = call(service, "POST", "/api/parse", json={"text": TEXT}).json()
    assert (told["dialect"], told["streams"]) == ("cqels", ["http://e/s"])
    wrong = call(service, "POST", "/api/parse", json={"text": "SELECT * WHERE { ?a "})
    assert (wrong.status_code, wrong.json()["line"]) == (422, 1)
    written = call(service, "POST", "/api/translate", json={"text": TEXT, "to": "rspql"}).json()
    assert "WINDOW" in written["text"]
