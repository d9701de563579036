"""What can be told of a query before it runs: its variables, its demand, how it splits, chains and shares."""

__all__ = ["chain", "conjunctions", "demand", "split", "templates", "ticks", "variables"]
