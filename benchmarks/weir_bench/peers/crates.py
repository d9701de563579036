"""Engines in Rust: a driver of ours and the engine's crate, built by cargo in the user's cache.

The project is made there, with the crate's version and no lock file of ours; it is built again when the
driver or the version changes. The first build takes minutes: the engine's store brings RocksDB, in C++. That
is built without optimisation, as the engine keeps its windows in memory and never calls it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from ctypes.util import find_library
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
RSP_RS = {"rsp-rs": "=0.3.5", "oxigraph": "0.5", "serde_json": "1"}
"""The engine, the store whose terms it takes, and JSON."""
LIBCLANG = "libclang==18.1.1"
"""On PyPI, for who has none."""


def built(name: str, source: Path, dependencies: dict[str, str], timeout: float = 1_800) -> Path:
    """The program of a driver; several processes may ask at once."""
    home = peers_folder() / name
    (home / "src").mkdir(parents=True, exist_ok=True)
    lines = "\n".join(f'{crate} = "{version}"' for crate, version in dependencies.items())
    manifest, program = _MANIFEST.format(dependencies=lines), source.read_text(encoding="utf-8")
    key = hashlib.sha256((manifest + program).encode()).hexdigest()
    binary, stamp = home / "target" / "release" / "driver", home / ".built"
    with (home / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if binary.exists() and stamp.exists() and stamp.read_text() == key:
            return binary
        if shutil.which("cargo") is None:
            raise PeerUnavailable("cargo is not installed", offline=False)
        (home / "Cargo.toml").write_text(manifest, encoding="utf-8")
        (home / "src" / "main.rs").write_text(program, encoding="utf-8")
        command = ["cargo", "build", "--release", "--quiet"]
        try:
            run = subprocess.run(
                command,
                cwd=home,
                env=_environment(home),
                capture_output=True,
                text=True,
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise PeerUnavailable(f"cargo took too long to build {name}", offline=False) from None
        if run.returncode:
            offline = any(word in run.stderr for word in _OFFLINE)
            raise PeerUnavailable(f"cargo cannot build {name}", offline=offline, detail=run.stderr[-400:])
        stamp.write_text(key)
        return binary


def _environment(home: Path) -> dict[str, str]:
    """What a build finds. The store's bindings are made by libclang: the system's, or PyPI's, which goes
    without headers of its own and takes those of the system's compiler."""
    found = {**os.environ, "CXXFLAGS": f"{os.environ.get('CXXFLAGS', '')} -O0"}
    if "LIBCLANG_PATH" in found or find_library("clang"):
        return found
    library = home / "clang"
    if not library.exists():
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(library)]
        subprocess.run([*install, LIBCLANG], capture_output=True, check=False)
    headers = subprocess.run(
        ["cc", "-print-file-name=include"], capture_output=True, text=True, check=False
    ).stdout.strip()
    found["LIBCLANG_PATH"] = str(library / "clang" / "native")
    found["BINDGEN_EXTRA_CLANG_ARGS"] = f"-I{headers}"
    return found
