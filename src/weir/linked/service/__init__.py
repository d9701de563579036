"""SERVICE: remote data in a local view, kept fresh under a budget (Planning Ahead)."""

from weir.linked.service.config import Budget, OnFailure, PolicyName, ServiceConfig, config_of, hinted
from weir.linked.service.resolver import ServiceResolver

__all__ = ["Budget", "OnFailure", "PolicyName", "ServiceConfig", "ServiceResolver", "config_of", "hinted"]
