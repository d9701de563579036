"""Publish the departures of a station as fragments: 300 static triples, 200 that change every ten seconds.

    python examples/departures/publish.py [--port 8080] [--period 10] [--method graphs] [--labeling interval]

then follow them from another terminal:

    weir follow examples/departures/departures.rq http://127.0.0.1:8080/departures
"""

from __future__ import annotations

import argparse
import threading
import time

from weir.fragments.protocol.annotation import Annotation, Labeling, Method
from weir.fragments.server import Dataset, FragmentsApp, server
from weir_bench.fragments.departures import SECOND, Departures


def keep_pushing(dataset: Dataset, data: Departures, ahead: float = 1.0) -> None:
    """Push each version a second before it starts, so that no client sees a gap."""
    number = 0
    while True:
        start = data.first + number * data.period
        time.sleep(max(0.0, start / SECOND - ahead - time.time()))
        dataset.push(data.version(number, start), time.time_ns() // 1000)
        number += 1


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--period", type=float, default=10.0, help="seconds between changes")
    parser.add_argument("--method", choices=[method.value for method in Method], default="graphs")
    parser.add_argument("--labeling", choices=[labeling.value for labeling in Labeling], default="expiration")
    options = parser.parse_args()

    data = Departures(first=time.time_ns() // 1000, period=int(options.period * SECOND))
    annotation = Annotation(Method(options.method), Labeling(options.labeling))
    dataset = Dataset("departures", data.static(), annotation=annotation, title="Departures")
    threading.Thread(target=keep_pushing, args=(dataset, data), daemon=True).start()
    print(f"http://127.0.0.1:{options.port}/departures", flush=True)
    server(FragmentsApp([dataset]), port=options.port).run()


if __name__ == "__main__":
    main()
