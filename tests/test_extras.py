"""The core runs without the packages of the extras, and what needs one says which to install."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from shared import ROOT
from weir.errors import UsageError
from weir.extras import EXTRAS, lazily, load

WITHOUT = """
import importlib.abc, sys

MISSING = {missing!r}

class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in MISSING:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
{program}
"""


def run_without(program: str, *extras: str) -> str:
    """What a program prints in an interpreter that lacks the packages of some extras."""
    missing = [package for extra in extras for package in EXTRAS[extra]]
    text = WITHOUT.format(missing=missing, program=program)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_core_needs_no_extra() -> None:
    program = (
        "import weir, weir.testing, weir.cli, weir.spark.processor\n"
        "print(weir.continuous.__name__, weir.Engine.__name__, weir.follow.__name__)"
    )
    assert run_without(program, *EXTRAS).split() == ["continuous", "Engine", "follow"]


@pytest.mark.parametrize(
    ("program", "extra"),
    [
        ("from weir.runtime.output.sinks.making import sink_at; sink_at('kafka://h:1/t')", "kafka"),
        ("from weir.runtime.output.sinks.making import sink_at; sink_at('mqtt://h/t')", "mqtt"),
        ("from weir.runtime.output.sinks.making import sink_at; sink_at('live://h:1')", "server"),
        ("from weir.extras import load; load('weir.server')", "server"),
        ("from weir.extras import load; load('weir_bench.plots')", "bench"),
    ],
)
def test_a_missing_extra_is_named(program: str, extra: str) -> None:
    told = run_without(
        f"from weir.errors import UsageError\ntry:\n    {program}\n"
        "except UsageError as error:\n    print(error.hint)",
        extra,
    )
    assert told == f'install what it needs with: pip install "weir[{extra}]"\n'


def test_a_module_that_weir_lacks_is_no_extra() -> None:
    with pytest.raises(UsageError, match=r"no weir\.nowhere"):
        load("weir.nowhere")


def test_every_extra_is_declared() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(EXTRAS) <= set(declared)
    assert declared["all"] == [f"weir[{','.join(EXTRAS)}]"]
    assert "weir[all]" in declared["dev"]


def test_a_module_that_is_read_later_is_whole_for_every_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slow_to_read.py").write_text("import time\ntime.sleep(0.2)\nWHOLE = object()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    later = lazily("slow_to_read")
    assert lazily("slow_to_read") is later
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: later.WHOLE, range(4)))
    module = sys.modules.pop("slow_to_read")
    assert module is not later and found == [module.WHOLE] * 4
    with pytest.raises(AttributeError):
        getattr(later, "absent")  # noqa: B009


def test_a_function_that_uses_a_module_later_goes_to_another_process() -> None:
    program = """
from pyspark import cloudpickle
from weir.extras import lazily
later = lazily("colorsys")
there = cloudpickle.loads(cloudpickle.dumps(lambda: later.rgb_to_hsv(0, 0, 1)))
print(there()[2])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.stdout == "1\n", done.stderr
