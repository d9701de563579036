"""The ladder holds, and the check that says so can fail."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from shared import ROOT


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    return subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        env={"PYTHONPATH": f"{folder / 'src'}:{folder / 'benchmarks'}"},
    )


def copy_of_the_source(folder: Path) -> Path:
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src" / "weir", folder / "src" / "weir", ignore=ignored)
    shutil.copytree(ROOT / "benchmarks", folder / "benchmarks", ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def test_kernel_may_not_import_runtime(tmp_path: Path) -> None:
    folder = copy_of_the_source(tmp_path)
    (folder / "src/weir/kernel/wrong.py").write_text("from weir.runtime import ingest\n\n_ = ingest\n")
    done = lint(folder)
    assert done.returncode != 0
    assert "weir.kernel is not allowed to import weir.runtime" in done.stdout


def test_the_ladder_holds(tmp_path: Path) -> None:
    done = lint(copy_of_the_source(tmp_path))
    assert done.returncode == 0, done.stdout
