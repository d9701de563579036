"""Where results go: files, folders, streams, brokers, and whoever is watching.

``base`` says what a sink is, ``making`` makes one from a format or an address. ``result_files`` write to
disk, in the ``formats`` that they are given, ``folders`` a file for each batch, ``part_folders`` one for each
task. Clients of ``kafka_sink``, ``mqtt_sink`` and ``live_sink`` come with extras.
"""

__all__ = [
    "base",
    "folders",
    "formats",
    "kafka_sink",
    "live_sink",
    "making",
    "mqtt_sink",
    "part_folders",
    "result_files",
]
