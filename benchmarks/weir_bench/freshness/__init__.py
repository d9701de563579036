"""Planning Ahead: how fresh remote views stay under a refresh budget, by policy."""

__all__ = ["benchmark", "bound", "data", "figures", "optimum", "overhead", "server", "simulation"]
