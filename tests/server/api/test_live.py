"""Followers of results in one event loop: shared chunks, slow ones, ends."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from server_kit import answers
from weir.server.api.result_formats import batch, events
from weir.server.result_log import ResultLog
from weir.server.subscriptions import Channels


def test_all_followers_get_every_line_once_and_share_the_bytes(tmp_path: Path) -> None:
    log = ResultLog(tmp_path)
    log.open()
    channels = Channels(log)

    async def follower(start: int, upto: int) -> list[bytes]:
        out: list[bytes] = []
        position = start
        async for sent in channels["q"].follow(start, events, 5):
            assert sent is not None
            out.append(sent.data)
            position = sent.next
            if position >= upto:
                break
        return out

    async def main() -> list[list[bytes]]:
        channels.attach(asyncio.get_running_loop())
        tasks = [asyncio.create_task(follower(0, 40)) for _ in range(20)]
        await asyncio.sleep(0)
        for number in range(4):
            await asyncio.to_thread(log.write, number, [answers("q", number * 10, 10)])
            await asyncio.sleep(0.01)
        return await asyncio.gather(*tasks)

    received = asyncio.run(main())
    for data in received:
        text = b"".join(data).decode()
        assert [int(line[4:]) for line in text.splitlines() if line.startswith("id: ")] == list(range(40))
    assert len({id(chunk) for data in received for chunk in data}) <= 4 + 4
    assert channels.followers == 0


def test_a_slow_follower_is_told_what_it_missed_and_holds_nobody_up(tmp_path: Path) -> None:
    log = ResultLog(tmp_path, segment=300, keep=900)
    log.open()
    channels = Channels(log)

    async def main() -> tuple[int, list[int]]:
        channels.attach(asyncio.get_running_loop())
        following = channels["q"].follow(0, batch, 5)
        log.write(0, [answers("q", 0, 1)])
        first = await anext(following)
        assert first is not None
        for number in range(1, 200):
            log.write(number, [answers("q", number, 1)])
        missed, seen = 0, []
        while True:
            sent = await anext(following)
            assert sent is not None
            told = json.loads(sent.data)
            missed += told["missed"]
            seen += [line["position"] for line in told["results"]]
            if sent.next == 200:
                await following.aclose()
                return missed, seen

    missed, seen = asyncio.run(main())
    assert missed > 100
    assert seen == list(range(1 + missed, 200))


def test_followers_end_with_their_query(tmp_path: Path) -> None:
    log = ResultLog(tmp_path)
    log.open()
    channels = Channels(log)

    async def main() -> int:
        channels.attach(asyncio.get_running_loop())

        async def count() -> int:
            return len([sent async for sent in channels["q"].follow(0, events, 5)])

        task = asyncio.create_task(count())
        await asyncio.sleep(0.01)
        channels.drop("q")
        return await asyncio.wait_for(task, 5)

    assert asyncio.run(main()) == 0
