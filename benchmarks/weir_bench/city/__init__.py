"""CityBench: the sensors of Aarhus, twelve questions in two languages, every row checked."""

__all__ = ["benchmark"]
