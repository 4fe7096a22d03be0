"""Lines of one of many writers in a block: searched alone, numbered as in the file."""

from __future__ import annotations

import random

from analyzer.scan.blocks import NEIGHBOURS, pick_lines


def test_picked_lines_keep_their_numbers_and_their_blank_neighbours() -> None:
    """What others wrote is blank, shortened, and counted in full."""
    dice = random.Random(7)
    for _ in range(200):
        lines = [b"%d" % number for number in range(dice.randrange(1, 60))]
        own = sorted(dice.sample(range(len(lines)), dice.randrange(1, len(lines) + 1)))
        block = pick_lines(lines, own, 5)
        data = bytes(block.data)
        for place in own:
            at = data.index(b"\n%d\n" % place) + 1 if not data.startswith(b"%d\n" % place) else 0
            assert block.count(0, at) == place
        assert block.count(0, block.end) == len(lines) == block.lines
        spread = [line if place in own else b"" for place, line in enumerate(lines)]
        picked = data.split(b"\n")[:-1]
        for place in own:
            at = picked.index(lines[place])
            near = slice(max(0, at - NEIGHBOURS), at + NEIGHBOURS + 1)
            assert picked[near] == spread[max(0, place - NEIGHBOURS) : place + NEIGHBOURS + 1]


def test_the_search_of_many_writers_costs_what_their_lines_cost() -> None:
    """All parts of a block together are a few times the block, however many wrote in it."""
    for writers in (10, 100, 1000):
        lines = [b"x" * 100] * 4000
        parts = [range(writer, len(lines), writers) for writer in range(writers)]
        searched = sum(pick_lines(lines, own, 1).end for own in parts)
        assert searched < 1.1 * 101 * len(lines)
