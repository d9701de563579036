"""The event stream of a data set over HTTP, and as the real client of the field reads it."""

from __future__ import annotations

import json
import subprocess

import pytest

from fragments_http import get
from fragments_kit import EX, SECOND, T0, Crank
from fragments_peers import peer, serving
from weir.fragments.ldes import PAGE
from weir.fragments.protocol import event_streams as ldes
from weir.fragments.protocol.annotation import FINAL, Annotation, Fact, Labeling, time_text
from weir.fragments.server import Dataset, FragmentsApp, Retention, server
from weir.fragments.server.ldes_view import STREAM
from weir.rdf.formats.guarded_parser import parse_document

BASE = "http://weir.test"


def pushed(data: Dataset, begin: int, end: int) -> None:
    for number in range(begin, end):
        now = T0 + number * SECOND
        data.push([Fact(f"<{EX}s{number}>", f"<{EX}p>", f'"{number}"', now, now + 100 * SECOND)], now)


def quads(
    app: FragmentsApp, path: str, accept: str = "application/n-quads"
) -> list[tuple[str, str, str, str]]:
    response = get(app, path, Accept=accept)
    assert response.status_code == 200, response.text
    return parse_document(response.content, response.headers["content-type"].partition(";")[0])


def objects(found: list[tuple[str, str, str, str]], predicate: str) -> list[str]:
    return [o for _, p, o, _ in found if p == predicate]


def test_the_view_says_what_lies_where_and_since_when() -> None:
    data = Dataset("d", members=2 * PAGE)
    pushed(data, 0, 5 * PAGE + 3)
    found = quads(FragmentsApp([data], clock=Crank().now), f"/d/{STREAM}")
    assert objects(found, ldes.TIMESTAMP_PATH) == [ldes.CREATED]
    assert objects(found, ldes.VERSION_OF_PATH) == [ldes.IS_VERSION_OF]
    assert set(objects(found, ldes.TARGET)) == {f"<{BASE}/d/ldes/{n}>" for n in (3, 4, 5)}
    assert objects(found, ldes.POINT_IN_TIME) == [time_text(T0 + 3 * PAGE * SECOND)]
    kinds = [o for o in objects(found, ldes.TYPE) if o.endswith("Relation>")]
    assert (kinds.count(ldes.SINCE), kinds.count(ldes.UNTIL)) == (3, 2)


def test_a_version_for_each_change_and_the_latest_one_counts() -> None:
    data = Dataset("d")
    fact = Fact(f"<{EX}s>", f"<{EX}p>", '"1"', T0, T0 + 10 * SECOND)
    data.push([fact], T0)
    data.push([fact._replace(end=T0 + 20 * SECOND)], T0 + SECOND)
    data.push(
        [fact._replace(object='"2"', start=T0 + 5 * SECOND, end=T0 + 30 * SECOND)],
        T0 + 5 * SECOND,
        supersede=True,
    )
    data.end([(f"<{EX}s>", f"<{EX}p>", '"2"')], T0 + 6 * SECOND)
    found = quads(FragmentsApp([data], clock=Crank().now), "/d/ldes/0")
    assert objects(found, ldes.MEMBER) == [f"<urn:weir:d:version:{n}>" for n in range(5)]
    versions = objects(found, ldes.IS_VERSION_OF)
    assert [name.rpartition(":")[2] for name in versions] == ["1>", "1>", "1>", "2>", "2>"]
    ends = [time_text(T0 + second * SECOND) for second in (10, 20, 5, 30, 6)]
    assert objects(found, FINAL) == ends
    assert [quad for quad in found if quad[3] == "<urn:weir:d:version:3>"] == [
        (f"<{EX}s>", f"<{EX}p>", '"2"', "<urn:weir:d:version:3>")
    ]


