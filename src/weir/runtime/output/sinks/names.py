"""Names of queries in places that do not take every character: topics and files."""

from __future__ import annotations

import hashlib
import re
from urllib.parse import quote

QUERY = "{query}"
"""Stands for the name of the query in a template."""
MQTT_TOPIC = f"weir/{QUERY}"
KAFKA_TOPIC = f"weir-{QUERY}"
_LONGEST = 200


def plain_name(query: str) -> str:
    """Letters, digits, ``.``, ``_`` and ``-`` only; names that differ stay different."""
    safe = re.sub(r"[^A-Za-z0-9_-]+", "_", query.rpartition("/")[2] or query).strip("_")[:_LONGEST]
    if safe == query:
        return safe
    return f"{safe or 'query'}-{hashlib.sha256(query.encode()).hexdigest()[:8]}"


def mqtt_topic(template: str, query: str) -> str:
    """The topic of a query; wildcards, separators and NUL in its name are written as ``%xx``."""
    return template.replace(QUERY, quote(query, safe=":"))


def kafka_topic(template: str, query: str) -> str:
    """The topic of a query."""
    return template.replace(QUERY, plain_name(query))
