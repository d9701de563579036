"""The conference scenario of CQELS: its five queries, black-box engines and how they scale."""

__all__ = ["benchmark", "blackbox", "queries", "scale"]
