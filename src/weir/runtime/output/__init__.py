"""Output: answers as result lines, and the counters beside them."""
