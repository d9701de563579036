"""Short cuts: each answers what the operators would, or declines."""

__all__ = ["distinct_join", "hash_index", "single_message"]
