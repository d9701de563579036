"""The vocabularies of Linked Data Event Streams (LDES) and of the TREE hypermedia that they lie in."""

from __future__ import annotations

from weir.fragments.protocol.controls import DCTERMS
from weir.rdf.terms import RDF

TREE = "https://w3id.org/tree#"
LDES = "https://w3id.org/ldes#"

TYPE = f"<{RDF}type>"
EVENT_STREAM, TIMESTAMP_PATH, VERSION_OF_PATH, RETENTION_POLICY = (
    f"<{LDES}{name}>" for name in ("EventStream", "timestampPath", "versionOfPath", "retentionPolicy")
)
POINT_IN_TIME_POLICY, POINT_IN_TIME, DURATION_AGO_POLICY = (
    f"<{LDES}{name}>" for name in ("PointInTimePolicy", "pointInTime", "DurationAgoPolicy")
)
NODE, VIEW, VIEW_DESCRIPTION, MEMBER, RELATION, TARGET, PATH, VALUE = (
    f"<{TREE}{name}>"
    for name in ("Node", "view", "viewDescription", "member", "relation", "node", "path", "value")
)
SINCE, AFTER, UNTIL, BEFORE = (
    f"<{TREE}{name}Relation>"
    for name in ("GreaterThanOrEqualTo", "GreaterThan", "LessThanOrEqualTo", "LessThan")
)
"""Relations to nodes whose members have a time from, after, up to or before a value."""
CREATED, IS_VERSION_OF = f"<{DCTERMS}created>", f"<{DCTERMS}isVersionOf>"
"""The timestamp path and the version-of path that Weir writes."""
