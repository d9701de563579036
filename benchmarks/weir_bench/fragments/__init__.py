"""The query streamer: costs, rates and pushing of time-annotated fragments, and its real peers."""

__all__ = ["benchmark", "costs", "departures", "methods", "peers", "pushing", "rates"]
