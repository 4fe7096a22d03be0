"""Mutated members inside sound bundles, for rounds of `tests.kit.fuzz_ways`.

Each round takes a sample case (and texts of the parsers' samples), changes some of its members in ways in
which real material is odd, and packs it again. A round is named by one number.
"""

from __future__ import annotations

import gzip
import io
import random
import re
import tarfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "samples" / "cases"
Material = dict[
    str, bytes
]  # path in the case -> content; a path below NAME.tgz! lies in that archive
Mutation = Callable[[random.Random, list[bytes]], list[bytes]]

_YEARS = (b"0000", b"0001", b"1969", b"1970", b"2038", b"2101", b"9999")
_YEAR = re.compile(rb"(?<!\d)20[012]\d(?=-[01]\d-[0-3]\d| [0-2]\d:)|(?<=/)20[012]\d(?= )")
_NUMBER = re.compile(rb"\d+(?:\.\d+)?")
_WORDS = (
    b"", b"-", b"--", b"N/A", b"null", b"nan", b"inf", b"-1", b"0", b"00", b"0x", b"0x00001389", b"1e999", b"18446744073709551616", b"9" * 40,
    b"XX:XX:XX:XX:XX:XX", b"Pseudo", b"..", b"...", b'"', b'";"', b"'", b"\xff\xfe", b"\xc3", b"=1+1", b"<b>", b"{", b"}", b"[", b"]", b"\x1b[31m",
    "\u202e".encode(), "ﬁ＝".encode(), b"%s", b"{0}", b"\\", b"None", b"True", b"1,5", b"1.234,5", b"12:00", b"(null)",
)  # fmt: skip
_LINES = (
    b"", b"..", b"   ", b"----------  ------", b"[root@esx99:~] ", b"~ # esxcli network nic list", b"nsx-controller # show control-cluster status", b"}",
    b"<a><b>", b"--> ", b"message repeated 4 times: [ x ]", b"\x00" * 600, b"A" * 70_000, b'"x;y";"z"', b"2017-10-14T16:41:02.120Z",
)  # fmt: skip


def _line(dice: random.Random, lines: list[bytes]) -> int:
    return dice.randrange(len(lines)) if lines else 0


def drop(dice: random.Random, lines: list[bytes]) -> list[bytes]:
    """Lose a line or a stretch."""
    at = _line(dice, lines)
    return lines[:at] + lines[at + dice.choice((1, 1, 1, 5, 40)) :]


def twice(dice: random.Random, lines: list[bytes]) -> list[bytes]:
    """Repeat a stretch."""
    at = _line(dice, lines)
    return lines[:at] + lines[at : at + dice.choice((1, 2, 10))] * dice.choice((2, 3)) + lines[at:]


def swap(dice: random.Random, lines: list[bytes]) -> list[bytes]:
    """Put two lines into each other's place."""
    found = list(lines)
    if found:
        a, b = _line(dice, lines), _line(dice, lines)
        found[a], found[b] = found[b], found[a]
    return found


def strange(dice: random.Random, lines: list[bytes]) -> list[bytes]:
    """Put a line in that belongs to nothing."""
    at = _line(dice, lines)
    return [*lines[:at], dice.choice(_LINES), *lines[at:]]


def word(dice: random.Random, lines: list[bytes]) -> list[bytes]:
    """Put something else in the place of one word or number of a line."""
    found = list(lines)
    if found:
        at = _line(dice, lines)
        pieces = re.split(rb"(\s+|,|;|:|=)", found[at])
        pieces[dice.randrange(len(pieces))] = dice.choice(_WORDS)
        found[at] = b"".join(pieces)
    return found


def number(dice: random.Random, lines: list[bytes]) -> list[bytes]:
    """Put something else in the place of one number of a line."""
    found = list(lines)
    at = _line(dice, lines)
    numbers = list(_NUMBER.finditer(found[at])) if found else []
    if numbers:
        one = dice.choice(numbers)
        found[at] = found[at][: one.start()] + dice.choice(_WORDS) + found[at][one.end() :]
    return found


def column(dice: random.Random, lines: list[bytes]) -> list[bytes]:
    """Shift all that stands behind a place of some lines, as a wider cell does."""
    at, where = _line(dice, lines), dice.randrange(60)
    return [
        line[:where] + b"    " + line[where:] if at <= n < at + 20 else line
        for n, line in enumerate(lines)
    ]


