"""What can be told of a query before it runs: its variables, its demand, how it splits, chains and shares."""

__all__ = [
    "bind_joins",
    "chain",
    "conjunctions",
    "demand",
    "own_messages",
    "rates",
    "shares",
    "split",
    "templates",
    "ticks",
    "two_stages",
    "variables",
]
