"""Real stores on the loopback interface: an S3 server from PyPI (moto), a small HDFS from Maven Central."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import boto3
import pytest

from network_peers import unavailable, until
from weir.storage.places import path_at
from weir_bench.oxigraph import free_port

BUCKET = "bucket"
HADOOP = "3.5.0"
_POM = """<project><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId>
<version>1</version><dependencies>{}</dependencies></project>"""
_DEPENDENCY = "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"
_CLUSTER = (
    f"org.apache.hadoop:hadoop-client-minicluster:{HADOOP}",
    f"org.apache.hadoop:hadoop-client-runtime:{HADOOP}",
    "org.junit.jupiter:junit-jupiter-api:5.13.3",
    "org.mockito:mockito-core:4.11.0",
)
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"


@contextmanager
def _process(command: list[str], folder: Path, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with open(log, "wb") as said:
        process = subprocess.Popen(command, cwd=folder, stdout=said, stderr=said, start_new_session=True)
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except OSError:
        return False


@contextmanager
def s3_server(folder: Path) -> Iterator[Mapping[str, str]]:
    """A server with a bucket; the settings by which clients find it."""
    port = free_port()
    command = [sys.executable, "-W", "ignore", "-m", "moto.server", "-p", str(port)]
    with _process(command, folder, folder / "s3.log"):
        endpoint = f"http://127.0.0.1:{port}"
        until(lambda: _answers(f"{endpoint}/moto-api/"), 60)
        settings = {
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        client = boto3.client(
            "s3",
            endpoint_url=endpoint,
            region_name="us-east-1",
            aws_access_key_id="key",
            aws_secret_access_key="secret",
        )
        client.create_bucket(Bucket=BUCKET)
        yield settings


@contextmanager
def hdfs_cluster(folder: Path) -> Iterator[tuple[str, Mapping[str, str]]]:
    """A name node with a data node: its address, and the settings by which clients find it."""
    jars = maven_jars(folder / "jars", *_CLUSTER)
    port, http = free_port(), free_port()
    name = "org.apache.hadoop.mapreduce.MiniHadoopClusterManager"
    ports = ["-nomr", "-format", "-nnport", str(port), "-nnhttpport", str(http)]
    command = ["java", "-Xmx512m", "-cp", f"{jars}/*", name, *ports, "-writeDetails", str(folder / "up.json")]
    with _process(command, folder, folder / "hdfs.log") as process:
        until(lambda: process.poll() is not None or (folder / "up.json").exists(), 240)
        assert process.poll() is None, (folder / "hdfs.log").read_text()[-2000:]
        yield f"hdfs://localhost:{port}", {"WEIR_WEBHDFS": f"http://localhost:{http}"}


def maven_jars(folder: Path, *artifacts: str) -> Path:
    """A folder with packages of Maven's and all that they need."""
    if shutil.which("mvn") is None:
        unavailable("there is no mvn to fetch packages with", offline=False)
    folder.mkdir()
    wanted = "".join(_DEPENDENCY.format(*each.split(":")) for each in artifacts)
    (folder / "pom.xml").write_text(_POM.format(wanted))
    told = subprocess.run(
        ["mvn", "-q", "-B", _COPY, f"-DoutputDirectory={folder}"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=1800,
    )
    if told.returncode:
        offline = re.search("resolve|connect|timed out|transfer", told.stdout) is not None
        unavailable(f"{', '.join(artifacts)} cannot be had: {told.stdout[-300:]}", offline=offline)
    return folder


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The bucket of a server, which this process finds."""
    with s3_server(tmp_path_factory.mktemp("s3")) as settings, pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name, value)
        yield f"s3a://{BUCKET}"


@pytest.fixture(scope="session")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A file system, which this process finds."""
    with (
        hdfs_cluster(tmp_path_factory.mktemp("hdfs")) as (address, settings),
        pytest.MonkeyPatch.context() as patch,
    ):
        for name, value in settings.items():
            patch.setenv(name, value)
        yield address


STORES = ["s3", pytest.param("hdfs", marks=pytest.mark.long)]


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest) -> Path:
    """A folder of its own on a store."""
    return path_at(f"{request.getfixturevalue(request.param)}/{secrets.token_hex(8)}")


@pytest.fixture(params=["disk", *STORES])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder of its own anywhere."""
    if request.param == "disk":
        return tmp_path
    return path_at(f"{request.getfixturevalue(request.param)}/{secrets.token_hex(8)}")
