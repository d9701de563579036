"""How costs grow with the number of slots, and what the driver has to do with results."""

__all__ = ["benchmark"]
