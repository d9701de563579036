"""A real Kafka broker for tests, in KRaft mode on the loopback interface; its jars are on Maven Central."""

from __future__ import annotations

import fcntl
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from network_peers import unavailable, until
from weir_bench.oxigraph import free_port

HOME = Path(sys.prefix) / "kafka"
VERSION = "3.9.1"
_POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion><groupId>weir</groupId><artifactId>peers</artifactId><version>1</version>
<dependencies><dependency>
<groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>{VERSION}</version>
</dependency></dependencies></project>
"""
_OFFLINE = ("Could not transfer", "Unknown host", "Connection refused", "Network is unreachable", "timed out")
_JAVA = ["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Xmx256m"]


def jars() -> Path:
    """The folder of the broker's jars, fetched once."""
    HOME.mkdir(parents=True, exist_ok=True)
    with (HOME / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = HOME / f"jars-{VERSION}"
        if (folder / ".complete").exists():
            return folder
        if shutil.which("mvn") is None or shutil.which("java") is None:
            unavailable("Kafka's broker needs java, and mvn to fetch it", offline=False)
        (HOME / "pom.xml").write_text(_POM)
        command = ["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={folder}"]
        try:
            run = subprocess.run(command, cwd=HOME, capture_output=True, text=True, timeout=240, check=False)
        except subprocess.TimeoutExpired:
            unavailable("Maven Central is too slow to fetch Kafka's broker", offline=True)
            raise AssertionError from None
        if run.returncode:
            offline = any(word in run.stdout + run.stderr for word in _OFFLINE)
            unavailable(f"mvn cannot fetch Kafka's broker: {run.stdout[-400:]}", offline=offline)
        (folder / ".complete").touch()
        return folder


@contextmanager
def kafka(folder: Path) -> Iterator[str]:
    """The host and port of a running broker."""
    classes = f"{jars()}/*"
    port, controller = free_port(), free_port()
    settings = {
        "process.roles": "broker,controller",
        "node.id": 1,
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": "PLAINTEXT",
        "log.dirs": str(folder / "data"),
        "offsets.topic.replication.factor": 1,
        "transaction.state.log.replication.factor": 1,
        "transaction.state.log.min.isr": 1,
    }
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "server.properties"
    file.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    form = ["kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", str(file)]
    subprocess.run([*_JAVA, "-cp", classes, *form], check=True, capture_output=True, timeout=60)
    with (folder / "kafka.out").open("wb") as out:
        process = subprocess.Popen([*_JAVA, "-cp", classes, "kafka.Kafka", str(file)], stdout=out, stderr=out)
    try:
        until(lambda: _listens(port) or process.poll() is not None, 60)
        assert process.poll() is None, (folder / "kafka.out").read_text()
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def create_topic(servers: str, topic: str, partitions: int) -> None:
    admin = AdminClient({"bootstrap.servers": servers, "log_level": 0})
    admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result(30)


def produce(servers: str, topic: str, messages: list[tuple[int, bytes, int]]) -> None:
    """Messages as (partition, payload, timestamp in ms)."""
    producer = Producer({"bootstrap.servers": servers, "log_level": 0})
    for partition, payload, stamp in messages:
        producer.produce(topic, payload, partition=partition, timestamp=stamp)
    assert producer.flush(30) == 0


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
