"""Through Spark Connect the guide's page runs as it does on a session of one's own; an engine refuses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from guide_kit import guide_program

BEGIN = """
import glob, shutil, tempfile
from pyspark.sql import SparkSession
import weir
spark = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false").getOrCreate()
settings = dict(spark.conf.getAll)

def nothing_is_kept_here():
    '''The folder that the client made is gone before a task looks for it.'''
    (folder,) = glob.glob(tempfile.gettempdir() + "/weir-*/weir")
    shutil.rmtree(folder)
"""
END = """
assert dict(spark.conf.getAll) == settings
try:
    weir.continuous(spark, query, {"readings": triples}, {"plan": "plan.ttl"})
except weir.UsageError as error:
    assert "settled(spark" in str(error)
else:
    raise AssertionError("another state store was taken")
try:
    engine = weir.Engine()
    engine.stream("readings", "nothing.tnq")
    engine.register(query)
    engine.run()
except weir.UsageError as error:
    assert "cannot run through Spark Connect" in str(error)
else:
    raise AssertionError("an engine was started")
spark.stop()
"""


@pytest.mark.spark
@pytest.mark.timeout(400)
def test_the_guide_runs_through_connect(tmp_path: Path) -> None:
    pytest.importorskip("grpc")
    program, started = guide_program(tmp_path, connect=True), "    job = highest.writeStream"
    assert program.count(started) == 1
    program = program.replace(started, f"    nothing_is_kept_here()\n{started}")
    (tmp_path / "nothing.tnq").touch()
    (tmp_path / "own").mkdir()
    # Spark then has a free port for its server.
    more = {"SPARK_TESTING": "1", "TMPDIR": str(tmp_path / "own"), "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + program + END],
        cwd=tmp_path,
        env={**os.environ, **more},
        capture_output=True,
        text=True,
        timeout=380,
    )
    assert done.returncode == 0, done.stderr[-4000:]
