"""XSD values: ``numbers`` and ``exact_sums`` of them, ``moments`` in time, ``durations``, and from a literal
to the value it denotes."""

__all__ = ["durations", "exact_sums", "moments", "numbers", "values"]
