"""The state of a shared evaluator as bytes: a header line of JSON, then arrays.

    WEIR-SHARED 1 <length of JSON>\\n JSON npz

The header says which queries run together, since when, and every number of their state; the queries
themselves are those that the evaluator was given. Other versions are refused.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from weir.errors import CheckpointError

_MAGIC = b"WEIR-SHARED 1 "


def dump(parts: list[dict[str, Any]]) -> bytes:
    """Parts as plain values, columns and bytes."""
    arrays: list[np.ndarray] = []

    def plain(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            arrays.append(value)
            return {"array": len(arrays) - 1}
        if isinstance(value, bytes):
            arrays.append(np.frombuffer(value, np.uint8))
            return {"bytes": len(arrays) - 1}
        if isinstance(value, Mapping):
            return {"map": {name: plain(item) for name, item in value.items()}}
        if isinstance(value, (list, tuple)):
            return [plain(item) for item in value]
        return value

    header = json.dumps(plain(parts), separators=(",", ":")).encode()
    body = io.BytesIO()
    np.savez(body, *arrays)
    return b"%s%d\n%s%s" % (_MAGIC, len(header), header, body.getvalue())


def load(state: bytes) -> list[dict[str, Any]]:
    """What ``dump`` was given."""
    if not state.startswith(_MAGIC):
        kind = state[:14].decode("ascii", "replace")
        raise CheckpointError(f"not a state of this version of the shared evaluator: {kind!r}")
    line = state.index(b"\n")
    length = int(state[len(_MAGIC) : line])
    header = json.loads(state[line + 1 : line + 1 + length])
    with np.load(io.BytesIO(state[line + 1 + length :]), allow_pickle=False) as arrays:

        def rebuilt(value: Any) -> Any:
            if isinstance(value, list):
                return [rebuilt(item) for item in value]
            if not isinstance(value, dict):
                return value
            if "array" in value:
                return arrays[f"arr_{value['array']}"]
            if "bytes" in value:
                return arrays[f"arr_{value['bytes']}"].tobytes()
            return {name: rebuilt(item) for name, item in value["map"].items()}

        found: list[dict[str, Any]] = rebuilt(header)
        return found
