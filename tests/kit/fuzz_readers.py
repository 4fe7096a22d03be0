"""Readers and parsers in a loop of our own: each execution gives one of them an input that was changed.

    python -m tests.kit.fuzz_readers --seconds 3600 --seed 1

An execution is named by its target and one number; `--target NAME --only N` repeats it. An error that is not one of our
own, a slow execution and memory that grows are named.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import random
import resource
import sys
import tarfile
import time
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

from analyzer.artefacts.parsing import registry
from analyzer.artefacts.tables import Block, Fault, Row
from analyzer.runtime.errors import BacklineError
from analyzer.runtime.limits import Limits
from analyzer.sources import Ledger, passes, prompts, transcript
from analyzer.sources.gzipstream import GzipStream
from analyzer.sources.stream import Feed, MemorySource, SliceStream, Stream
from analyzer.sources.tar import TarReader
from analyzer.sources.zip import ZipReader
from tests.kit import fuzz_kit, sample_kit
from tests.kit.sample_kit import Sample

SLOW = 2.0  # seconds of CPU of one execution
MOST_LINES = 300  # of an input
GROWTH = 300  # MB; what caches of patterns take comes to less
_LEAVES = (
    None, True, 0, -1, 1e308, float("nan"), 1 << 70, "", "-", "x" * 5000, "\ud800", "=1+1", [], {}, [[]], {"": {}}, "2017-10-14T16:41:02Z",
)  # fmt: skip
_PROMPTS = (
    b"[root@esx01:~] esxcli network nic list", b"~ # vsish -e get /net/portsets/vSwitch0/ports/1/status", b"nsx-controller # show control-cluster status",
    b"root@guest:~# for i in 1 2; do ethtool -S eth$i | grep -i drop; done", b"/> get /net/x", b"nsxmgr> show controller list all",
    b"[root@esx01:~] cat /var/log/vmkernel.log | tail -n 5 > x; ssh esx02 'esxcli vm process list'", b"edge-01(tier1_sr[2])> get interfaces",
)  # fmt: skip


# -- inputs


@cache
def list_samples() -> list[tuple[Sample, Block, bytes]]:
    """Return the samples of all parsers with the blocks that recognition cuts out of them."""
    return [
        (one, sample_kit.recognised(registry()[one.parser], one), one.text.read_bytes())
        for one in sample_kit.ALL
    ]


@cache
def list_json_samples() -> list[tuple[Sample, Block, Any]]:
    """Return the samples that are JSON, read."""
    found = []
    for sample, block, raw in list_samples():
        try:
            found.append((sample, block, json.loads(raw)))
        except ValueError:
            continue
    return found


def mutate_text(dice: random.Random, raw: bytes) -> bytes:
    """Return a text with some of its lines changed."""
    lines = raw.split(b"\n")
    if len(lines) > MOST_LINES:
        at = dice.randrange(len(lines) - MOST_LINES)
        lines = lines[:3] + lines[at : at + MOST_LINES]
    if dice.random() < 0.2:  # a stretch of another output
        other = dice.choice(list_samples())[2].split(b"\n")
        at, where = dice.randrange(len(lines) + 1), dice.randrange(len(other))
        lines[at:at] = other[where : where + dice.choice((1, 3, 20))]
    for _ in range(dice.choice((1, 1, 2, 4, 8))):
        lines = dice.choice(fuzz_kit.MUTATIONS)(dice, lines)
    return b"\n".join(lines)


def mutate_bytes(dice: random.Random, raw: bytes) -> bytes:
    """Return bytes with some changed, lost, doubled or put in."""
    found = bytearray(raw)
    for _ in range(dice.choice((0, 1, 1, 2, 5, 20))):
        at = dice.randrange(len(found) + 1)
        size = dice.choice((1, 1, 4, 12, 512))
        match dice.randrange(5):
            case 0:
                found[at : at + size] = dice.randbytes(len(found[at : at + size]))
            case 1:
                del found[at : at + size]
            case 2:
                found[at:at] = found[at : at + size]
            case 3:
                found[at : at + size] = dice.choice((b"\xff", b"\0", b"7")) * len(
                    found[at : at + size]
                )
            case _:
                del found[at:]
    return bytes(found)


def mutate_json(dice: random.Random, value: Any) -> Any:
    """Return a JSON value with one place of it changed."""
    if isinstance(value, dict) and value and dice.random() < 0.9:
        key = dice.choice(list(value))
        made = dict(value)
        match dice.randrange(6):
            case 0:
                del made[key]
            case 1:
                made[str(dice.choice(_LEAVES))[:50]] = made.pop(key)
            case _:
                made[key] = mutate_json(dice, made[key])
        return made
    if isinstance(value, list) and value and dice.random() < 0.9:
        at = dice.randrange(len(value))
        return [*value[:at], mutate_json(dice, value[at]), *value[at + dice.choice((0, 1, 1, 1)) :]]
    return dice.choice(_LEAVES)


def split_lines(raw: bytes) -> list[str]:
    """Return the lines of a text as a reader gives them."""
    lines = raw.decode("utf-8", "surrogateescape").split("\n")
    return [line.removesuffix("\r") for line in lines]


# -- targets


def read_parser(dice: random.Random) -> None:
    """A parser reads a changed output: all it gives stands on a line of the output."""
    sample, block, raw = dice.choice(list_samples())
    _run_parser(sample, block, mutate_text(dice, raw))


def read_json(dice: random.Random) -> None:
    """A parser reads JSON of another form."""
    sample, block, value = dice.choice(list_json_samples())
    for _ in range(dice.choice((1, 1, 2, 5))):
        value = mutate_json(dice, value)
    _run_parser(sample, block, json.dumps(value, indent=dice.choice((None, 1))).encode())


def _run_parser(sample: Sample, block: Block, raw: bytes) -> None:
    lines = split_lines(raw)
    given = Block(lines, address=block.address, command=block.command, params=dict(block.params))
    for item in sample_kit.run(registry()[sample.parser], given, raw):
        if isinstance(item, Row | Fault):
            assert 0 <= item.line <= max(len(lines), raw.count(b"\r") + 1), item.line


def read_esxtop(dice: random.Random) -> None:
    """The esxtop CSV is read from chunks of any size; the size changes nothing."""
    sample, block, raw = dice.choice(
        [one for one in list_samples() if registry()[one[0].parser].stream]
    )
    raw = mutate_text(dice, raw) if dice.random() < 0.7 else mutate_bytes(dice, raw)
    stream = registry()[sample.parser].stream
    assert stream is not None
    given_rows = []
    for size in (dice.choice((1, 7, 64, 1000)), 1 << 20):
        chunks = (raw[at : at + size] for at in range(0, len(raw), size))
        given = Block([], address=block.address)
        given_rows.append(
            [
                (type(one).__name__, str(getattr(one, "values", "")), getattr(one, "why", ""))
                for one in stream(given, chunks, None)
            ]
        )
    assert given_rows[0] == given_rows[1], "another size of chunks gives other rows"


def read_prompt(dice: random.Random) -> None:
    """A line with a prompt and commands is taken apart."""
    lines = (
        [dice.choice(_PROMPTS)]
        if dice.random() < 0.5
        else dice.choice(list_samples())[2].split(b"\n")[:MOST_LINES]
    )
    for _ in range(dice.choice((1, 2, 4))):
        lines = dice.choice(fuzz_kit.MUTATIONS)(dice, lines)
    for line in split_lines(b"\n".join(lines[:20])):
        if len(line) > 10_000:
            continue
        found = prompts.find_prompt(line)
        typed = found.command if found else line
        prompts.find_waiting_host(line)
        prompts.guess_node(found.host if found else line)
        prompts.split_remote(typed)
        for command in prompts.split_commands(typed):
            prompts.find_filter(command.text)
            prompts.find_excerpt_tool(command.text)
            prompts.find_log_files(command.text)
            prompts.may_show(command.text)


def read_transcript(dice: random.Random) -> None:
    """A paste of several outputs is taken apart: no line is lost, none is in two pieces."""
    parts: list[bytes] = []
    for _ in range(dice.choice((1, 2, 3))):
        parts += [dice.choice((*_PROMPTS, b"")), *dice.choice(list_samples())[2].split(b"\n")[:60]]
    lines = split_lines(mutate_text(dice, b"\n".join(parts)))
    lines = [line for line in lines if len(line) < 10_000]
    parsers = registry().values()
    pasted = passes.run_passes(
        lines, lambda line: any(one.starts_at(line) for one in _list_shaped())
    )
    at = 1
    for piece in transcript.split(pasted.lines, parsers):
        assert piece.first_line == at, (piece.first_line, at)
        at += len(piece.lines)
    assert at == len(pasted.lines) + 1, (at, len(pasted.lines))


@cache
def _list_shaped() -> list[Any]:
    return [one for one in registry().values() if one.shape and not one.log][:40]


@cache
def _pack_archives() -> dict[str, bytes]:
    """Return sound archives of small files, in each form of tar and as zip."""
    found: dict[str, bytes] = {}
    names = (
        "esx-a/commands/x.txt",
        "esx-a/" + "n" * 120,
        "d" * 90 + "/" + "e" * 90,
        "esx-a/\u00fc",
    )
    for name, form in (
        ("ustar", tarfile.USTAR_FORMAT),
        ("gnu", tarfile.GNU_FORMAT),
        ("pax", tarfile.PAX_FORMAT),
    ):
        raw = io.BytesIO()
        with tarfile.open(fileobj=raw, mode="w", format=form) as tar:
            for member in names[:1] + names[2:] if form == tarfile.USTAR_FORMAT else names:
                info = tarfile.TarInfo(member)
                info.size = 700
                tar.addfile(info, io.BytesIO(b"0123456\n" * 100))
            link = tarfile.TarInfo("esx-a/link")
            link.type, link.linkname = tarfile.SYMTYPE, "x.txt"
            tar.addfile(link)
        found[name] = raw.getvalue()
    for name, method in (("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED)):
        raw = io.BytesIO()
        with zipfile.ZipFile(raw, "w", method) as packed:
            for member in names:
                packed.writestr(member, "0123456\n" * 100)
        found[name] = raw.getvalue()
    return found


def _drain_stream(stream: Stream) -> int:
    size = 0
    while len(block := stream.block()):
        size += len(block)
    stream.take_faults()
    return size


def read_tar(dice: random.Random) -> None:
    """A damaged tar is read to its end: no member is longer than what there is."""
    raw = mutate_bytes(dice, _pack_archives()[dice.choice(("ustar", "gnu", "pax"))])
    feed = Feed(SliceStream(MemorySource(raw)))
    for entry in TarReader(feed, "a.tar", Limits(), Ledger()).read_entries():
        assert _drain_stream(entry.body) <= len(raw)


def read_gzip(dice: random.Random) -> None:
    """A damaged gzip stream is read to its end."""
    packed = gzip.compress(_pack_archives()["ustar"][: dice.randrange(4000)], mtime=1)
    raw = mutate_bytes(dice, packed * dice.choice((1, 1, 2)))
    assert _drain_stream(GzipStream(SliceStream(MemorySource(raw)))) < 2000 * len(raw) + 1


def read_zip(dice: random.Random) -> None:
    """A damaged zip is read to its end."""
    raw = mutate_bytes(dice, _pack_archives()[dice.choice(("stored", "deflated"))])
    reader = ZipReader(MemorySource(raw), "a.zip", Limits(), Ledger())
    for entry in reader.read_entries():
        if not entry.why:  # else its content is not opened
            assert _drain_stream(reader.open_entry(entry)) < 2000 * len(raw) + 1


Target = Callable[[random.Random], None]
TARGETS: dict[str, tuple[Target, int]] = {  # with executions of each in one turn
    "parser": (read_parser, 30),
    "json": (read_json, 20),
    "esxtop": (read_esxtop, 3),
    "prompt": (read_prompt, 40),
    "transcript": (read_transcript, 1),
    "tar": (read_tar, 40),
    "gzip": (read_gzip, 40),
    "zip": (read_zip, 40),
}


# -- the loop


def run_once(name: str, number: int) -> str:
    """Run one execution; return what is wrong with it, "" when nothing is."""
    start = time.process_time()
    try:
        TARGETS[name][0](random.Random(f"{name} {number}"))
    except BacklineError:
        return ""
    except Exception:  # noqa: BLE001 - whatever fails is what is looked for
        return traceback.format_exc(limit=-5)
    took = time.process_time() - start
    return f"took {took:.1f} s" if took > SLOW else ""


def run_turn(turn: int, done: Counter[str]) -> list[str]:
    """Run each target some times; return what was wrong, named so that it can be repeated."""
    wrong = []
    for name, (_, times) in TARGETS.items():
        for number in range(turn * times, (turn + 1) * times):
            done[name] += 1
            if said := run_once(name, number):
                wrong.append(f"--- --target {name} --only {number}\n{said}")
    return wrong


def read_peak() -> int:
    """Return the most memory that this process ever held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def main() -> int:
    """Fuzz for a time; print each failure with its number."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--seconds", type=float, default=60)
    ask.add_argument("--seed", type=int, default=1, help="number of the first turn")
    ask.add_argument("--target", choices=sorted(TARGETS), default="parser")
    ask.add_argument("--only", type=int)
    asked = ask.parse_args()
    if asked.only is not None:
        print(run_once(asked.target, asked.only) or "nothing is wrong")
        return 0
    done: Counter[str] = Counter()
    end, turn, failures, first = time.monotonic() + asked.seconds, asked.seed, 0, 0
    while time.monotonic() < end:
        for said in run_turn(turn, done):
            failures += 1
            print(said, flush=True)
        turn += 1
        if turn % 100 == 0:
            first = first or read_peak()
            print(
                f"{done.total():,} executions, {failures} failures, peak {read_peak()} MB (first {first} MB)",
                flush=True,
            )
    print(f"{dict(done)}: {done.total():,} executions, {failures} failures, peak {read_peak()} MB")
    return 1 if failures or (first and read_peak() - first > GROWTH) else 0


if __name__ == "__main__":
    sys.exit(main())
