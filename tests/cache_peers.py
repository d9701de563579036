"""Real shared caches in front of a server of this machine: Varnish and nginx, from Debian."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from network_peers import debian_command, listens, until
from weir_bench.fragments import peers
from weir_bench.oxigraph import free_port


@contextmanager
def varnish(origin: str, folder: Path) -> Iterator[str]:
    """A Varnish as it comes; its address."""
    with peers.varnish(origin, folder, debian_command("varnishd", "varnish")) as address:
        yield address


@contextmanager
def nginx(origin: str, folder: Path, *lines: str) -> Iterator[str]:
    """An nginx that caches; ``lines`` are more of its configuration for what it passes on."""
    port = free_port()
    config = folder / "nginx.conf"
    config.write_text(
        f"""daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
events {{ }}
http {{
  access_log off;
  proxy_temp_path {folder}/temp;
  client_body_temp_path {folder}/body; fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u;
  scgi_temp_path {folder}/s;
  proxy_cache_path {folder}/cache keys_zone=all:1m;
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass {origin};
      proxy_set_header Host 127.0.0.1:{port};
      proxy_cache all;
      add_header X-Cache $upstream_cache_status;
      {" ".join(lines)}
    }}
  }}
}}
"""
    )
    with _running([debian_command("nginx", "nginx-light"), "-c", str(config)], port, folder / "nginx.out"):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def _running(command: Sequence[str], port: int, log: Path) -> Iterator[None]:
    with log.open("ab") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        until(lambda: listens(port) or process.poll() is not None)
        assert process.poll() is None, log.read_text()[-2000:]
        yield
    finally:
        process.terminate()
        process.wait(20)
