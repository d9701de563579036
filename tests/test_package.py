"""What people install: a wheel that answers the README's first query, notebooks, an image's settings."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from shared import ROOT
from weir.server.settings import read_settings

NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
_FILES = re.compile(r"^```\w+ file=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FIRST = re.compile(r"^\$ weir (try .*)$", re.MULTILINE)


def done(command: list[str], folder: Path, **environment: str) -> str:
    """What a command prints; it has to end well."""
    told = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, timeout=240
    )
    assert told.returncode == 0, told.stdout + told.stderr
    return told.stdout


def test_a_wheel_installs_and_answers_the_first_query(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    source = tmp_path / "source"
    source.mkdir()
    for name in ("src", "benchmarks"):
        shutil.copytree(
            ROOT / name, source / name, ignore=shutil.ignore_patterns("*.egg-info", "__pycache__")
        )
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    done([*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", "dist", "./source"], tmp_path)
    (wheel,) = (tmp_path / "dist").glob("weir-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {"weir/py.typed", "weir/server/dashboard/static/index.html"} <= set(names)
    assert not [name for name in names if name.startswith("tests")]
    done([*pip, "install", "--no-deps", "--target", "site", str(wheel)], tmp_path)
    readme = (ROOT / "README.md").read_text()
    for name, body in _FILES.findall(readme):
        (tmp_path / name).write_text(body.replace("<TAB>", "\t"))
    (command,) = _FIRST.findall(readme)[:1]
    done([sys.executable, "-m", "weir", *command.split()], tmp_path, PYTHONPATH=str(tmp_path / "site"))
    lines = (tmp_path / "reach.jsonl").read_text().splitlines()
    assert [line in readme for line in lines] == [True, True]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(notebook: Path, tmp_path: Path) -> None:
    """In a kernel of their own, as a person would run them."""
    read = nbformat.read(notebook, as_version=4)
    NotebookClient(read, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in read.cells if cell.cell_type == "code" for output in cell.outputs]
    assert [output["output_type"] for output in shown].count("execute_result") >= 2
    assert not [output for output in shown if output["output_type"] in ("error", "stream")]


def test_what_the_image_copies_is_there() -> None:
    """The image is not built here: that needs an engine. Its settings are read as the service reads them."""
    recipe = (ROOT / "Dockerfile").read_text()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (asked,) = re.findall(r"/src\[([\w,]+)\]", recipe)
    assert set(asked.split(",")) <= set(extras)
    settings = read_settings(ROOT / "examples" / "docker" / "weir.toml", host="0.0.0.0")
    assert [token.scope for token in settings.tokens] == ["admin"]
