"""CityBench's data as Weir reads them: rows of sensors become messages, a row a second and stream.

A folder in the layout of the benchmark's repository has ``*.stream`` files, static data sets and queries. A
row becomes one observation for each property that the sensor observes, as the benchmark's own stream classes
make them. A row whose numbers cannot be read is skipped. Times begin at ``START`` and are not the sensors':
the benchmark too replays a row at each tick.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pyoxigraph as ox

from weir.errors import UsageError

START = 1_400_000_000_000
"""The time of every stream's first row, in ms; rows follow at every ``TICK``."""
TICK = 1_000

EVENTS = "http://www.insight-centre.org/dataset/SampleEventService#"
SSN = "http://purl.oclc.org/NET/ssnx/ssn#"
SAO = "http://purl.oclc.org/NET/sao/"
CITY = "http://www.insight-centre.org/citytraffic#"
_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_DOUBLE = "<http://www.w3.org/2001/XMLSchema#double>"
_OBSERVED = f"SELECT ?p ?kind WHERE {{ <%s> <{SSN}observes> ?p . ?p a ?kind }} ORDER BY ?p"
_GASES = ("ozone", "particullate_matter", "carbon_monoxide", "sulfure_dioxide", "nitrogen_dioxide")
_UNDEFINED = -1.0

Row = Mapping[str, str]
Values = Callable[["City", str, Row], dict[str, float]]


def _ratio(value: float, by: float) -> float:
    return value / by if by else _UNDEFINED


def _traffic(city: City, sensor: str, row: Row) -> dict[str, float]:
    distance = city.distances.get(row["REPORT_ID"], 0.0)
    speed, count = float(row["avgSpeed"]), float(row["vehicleCount"])
    return {
        "AvgSpeed": speed,
        "VehicleCount": count,
        "MeasureTime": float(row["avgMeasuredTime"]),
        "EstimatedTime": _ratio(distance, speed),
        "CongestionLevel": _ratio(count, distance),
    }


def _parking(city: City, sensor: str, row: Row) -> dict[str, float]:
    return {"ParkingVacancy": float(row["totalspaces"]) - float(row["vehiclecount"])}


def _weather(city: City, sensor: str, row: Row) -> dict[str, float]:
    return {
        "Temperature": float(row["tempm"]),
        "Humidity": float(row["hum"]),
        "WindSpeed": float(row["wspdm"]),
    }


def _pollution(city: City, sensor: str, row: Row) -> dict[str, float]:
    return {"API": max(float(row[gas]) for gas in _GASES)}


_KINDS: Mapping[str, Values] = {
    "AarhusTrafficData": _traffic,
    "AarhusParkingData": _parking,
    "AarhusWeatherData": _weather,
    "AarhusPollutionData": _pollution,
}
_LOCATION = "UserLocationService"


@dataclass(frozen=True)
class City:
    """A folder with CityBench's data."""

    folder: Path

    def file(self, name: str) -> Path:
        """The file of this name nearest to the top of the folder."""
        found = sorted(self.folder.rglob(name), key=lambda path: (len(path.parts), path))
        if not found:
            raise UsageError(
                f"{self.folder} has no file {name}",
                hint="--data takes a folder in the layout of CityBench's repository",
            )
        return found[0]

    @cached_property
    def distances(self) -> dict[str, float]:
        """The length of each street that a traffic sensor watches, in metres, by the number of its report."""
        with self.file("trafficMetaData.csv").open(encoding="utf-8", newline="") as lines:
            return {row["REPORT_ID"]: float(row["DISTANCE_IN_METERS"]) for row in csv.DictReader(lines)}

    @cached_property
    def sensors(self) -> ox.Store:
        """What the repository of sensors says."""
        store = ox.Store()
        store.load(path=str(self.file("SensorRepository.n3")), format=ox.RdfFormat.TURTLE)
        return store

    def observes(self, sensor: str) -> dict[str, str]:
        """The properties that a sensor observes, by the last word of their class."""
        found = self.sensors.query(_OBSERVED % (EVENTS + sensor))
        assert isinstance(found, ox.QuerySolutions)
        return {str(row["kind"].value).removeprefix(CITY): str(row["p"].value) for row in found}

    def messages(self, sensor: str, count: int) -> list[str]:
        """The first ``count`` messages of a stream as lines, and from the first row again where it has
        fewer."""
        found: list[str] = []
        while len(found) < count:
            known = len(found)
            for triples in self._rows(sensor, known):
                time = START + len(found) * TICK
                found.append("".join(f"{time}\t{triple}\n" for triple in triples))
                if len(found) == count:
                    return found
            if len(found) == known:
                raise UsageError(f"the stream {sensor} of CityBench has no row that can be read")
        return found

    def _rows(self, sensor: str, number: int) -> Iterator[list[str]]:
        """The triples of each row; observations are numbered from ``number``."""
        properties = self.observes(sensor)
        path = self.file(f"{sensor}.stream")
        with path.open(encoding="utf-8", newline="") as lines:
            if sensor.startswith(_LOCATION):
                for line in lines:
                    yield _location(sensor, number, properties["Location"], line)
                    number += 1
                return
            values = next((make for kind, make in _KINDS.items() if sensor.startswith(kind)), None)
            if values is None:
                raise UsageError(f"{path} is of no kind of CityBench's streams")
            for row in csv.DictReader(lines):
                try:
                    measured = values(self, sensor, row)
                except ValueError:
                    continue
                yield [
                    triple
                    for kind, value in measured.items()
                    for triple in _observation(
                        sensor, f"{kind}-{number}", properties[kind], f'"{value}"^^{_DOUBLE}'
                    )
                ]
                number += 1


def _observation(sensor: str, name: str, observed: str, value: str) -> list[str]:
    subject = f"<{EVENTS}{sensor}-{name}>"
    return [
        f"{subject} {_TYPE} <{SSN}Observation> .",
        f"{subject} <{SSN}observedBy> <{EVENTS}{sensor}> .",
        f"{subject} <{SSN}observedProperty> <{observed}> .",
        f"{subject} <{SAO}hasValue> {value} .",
    ]


def _location(sensor: str, number: int, observed: str, line: str) -> list[str]:
    latitude, longitude = line.rpartition("|")[2].split(",")
    node = f"<{EVENTS}{sensor}-node-{number}>"
    return [
        *_observation(sensor, f"Location-{number}", observed, node),
        f'{node} <{CITY}hasLatitude> "{float(latitude)}"^^{_DOUBLE} .',
        f'{node} <{CITY}hasLongitude> "{float(longitude)}"^^{_DOUBLE} .',
    ]
