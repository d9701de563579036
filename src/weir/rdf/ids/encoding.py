"""Term texts to 64-bit ids and back, a column at a time.

An id is 0 (unbound, or no graph), negative (an inline literal, see ``inline``) or a positive 63-bit
keyed hash (see ``hashing``). The same text under the same key has the same id in every process, and
equal ids mean equal terms but for a collision, which the dictionary detects where both texts meet.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa

from weir.rdf.columns import Ids
from weir.rdf.ids.hashing import DEFAULT_KEY, hash_texts
from weir.rdf.ids.inline import encode_inline

_TYPED = r'^"([^"\\]*)"\^\^<http://www\.w3\.org/2001/XMLSchema#([a-zA-Z]+)>$'


def encode_texts(texts: pl.Series, key: bytes = DEFAULT_KEY) -> Ids:
    """The ids of canonical term texts (a string series without nulls)."""
    out = np.zeros(len(texts), np.int64)
    typed = (texts.str.ends_with(">") & texts.str.starts_with('"')).arg_true()
    if len(typed):
        lexical, datatype = texts.gather(typed).str.extract_groups(_TYPED).struct.unnest().get_columns()
        known = lexical.is_not_null().arg_true()
        rows = typed.gather(known).to_numpy()
        out[rows] = encode_inline(lexical.gather(known), datatype.gather(known))
    hashed = np.flatnonzero(out == 0)
    rest: pa.Array = (texts if len(hashed) == len(texts) else texts.gather(hashed)).to_arrow()
    out[hashed] = hash_texts(rest, key)
    return out
