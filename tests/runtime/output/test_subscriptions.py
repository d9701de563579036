"""Followers of results in one event loop: shared chunks, slow ones, ends."""

from __future__ import annotations

import asyncio
import json

from weir.runtime.output.subscriptions import Channels, Chunk, RecentLines, Wire, event


def plain(chunk: Chunk) -> bytes:
    return json.dumps({"missed": chunk.missed, "lines": [int(line) for _, line in chunk.lines()]}).encode()


WIRE = Wire(plain, lambda position: b"first", lambda position: b"silent")


def numbers(first: int, end: int) -> list[bytes]:
    return [b"%d\n" % number for number in range(first, end)]


def test_recent_lines_are_read_from_any_position_and_tell_what_is_gone() -> None:
    lines = RecentLines(3)
    lines.append(numbers(0, 5))
    assert (lines.start, lines.end) == (2, 5)
    assert lines.read(3) == Chunk(3, 5, b"3\n4\n")
    assert lines.read(0) == Chunk(2, 5, b"2\n3\n4\n", missed=2)
    assert lines.read(9) == Chunk(5, 5, b"")


def test_all_followers_get_every_line_once_and_share_the_bytes() -> None:
    lines = RecentLines(1000)
    channels = Channels(lambda name: lines)

    async def follower() -> list[bytes]:
        out: list[bytes] = []
        async for sent in channels["q"].follow(0, WIRE, 5):
            out.append(sent.data)
            if sent.next >= 40:
                break
        return out

    async def main() -> list[list[bytes]]:
        channels.attach(asyncio.get_running_loop())
        tasks = [asyncio.create_task(follower()) for _ in range(20)]
        await asyncio.sleep(0)
        for batch in range(4):
            await asyncio.to_thread(lines.append, numbers(batch * 10, batch * 10 + 10))
            await asyncio.to_thread(channels.tell, ["q", "nobody's"])
            await asyncio.sleep(0.01)
        return await asyncio.gather(*tasks)

    received = asyncio.run(main())
    for first, *data in received:
        assert first == b"first"
        assert [line for each in data for line in json.loads(each)["lines"]] == list(range(40))
    assert len({id(chunk) for data in received for chunk in data[1:]}) <= 4 + 4
    assert channels.followers == 0


def test_a_slow_follower_is_told_what_it_missed() -> None:
    lines = RecentLines(10)

    async def main() -> bytes:
        following = Channels(lambda name: lines)["q"].follow(0, WIRE, 5)
        await anext(following)
        lines.append(numbers(0, 100))
        sent = await anext(following)
        await following.aclose()
        return sent.data

    assert json.loads(asyncio.run(main())) == {"missed": 90, "lines": list(range(90, 100))}


def test_a_silent_follower_gets_a_sign_of_life_and_ends_with_its_query() -> None:
    channels = Channels(lambda name: RecentLines(1))

    async def main() -> list[bytes]:
        out: list[bytes] = []
        async for sent in channels["q"].follow(0, WIRE, 0.01):
            out.append(sent.data)
            if sent.data == b"silent":
                assert channels.followers == 1
                channels.drop("q")
        return out

    assert asyncio.run(main()) == [b"first", b"silent"]


def test_an_event_has_a_name_and_an_id_where_they_are_given() -> None:
    assert event(b"{}") == b"data: {}\n\n"
    assert event(b"{}", name=b"end", id=3) == b"event: end\nid: 3\ndata: {}\n\n"
