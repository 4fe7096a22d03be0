"""Write what a sample gives next to its text, to be read and corrected before it is committed.

    python tools/sample.py samples/…/STEM/NAME.txt --about "what it stands for" [--command LINE | --path MEMBER] [--twin OTHER]

The rows are those that the parser STEM reads now: every cell has to be checked against the text by eye. A sample that
was there keeps its `about`, command and path.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from analyzer.artefacts.parsing import Parser, registry
from analyzer.artefacts.tables import Block, Fault


def read_sample(parser: Parser, lines: list[str], wanted: dict[str, Any]) -> dict[str, Any]:
    """Return what a sample's JSON holds: `wanted` (about, command or path) and the rows, lines and faults."""
    command = wanted.get("command", "")
    path = wanted.get("path", "")
    match = parser.match_command(command) if command else None
    if match:
        params = {name: text for name, text in match.groupdict().items() if text is not None}
    else:
        params = {}
    rows: dict[str, list[dict[str, Any]]] = {}
    places: dict[str, list[int]] = {}
    faults = []
    for item in parser.parse(Block(lines, address=path, command=command, params=params)):
        if isinstance(item, Fault):
            faults.append(item.line)
            continue
        cells = {name: cell for name, cell in item.values.items() if cell is not None}
        rows.setdefault(item.table.name, []).append(cells)
        places.setdefault(item.table.name, []).append(item.line)
    return {**wanted, "rows": rows, "lines": places, "faults": faults}


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the expected rows of a sample, for review.")
    parser.add_argument("text", type=Path)
    for option in ("about", "command", "path", "twin"):
        parser.add_argument(f"--{option}", default="")
    options = parser.parse_args()
    beside = options.text.with_suffix(".json")
    if beside.exists():
        known = json.loads(beside.read_text(encoding="utf-8"))
    else:
        known = {}
    given = {}
    for name in ("about", "command", "path", "twin"):
        given[name] = getattr(options, name) or known.get(name, "")
    wanted = {name: text for name, text in given.items() if text}
    if "about" not in wanted:
        parser.error("a new sample says what it stands for: --about")
    lines = options.text.read_bytes().decode("utf-8", "surrogateescape").splitlines()
    found = read_sample(registry()[options.text.parent.name], lines, wanted)
    beside.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(
        f"{beside}: {sum(map(len, found['rows'].values()))} rows, faults in lines {found['faults']}; check each cell"
    )


if __name__ == "__main__":
    main()
