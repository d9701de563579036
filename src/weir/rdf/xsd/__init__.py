"""XSD values: ``numbers``, ``moments`` in time, ``durations``, and from a literal to the value it denotes."""

__all__ = ["durations", "moments", "numbers", "values"]