def cut(dice: random.Random, lines: list[bytes]) -> list[bytes]:
    """End in the midst of a line."""
    at = _line(dice, lines)
    return [*lines[:at], lines[at][: dice.randrange(len(lines[at]) + 1)]] if lines else []


def flip(dice: random.Random, lines: list[bytes]) -> list[bytes]:
    """Change one bit."""
    raw = bytearray(b"\n".join(lines))
    if raw:
        raw[dice.randrange(len(raw))] ^= 1 << dice.randrange(8)
    return bytes(raw).split(b"\n")


def ends(_: random.Random, lines: list[bytes]) -> list[bytes]:
    """End lines as Windows does."""
    return [line + b"\r" for line in lines]


def wide(_: random.Random, lines: list[bytes]) -> list[bytes]:
    """Write it as PowerShell does, in UTF-16."""
    return [b"\n".join(lines).decode("utf-8", "replace").encode("utf-16")]


def age(dice: random.Random, lines: list[bytes]) -> list[bytes]:
    """Set the clock of some lines, or of all, to another age."""
    said, at = dice.choice(_YEARS), _line(dice, lines)
    end = len(lines) if dice.random() < 0.5 else at + 1
    return [
        _YEAR.sub(said, line) if at <= place < end else line for place, line in enumerate(lines)
    ]


def spreadsheet(_: random.Random, lines: list[bytes]) -> list[bytes]:
    """Write it as a spreadsheet does: semicolons, quotes, decimal commas."""
    return [line.replace(b'","', b'";"').replace(b".", b",") for line in lines]


MUTATIONS: tuple[Mutation, ...] = (
    drop, drop, twice, swap, strange, strange, word, word, word, number, number, number, column, cut, flip, flip, ends, wide, age, spreadsheet,
)  # fmt: skip


@cache
def sound(name: str) -> Material:
    """Return the members of a sample case, those of its archives one by one."""
    found: Material = {}
    for path in sorted((CASES / name).iterdir()):
        if path.suffix != ".tgz":
            found[path.name] = path.read_bytes()
            continue
        try:
            with tarfile.open(path) as tar:
                for member in tar:
                    if member.isfile():
                        found[f"{path.name}!{member.name}"] = tar.extractfile(member).read()  # type: ignore[union-attr]
        except (tarfile.TarError, EOFError):
            found[path.name] = path.read_bytes()
    return found


@cache
def texts() -> list[tuple[str, bytes]]:
    """Return the sample texts of all parsers: artefacts that the sample cases may not hold."""
    found = []
    for path in sorted((ROOT / "samples").rglob("*")):
        if CASES not in path.parents and path.suffix in (".txt", ".csv", ".log", ".xml"):
            found.append((path.name, path.read_bytes()))
    return found


def choose_case(seed: int) -> str:
    """Return the name of the sample case that a round takes."""
    return random.Random(seed).choice(
        sorted(path.name for path in CASES.iterdir() if path.is_dir())
    )


def mutated(seed: int) -> Material:
    """Return a case with some members changed; the same for the same seed."""
    dice = random.Random(seed + 1)
    found = dict(sound(choose_case(seed)))
    for n in range(dice.choice((0, 1, 2, 4))):
        name, text = dice.choice(texts())
        found[f"loose-{n}-{name}"] = text
    names = sorted(found)
    for name in dice.sample(names, min(len(names), dice.choice((1, 2, 5, 12)))):
        for _ in range(dice.choice((1, 1, 2, 3))):
            raw = found[name]
            packed = raw.startswith(b"\x1f\x8b")
            try:
                plain = gzip.decompress(raw) if packed else raw
            except (OSError, EOFError):
                continue
            changed = b"\n".join(dice.choice(MUTATIONS)(dice, plain.split(b"\n")))
            found[name] = gzip.compress(changed, 1, mtime=1) if packed else changed
    return found


def written(material: Material, folder: Path) -> Path:
    """Write a case as it would arrive: archives packed, loose files beside them."""
    archives: dict[str, Material] = {}
    for name, raw in material.items():
        outer, _, member = name.partition("!")
        if member:
            archives.setdefault(outer, {})[member] = raw
        else:
            (folder / name).write_bytes(raw)
    for outer, members in archives.items():
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as tar:
            for member, raw in members.items():
                info = tarfile.TarInfo(member)
                info.size = len(raw)
                tar.addfile(info, io.BytesIO(raw))
        (folder / outer).write_bytes(gzip.compress(packed.getvalue(), 1, mtime=1))
    return folder