def test_full_pages_stay_for_ever_and_the_others_are_asked_for_again() -> None:
    data = Dataset("d", revalidate=7 * SECOND)
    pushed(data, 0, PAGE + 1)
    app = FragmentsApp([data], clock=Crank().now)
    full, growing = get(app, "/d/ldes/0"), get(app, "/d/ldes/1")
    assert full.headers["cache-control"] == "public, max-age=604800, immutable"
    assert (
        growing.headers["cache-control"]
        == get(app, "/d/ldes").headers["cache-control"]
        == "public, max-age=7"
    )
    assert get(app, "/d/ldes/1", if_none_match=growing.headers["etag"]).status_code == 304
    pushed(data, PAGE + 1, PAGE + 2)
    assert get(app, "/d/ldes/1", if_none_match=growing.headers["etag"]).status_code == 200
    assert get(app, "/d/ldes/0", if_none_match=full.headers["etag"]).status_code == 304


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/d/ldes/1", 410),
        ("/d/ldes/9", 404),
        ("/d/ldes/x", 404),
        ("/d/ldes/" + "9" * 40, 404),
        ("/d/other", 404),
        ("/quiet/ldes", 404),
    ],
)
def test_what_is_not_there(path: str, status: int) -> None:
    data = Dataset("d", members=PAGE)
    pushed(data, 0, 5 * PAGE)
    app = FragmentsApp([data, Dataset("quiet", members=0)], clock=Crank().now)
    assert get(app, path).status_code == status


@pytest.mark.parametrize("accept", ["application/n-quads", "application/trig", "application/ld+json"])
def test_every_syntax_says_the_same(accept: str) -> None:
    data = Dataset("d")
    pushed(data, 0, 3)
    app = FragmentsApp([data], clock=Crank().now)
    response = get(app, "/d/ldes/0", Accept=accept)
    assert response.headers["content-type"].startswith(accept)
    plain = {quad for quad in quads(app, "/d/ldes/0") if "_:" not in "".join(quad)}
    assert plain == {quad for quad in quads(app, "/d/ldes/0", accept) if "_:" not in "".join(quad)}


def test_a_syntax_without_graphs_is_refused() -> None:
    assert get(FragmentsApp([Dataset("d")]), "/d/ldes", Accept="text/turtle").status_code == 406


def test_with_a_time_of_retention_the_view_says_so() -> None:
    kept = Retention(history=True, age=3600 * SECOND)
    data = Dataset("d", annotation=Annotation(labeling=Labeling.INTERVAL), retention=kept)
    pushed(data, 0, 2)
    assert '"PT3600S"' in get(FragmentsApp([data], clock=Crank().now), "/d/ldes").text


_READ = """
import { replicateLDES } from 'ldes-client';
(async () => {
  const options = { url: process.argv[1], polling: false, materialize: false };
  const client = replicateLDES(options, process.argv[2]);
  const out = [];
  const reader = client.stream({ highWaterMark: 10 }).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    out.push({ id: value.id.value, time: value.timestamp, quads: value.quads.map(
      q => [q.subject.value, q.predicate.value, q.object.value, q.graph.value]) });
  }
  process.stdout.write(JSON.stringify(out));
})().catch(e => { console.error(e); process.exit(1); });
"""


@pytest.mark.network
@pytest.mark.peer("ldes-client")
def test_the_ldes_client_reads_every_member() -> None:
    """Each once; on a busy machine the client hands over an early page before the rest of another."""
    home = peer("ldes-client")
    data = Dataset("d")
    pushed(data, 0, 2 * PAGE + 20)
    with serving(lambda port: server(FragmentsApp([data]), port=port)) as base:
        run = subprocess.run(
            ["node", "--input-type=module", "-e", _READ, f"{base}/d/ldes", "ascending"],
            cwd=home,
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert run.returncode == 0, run.stderr[-2000:]
    found = json.loads(run.stdout[run.stdout.index("[{") :])
    found.sort(key=lambda one: int(one["id"].rpartition(":")[2]))
    assert [one["id"] for one in found] == [f"urn:weir:d:version:{n}" for n in range(2 * PAGE + 20)]
    for number, one in enumerate(found):
        assert [f"{EX}s{number}", f"{EX}p", str(number), one["id"]] in one["quads"]
