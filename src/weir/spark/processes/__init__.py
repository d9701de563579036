"""What the processes of a session start from: the JVM's classes, and Python with Weir imported."""

__all__ = ["class_archive", "python_daemon"]
