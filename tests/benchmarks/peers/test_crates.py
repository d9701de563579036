"""Engines in Rust: built once, again when something changes; what cannot be built says why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from weir_bench.fragments.peers import PeerUnavailable
from weir_bench.peers.crates import built

CARGO = """#!/bin/sh
echo "$1" >> {log}
case "$1" in
  metadata) cat {metadata} ;;
  build) mkdir -p target/release && cp src/main.rs target/release/driver ;;
esac
"""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a cargo that builds nothing was asked; it knows a crate `store` with default features."""
    crate = tmp_path / "registry" / "store"
    crate.mkdir(parents=True)
    (crate / "Cargo.toml").write_text('[features]\ndefault = ["disk"]\ndisk = ["dep:disk"]\n')
    (crate / "lib.rs").write_text("// the store\n")
    metadata = tmp_path / "metadata.json"
    manifest = str(crate / "Cargo.toml")
    metadata.write_text(json.dumps({"packages": [{"name": "store", "manifest_path": manifest}]}))
    asked = tmp_path / "asked"
    asked.touch()
    cargo = tmp_path / "bin" / "cargo"
    cargo.parent.mkdir()
    cargo.write_text(CARGO.format(log=asked, metadata=metadata))
    cargo.chmod(0o755)
    monkeypatch.setenv("PATH", f"{cargo.parent}:/usr/bin:/bin")
    monkeypatch.setenv("WEIR_PEERS", str(tmp_path / "peers"))
    return asked


def source(folder: Path, text: str) -> Path:
    path = folder / "driver.rs"
    path.write_text(text)
    return path


def test_a_driver_is_built_once_and_again_when_it_changes(log: Path, tmp_path: Path) -> None:
    for text in ("one", "one", "two"):
        assert built("engine", source(tmp_path, text), {"engine": "1"}).read_text() == text
    assert log.read_text().split() == ["build", "build"]


def test_a_crate_is_taken_without_its_default_features(log: Path, tmp_path: Path) -> None:
    built("engine", source(tmp_path, "one"), {"engine": "1", "store": "2"}, plain="store")
    home = tmp_path / "peers" / "engine"
    assert (home / "store" / "Cargo.toml").read_text() == '[features]\ndefault = []\ndisk = ["dep:disk"]\n'
    assert (home / "store" / "lib.rs").read_text() == "// the store\n"
    assert '[patch.crates-io]\nstore = { path = "store" }' in (home / "Cargo.toml").read_text()
    assert log.read_text().split() == ["metadata", "build"]


def test_what_cargo_cannot_build_is_unavailable(log: Path, tmp_path: Path) -> None:
    cargo = tmp_path / "bin" / "cargo"
    cargo.write_text("#!/bin/sh\necho 'error: failed to download crates' >&2; exit 101\n")
    with pytest.raises(PeerUnavailable, match="cargo cannot build engine") as raised:
        built("engine", source(tmp_path, "one"), {"engine": "1"})
    assert raised.value.offline
