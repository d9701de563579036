"""Engines in Rust: a driver of ours and the engine's crate, built by cargo in the user's cache.

The project is made there, with the crate's version and no lock file of ours; it is built again when the
driver or the version changes. rsp-rs keeps its windows in oxigraph's store in memory, whose crate brings
RocksDB besides, in C++, for stores on disk; it is taken without that feature, which rsp-rs never calls and
which takes longer to build than all the rest.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from weir_bench.fragments.peers import PeerUnavailable, peers_folder

_OFFLINE = ("failed to download", "failed to fetch", "Could not resolve", "network", "offline", "spurious")
_MANIFEST = """[package]
name = "driver"
version = "0.0.0"
edition = "2021"

[dependencies]
{dependencies}
"""
_PLAIN = """
[patch.crates-io]
{name} = {{ path = "{name}" }}
"""
_DEFAULT = re.compile(r"^default = \[.*?\]$", re.MULTILINE)
RSP_RS = {"rsp-rs": "=0.3.5", "oxigraph": "=0.5.13", "serde_json": "1"}
"""The engine, the store whose terms it takes, and JSON."""


def built(
    name: str, source: Path, dependencies: dict[str, str], plain: str | None = None, timeout: float = 1_200
) -> Path:
    """The program of a driver; several processes may ask at once. The dependency ``plain`` is taken without
    its default features, also where another asks for them."""
    home = peers_folder() / name
    (home / "src").mkdir(parents=True, exist_ok=True)
    lines = "\n".join(f'{crate} = "{version}"' for crate, version in dependencies.items())
    manifest, program = _MANIFEST.format(dependencies=lines), source.read_text(encoding="utf-8")
    key = hashlib.sha256(f"{manifest}{plain}{program}".encode()).hexdigest()
    binary, stamp = home / "target" / "release" / "driver", home / ".built"
    with (home / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if binary.exists() and stamp.exists() and stamp.read_text() == key:
            return binary
        if shutil.which("cargo") is None:
            raise PeerUnavailable("cargo is not installed", offline=False)
        (home / "Cargo.toml").write_text(manifest, encoding="utf-8")
        (home / "src" / "main.rs").write_text(program, encoding="utf-8")
        if plain is not None:
            _without_defaults(home, name, plain, timeout)
            (home / "Cargo.toml").write_text(manifest + _PLAIN.format(name=plain), encoding="utf-8")
        _cargo(home, name, ["build", "--release", "--quiet"], timeout)
        stamp.write_text(key)
        return binary


def _without_defaults(home: Path, name: str, crate: str, timeout: float) -> None:
    """A copy of a crate as it was published, but for its list of default features."""
    told = json.loads(_cargo(home, name, ["metadata", "--format-version", "1"], timeout))
    found = next(Path(each["manifest_path"]) for each in told["packages"] if each["name"] == crate)
    shutil.rmtree(home / crate, ignore_errors=True)
    shutil.copytree(found.parent, home / crate)
    manifest = home / crate / "Cargo.toml"
    manifest.write_text(_DEFAULT.sub("default = []", found.read_text(encoding="utf-8")), encoding="utf-8")


def _cargo(home: Path, name: str, arguments: Sequence[str], timeout: float) -> str:
    try:
        run = subprocess.run(
            ["cargo", *arguments], cwd=home, capture_output=True, text=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        raise PeerUnavailable(f"cargo took too long to build {name}", offline=False) from None
    if run.returncode:
        offline = any(word in run.stderr for word in _OFFLINE)
        raise PeerUnavailable(f"cargo cannot build {name}", offline=offline, detail=run.stderr[-400:])
    return run.stdout
