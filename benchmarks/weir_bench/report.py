"""What every benchmark hands back: raw figures, the machine, the versions, and goals with their verdict.

A goal's value is a measurement, or a ratio of two measurements, of the same run. The JSON of a
goal has exactly the keys ``name``, ``value``, ``goal``, ``unit``, ``holds``.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

PACKAGES = ("weir", "numpy", "pyarrow", "pandas", "polars", "pyspark", "pyoxigraph", "httpx")


@dataclass(frozen=True, slots=True)
class Goal:
    """``value`` should be at least ``goal``, or at most where ``at_least`` is false."""

    name: str
    value: float
    goal: float
    unit: str = ""
    at_least: bool = True

    @property
    def holds(self) -> bool:
        """A value that is not a number holds nothing."""
        return bool(self.value >= self.goal if self.at_least else self.value <= self.goal)

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "value": float(self.value),
            "goal": float(self.goal),
            "unit": self.unit,
            "holds": self.holds,
        }

    def __str__(self) -> str:
        sign = ">=" if self.at_least else "<="
        verdict = "holds" if self.holds else "FALLS SHORT"
        return f"{verdict:11}  {self.name}: {self.value:.4g} {self.unit} (goal {sign} {self.goal:.4g})"


@dataclass(slots=True)
class Report:
    """The outcome of one benchmark. ``figures`` are plain numbers, lists and mappings: the raw data."""

    name: str
    quick: bool = False
    figures: dict[str, Any] = field(default_factory=dict)
    goals: list[Goal] = field(default_factory=list)
    packages: tuple[str, ...] = PACKAGES
    started: float = field(default_factory=time.time)

    def goal(self, name: str, value: float, goal: float, unit: str = "", *, at_least: bool = True) -> Goal:
        """Add a goal; ``at_least=False`` says that less is better."""
        added = Goal(name, float(value), float(goal), unit, at_least)
        self.goals.append(added)
        return added

    def step(self, text: str) -> None:
        """Tell what is measured now, and how long it has been."""
        passed = time.time() - self.started
        print(f"weir bench {self.name} {passed:5.0f} s: {text}", file=sys.stderr, flush=True)

    @property
    def holds(self) -> bool:
        return all(goal.holds for goal in self.goals)

    def as_json(self) -> dict[str, Any]:
        return {
            "benchmark": self.name,
            "quick": self.quick,
            "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.started)),
            "seconds": round(time.time() - self.started, 3),
            "machine": machine(),
            "versions": versions(self.packages),
            "figures": plain(self.figures),
            "goals": [goal.as_json() for goal in self.goals],
        }

    def write(self, path: str | Path) -> None:
        """Write the JSON whole or not at all."""
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(target.name + ".partial")
        partial.write_text(json.dumps(self.as_json(), indent=1, allow_nan=False) + "\n", encoding="utf-8")
        partial.replace(target)

    def summary(self) -> str:
        """One line a goal, for the terminal."""
        return "\n".join(str(goal) for goal in self.goals)


def plain(value: Any) -> Any:
    """``value`` in JSON's own types: numpy scalars and arrays unwrapped, NaN and infinities null."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, Iterable):
        return [plain(item) for item in value]
    return str(value)


def machine() -> dict[str, Any]:
    """What the figures depend on: processor, cores, memory, system, Python, Java."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": round(_memory() / 2**30, 1),
        "system": platform.system(),
        "release": platform.release(),
        "architecture": platform.machine(),
        "python": platform.python_version(),
        "java": _java(),
    }


def versions(packages: Iterable[str] = PACKAGES) -> dict[str, str]:
    """The installed versions of ``packages``; those absent are left out."""
    found = {}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0


def _java() -> str | None:
    try:
        run = subprocess.run(["java", "-version"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = (run.stderr or run.stdout).splitlines()
    return lines[0] if lines else None
