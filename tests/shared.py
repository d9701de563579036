"""Where the test data beside the checkout lie: the W3C suites and the papers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def shared_dir(*parts: str) -> Path:
    """A folder of ``../shared``; a test that needs it skips where it is absent, and fails in CI."""
    path = ROOT.parent.joinpath("shared", *parts)
    if not path.exists():
        reason = f"the test data {'/'.join(('../shared', *parts))} are not beside the checkout"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason, allow_module_level=True)
    return path
