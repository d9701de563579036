"""Worker: groups of queries, their members and their state between batches."""
