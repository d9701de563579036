"""The places that results are written to: a disk, S3, and, in ``make long``, HDFS."""

from store_kit import hdfs, place, s3, store

__all__ = ["hdfs", "place", "s3", "store"]
