"""SERVICE: remote data in a local view, kept fresh under a budget (Planning Ahead)."""

from weir.linked.service.config import (
    HINT,
    Budget,
    OnFailure,
    PolicyName,
    ServiceConfig,
    config_of,
    server_of,
)
from weir.linked.service.hints import hinted, refuse_bad_hints, settings_of
from weir.linked.service.resolver import ServiceResolver

__all__ = [
    "HINT",
    "Budget",
    "OnFailure",
    "PolicyName",
    "ServiceConfig",
    "ServiceResolver",
    "config_of",
    "hinted",
    "refuse_bad_hints",
    "server_of",
    "settings_of",
]
