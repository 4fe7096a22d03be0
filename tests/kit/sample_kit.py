"""The samples of `samples/` for tests: each with its text, cut out as recognition does, and run as the pipeline does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analyzer.artefacts.parsing import Parser, registry
from analyzer.artefacts.tables import Block, Fault, Frame, Row

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "samples"


@dataclass(frozen=True)
class Sample:
    """One sample: its parser's name, the text and what is expected of it."""

    parser: str
    text: Path
    expected: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.parser}/{self.text.stem}"


def _samples() -> list[Sample]:
    found = []
    for path in sorted(SAMPLES.rglob("*.json"), key=lambda path: path.parts[-2:]):
        if SAMPLES / "cases" not in path.parents:
            texts = [p for p in path.parent.glob(path.stem + ".*") if p.suffix != ".json"]
            assert len(texts) == 1, f"{path} needs exactly one text beside it, found {len(texts)}"
            found.append(
                Sample(path.parent.name, texts[0], json.loads(path.read_text(encoding="utf-8")))
            )
    return found


def list_samples(parser: str, pattern: str = "*") -> list[Path]:
    """Return the files of a parser's samples, wherever its product's folder is."""
    return sorted(SAMPLES.rglob(f"{parser}/{pattern}"))


ALL = _samples()


def recognised(parser: Parser, sample: Sample) -> Block:
    """Return the block that recognition cuts out of the sample for this parser."""
    lines = sample.text.read_bytes().decode("utf-8", "surrogateescape").split("\n")
    lines = lines[:-1] if lines[-1] == "" else lines
    lines = [line.removesuffix("\r") for line in lines]
    wanted = sample.expected
    if "path" in wanted:
        logs = {
            *parser.tables[0].inside,
            *parser.tables[0].partly,
        }  # in whose files its lines stand
        takers = [parser, *(one for one in registry().values() if one.tables[0].name in logs)]
        taken = any(one.matches_file(wanted["path"]) for one in takers)
        assert taken, f"{parser.name} does not take {wanted['path']}"
        return Block(lines, address=wanted["path"])
    params: dict[str, str] = {}
    first = 0
    if "command" in wanted:
        found = parser.match_command(wanted["command"])
        assert found, f"{parser.name} does not take the command {wanted['command']!r}"
        params = {name: text for name, text in found.groupdict().items() if text is not None}
    else:
        first = next((n for n, line in enumerate(lines) if parser.starts_at(line)), -1)
        assert first >= 0, f"{parser.name}: no line has its shape"
    end = first + ("command" not in wanted)
    while end < len(lines) and (not lines[end].strip() or parser.goes_on(lines[end])):
        end += 1
    return Block(
        lines[first:end], first + 1, str(sample), command=wanted.get("command", ""), params=params
    )


def run(parser: Parser, block: Block, raw: bytes = b"") -> Iterator[Row | Fault | Frame]:
    """Run a parser as the pipeline does: a block at once, a log line by line, a stream by bytes."""
    if parser.stream is not None:
        yield from parser.stream(
            Block([], address=block.address), iter(raw.splitlines(keepends=True))
        )
    elif parser.log:
        for number, line in enumerate(block.lines, block.first_line):
            if not parser.shape or parser.starts_at(line):
                yield from parser.parse(Block([line], number, block.address, params=block.params))
    else:
        yield from parser.parse(block)
