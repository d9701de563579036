"""A smart building's energy readings as a stream of triples, after the CTP-automata paper's data.

The paper's set (Smart Building Energy Project, 4–19 August 2014, about 6.2 million triples) is not
public. This one has its make-up: metered readings with unit, time, place and consumer, each sent with
what it needs to be understood (where the sensor is, which floor that room is on). Ten triples a
reading, in a fixed order; everything follows from the seed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from weir.rdf.columns import Ids
from weir.rdf.ids.encoding import DEFAULT_KEY, encode_texts
from weir.rdf.terms import XSD

BASE = "http://energy.example/"
STREAM = BASE + "readings"
RDF_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
START = 1_407_110_400_000_000  # 2014-08-04T00:00:00Z in µs
TRIPLES_PER_READING = 10

SENSORS, ROOMS, FLOORS, CONSUMERS = 240, 80, 6, 40
KINDS = ("PowerReading", "EnergyReading", "WaterReading", "HeatReading")
PROPERTIES = ("activePower", "reactivePower", "energy", "flow", "volume", "temperature")
UNITS = ("watt", "wattHour", "litre", "kelvin")
PREDICATES = (
    RDF_TYPE,
    f"<{BASE}observedBy>",
    f"<{BASE}property>",
    f"<{BASE}consumer>",
    f"<{BASE}location>",
    f"<{BASE}value>",
    f"<{BASE}unit>",
    f"<{BASE}time>",
    f"<{BASE}locatedIn>",
    f"<{BASE}partOf>",
)


@dataclass(frozen=True, slots=True)
class Energy:
    """The stream as codes into ``terms``, distinct canonical texts; ``time`` is each triple's own µs.

    The first ``vocabulary`` terms occur again and again; the rest (readings, values, times) come and go.
    """

    terms: pl.Series
    subject: Ids
    predicate: Ids
    object: Ids
    time: Ids
    vocabulary: int

    def __len__(self) -> int:
        return len(self.subject)

    def columns(self, key: bytes = DEFAULT_KEY) -> tuple[Ids, Ids, Ids]:
        """Subject, predicate and object as term ids."""
        ids = encode_texts(self.terms, key)
        return ids[self.subject], ids[self.predicate], ids[self.object]

    def triple(self, row: int) -> tuple[str, str, str]:
        """The texts of one triple."""
        return (
            str(self.terms[int(self.subject[row])]),
            str(self.terms[int(self.predicate[row])]),
            str(self.terms[int(self.object[row])]),
        )

    def lines(self) -> pl.Series:
        """The lines of a ``.tnq`` file in which every triple is a message of its own, as in the paper."""
        s, p, o = (self.terms.gather(codes) for codes in (self.subject, self.predicate, self.object))
        stamp = pl.Series("stamp", self.time // 1000)
        return pl.select(pl.format("{}\t{} {} {} .", stamp, s, p, o)).to_series()


def energy(triples: int, seed: int = 4) -> Energy:
    """At least ``triples`` triples, rounded up to whole readings."""
    readings = -(-triples // TRIPLES_PER_READING)
    random = np.random.default_rng(seed)
    sensor = random.integers(0, SENSORS, readings)
    fixed = np.random.default_rng(seed + 1)
    room_of = fixed.integers(0, ROOMS, SENSORS)
    floor_of = fixed.integers(0, FLOORS, ROOMS)
    property_of = fixed.integers(0, len(PROPERTIES), SENSORS)
    consumer_of = fixed.integers(0, CONSUMERS, SENSORS)
    moment = START + np.arange(readings) * 2_000_000

    sections = [
        pl.Series(PREDICATES),
        _names("sensor/", SENSORS),
        _names("room/", ROOMS),
        _names("floor/", FLOORS),
        _names("consumer/", CONSUMERS),
        pl.Series([f"<{BASE}{name}>" for name in KINDS]),
        pl.Series([f"<{BASE}{name}>" for name in PROPERTIES]),
        pl.Series([f"<{BASE}{name}>" for name in UNITS]),
    ]
    offsets = np.cumsum([0, *map(len, sections)])
    vocabulary = int(offsets[-1])
    sensors, rooms, floors, consumers, kinds, properties, units = offsets[1:-1]
    values = random.integers(0, 50_000, readings)
    distinct, value = np.unique(values, return_inverse=True)
    sections += [
        _names("reading/", readings),
        _decimals(distinct),
        _instants(moment),
    ]
    reading = vocabulary + np.arange(readings)
    room, property_ = room_of[sensor], property_of[sensor]
    subject = np.repeat(reading, TRIPLES_PER_READING).reshape(readings, -1)
    subject[:, 8], subject[:, 9] = sensors + sensor, rooms + room
    object_ = np.stack(
        [
            kinds + np.minimum(property_ // 2 + property_ % 2, len(KINDS) - 1),
            sensors + sensor,
            properties + property_,
            consumers + consumer_of[sensor],
            rooms + room,
            vocabulary + readings + value,
            units + property_ % len(UNITS),
            vocabulary + readings + len(distinct) + np.arange(readings),
            rooms + room,
            floors + floor_of[room],
        ],
        axis=1,
    )
    return Energy(
        terms=pl.concat([section.rename("term") for section in sections]),
        subject=subject.ravel(),
        predicate=np.tile(np.arange(TRIPLES_PER_READING), readings),
        object=object_.ravel(),
        time=(moment[:, None] + np.arange(TRIPLES_PER_READING) * 1000).ravel(),
        vocabulary=vocabulary,
    )


def _names(kind: str, count: int) -> pl.Series:
    return pl.select(pl.format(f"<{BASE}{kind}{{}}>", pl.int_range(count))).to_series()


def _decimals(tenths: Ids) -> pl.Series:
    whole, tenth = pl.Series("whole", tenths // 10), pl.Series("tenth", tenths % 10)
    return pl.select(pl.format(f'"{{}}.{{}}"^^<{XSD}decimal>', whole, tenth)).to_series()


def _instants(microseconds: Ids) -> pl.Series:
    instant = pl.Series("at", microseconds).cast(pl.Datetime("us")).dt.strftime("%Y-%m-%dT%H:%M:%SZ")
    return pl.select(pl.format(f'"{{}}"^^<{XSD}dateTime>', instant)).to_series()
