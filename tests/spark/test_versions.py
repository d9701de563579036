"""Which version of Spark runs what: each version that PyPI has, in an environment of its own.

The table of ``docs/guide/cluster.md`` is made here. Where a run finds something else the test fails, and says
how its line should be.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

import pytest

from cli_kit import localisation
from guide_kit import guide_program
from network_peers import unavailable
from shared import ROOT

pytestmark = [pytest.mark.spark, pytest.mark.network, pytest.mark.long, pytest.mark.timeout(3600)]

VERSIONS = ("4.1", "4.2", "4.3")
REFUSED = "needs pyspark 4.2 or newer"
_RUN = "run reaches.rq --stream rfid=rfid.tnq --graph floorplan=floor.ttl --master local[2]"
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "`weir run`, and again from its checkpoint": (
        f"{_RUN} --format jsonl --out out.jsonl --checkpoint ck --slots 4 --partitions 2",
        f"{_RUN} --format jsonl --out out.jsonl --checkpoint ck",
    ),
    "parts by tasks (`--to jsonl:DIR`)": (f"{_RUN} --to jsonl:parts",),
    "a sink of Spark's (`--to json:DIR`)": (f"{_RUN} --to json:rows",),
    "`weir rescale`": ("rescale ck --partitions 4 --master local[2]",),
    "`weir load`": ("load floorplan=floor.ttl --into store --master local[2]",),
}
HEAD = ("pyspark", "`weir.continuous`", "through Spark Connect", *COMMANDS)


def environment(folder: Path, version: str) -> Path:
    """A Python with another pyspark before the packages of this one."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, timeout=300)
    own = folder / "bin" / "python"
    told = subprocess.run(
        [own, "-m", "pip", "install", "--quiet", "--no-deps", f"pyspark=={version}.*"],
        capture_output=True,
        text=True,
        timeout=1800,
    )
    if told.returncode:
        offline = re.search("resolve|connect|timed out|Max retries", told.stderr) is not None
        unavailable(f"pyspark {version} cannot be had: {told.stderr[-300:]}", offline=offline)
    (site,) = folder.glob("lib/python*/site-packages")
    borrowed = [ROOT / "src", ROOT / "benchmarks", *map(Path, {sysconfig.get_path("purelib"), *sys.path})]
    (site / "borrowed.pth").write_text("".join(f"{each}\n" for each in borrowed if each.is_dir()))
    return own


def ran(python: Path, folder: Path, *arguments: str, submit: str = "") -> subprocess.CompletedProcess[str]:
    more = {"PYSPARK_PYTHON": str(python), "TMPDIR": str(folder)}
    if any("builder.remote" in each for each in arguments):
        more["SPARK_TESTING"] = "1"  # a free port for the server
    if submit:
        more["PYSPARK_SUBMIT_ARGS"] = f"{submit} pyspark-shell"
    kept = {name: value for name, value in os.environ.items() if name not in ("SPARK_HOME", "PYTHONPATH")}
    return subprocess.run(
        [python, *arguments], cwd=folder, env=kept | more, capture_output=True, text=True, timeout=600
    )


def package(name: str) -> str:
    """Options that give Spark a package from Maven; it is fetched into the local repository first."""
    if shutil.which("mvn") is None:
        unavailable("there is no mvn to fetch packages with", offline=False)
    get = ["mvn", "-q", "-B", "dependency:get", f"-Dartifact={name}"]
    told = subprocess.run(get, capture_output=True, text=True, timeout=1200)
    if told.returncode:
        offline = re.search("resolve|connect|timed out|transfer", told.stdout) is not None
        unavailable(f"{name} cannot be had: {told.stdout[-300:]}", offline=offline)
    return f"--packages {name}"


def results(folder: Path, pattern: str) -> int:
    return sum(len(path.read_text().splitlines()) for path in folder.glob(pattern))


@pytest.mark.parametrize("version", VERSIONS)
def test_what_runs_on_a_version(version: str, tmp_path: Path) -> None:
    python = environment(tmp_path / "environment", version)
    said = ran(python, tmp_path, "-c", "import pyspark; print(pyspark.__version__)").stdout.strip()
    assert said.startswith(version + ".")
    cells = [version]
    for connect in (False, True):
        place = tmp_path / f"guide-{connect}"
        place.mkdir()
        done = ran(python, place, "-c", guide_program(place, connect=connect))
        assert done.returncode == 0, done.stderr[-4000:]
        cells.append("runs")
    localisation(tmp_path)
    direct = ran(
        python, tmp_path, "-m", "weir", *_RUN.replace("run", "try", 1).split()[:-2], "--format", "jsonl"
    )
    expected = len(direct.stdout.splitlines())
    assert expected, direct.stderr
    for commands in COMMANDS.values():
        for command in commands:
            done = ran(python, tmp_path, "-m", "weir", *command.split())
            if REFUSED in done.stderr:
                break
            assert done.returncode == 0, f"{command}\n{done.stderr[-4000:]}"
        cells.append("refused" if REFUSED in done.stderr else "runs")
    if "refused" not in cells:
        assert results(tmp_path, "out.jsonl") == expected
        assert results(tmp_path, "parts/batch-*") == results(tmp_path, "rows/part-*") > 0
    line = f"| {' | '.join(cells)} |"
    page = (ROOT / "docs" / "guide" / "cluster.md").read_text()
    assert f"| {' | '.join(HEAD)} |" in page, f"the head should be | {' | '.join(HEAD)} |"
    assert line in page, f"the line of {version} should be {line}"


ICEBERG = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
TABLE = """
spark.sql("CREATE TABLE local.rooms (at timestamp, op string, room string, highest string) USING iceberg")
with settled(spark, tasks=2):
    answers = weir.continuous(spark, query, {"readings": triples}, {"plan": "plan.ttl"})
    writer = answers.writeStream.option("checkpointLocation", str(Path.cwd() / "iceberg"))
    job = writer.trigger(availableNow=True).toTable("local.rooms", format="iceberg")
job.awaitTermination()
print("rows", spark.table("local.rooms").count())
"""


def test_an_iceberg_table_is_written_from_a_dataframe(tmp_path: Path) -> None:
    submit = (
        f"{package(ICEBERG)} --conf spark.sql.catalog.local=org.apache.iceberg.spark.SparkCatalog "
        "--conf spark.sql.catalog.local.type=hadoop "
        f"--conf spark.sql.catalog.local.warehouse={tmp_path}/tables"
    )
    python = environment(tmp_path / "environment", "4.1")
    done = ran(python, tmp_path, "-c", guide_program(tmp_path, connect=False) + TABLE, submit=submit)
    assert done.returncode == 0, done.stderr[-4000:]
    assert "rows 4" in done.stdout
