"""Short cuts: each answers what the operators would, or declines."""

__all__ = ["hash_index"]
