"""Run the guides, docs/rule-guide.md and docs/archive.md, and the tutorials: write their files, run their commands, put the output below.

    python tools/guide.py           writes the output into the pages
    python tools/guide.py --check   exits with 1 when a page says otherwise

In the page a block marked `yaml file=PATH` (or toml, csv, log) is a file of the walk; a `console` block holds commands
behind `$ ` and what they print on stdout. `| head -N` and `| tail -N` are understood, nothing else of a
shell is. Commands run in a folder of their own with the sample cases next to.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "rule-guide.md"
ARCHIVE = ROOT / "docs" / "archive.md"
TUTORIALS = [ROOT / "docs" / f"tutorial-{name}.md" for name in ("triage", "archive", "rule")]
_BLOCK = re.compile(r"^```(yaml|toml|csv|log|console)(?: file=(\S+))?\n(.*?)^```$", re.M | re.S)
_CUT = re.compile(r"^(.*?)(?: \| (head|tail) -(\d+))?$")
WIDTH = "110"


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of the page: its kind, the file it is (or ""), its text and where that stands."""

    kind: str
    file: str
    text: str
    start: int
    end: int


def find_blocks(page: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page."""
    for found in _BLOCK.finditer(page):
        yield Block(found[1], found[2] or "", found[3], found.start(3), found.end(3))


def copy_cases(folder: Path) -> None:
    """Put the sample cases into the folder of the walk."""
    shutil.copytree(ROOT / "samples" / "cases", folder / "samples" / "cases")


def run_command(command: str, folder: Path) -> str:
    """Return what a command of the page prints on stdout; a status that means a crash is an error."""
    found = _CUT.match(command)
    assert found is not None
    words = shlex.split(found[1])
    if words[0] != "backline":
        raise SystemExit(f"the page runs something else than backline: {command}")
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "COLUMNS": WIDTH,
        "TERM": "dumb",
        "NO_COLOR": "1",
    }
    done = subprocess.run(
        [sys.executable, "-m", "analyzer", *words[1:]], cwd=folder, capture_output=True, text=True, env=environment,
        check=False, timeout=120,
    )  # fmt: skip
    if done.returncode not in (0, 1, 5):  # 5: a case of the samples is cut
        raise SystemExit(f"{command}\nends with {done.returncode}: {done.stdout}{done.stderr}")
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    if found[2]:
        count = int(found[3])
        if found[2] == "head":
            lines = lines[:count]
        else:
            lines = lines[-count:]
    return "".join(f"{line}\n" for line in lines)


def play_page(page: str, folder: Path, do: Callable[[str, Path], str] | None = None) -> str:
    """Return the page with what its commands print now, run by `do`; files of the walk are written on the way."""
    out, at = [], 0
    for block in find_blocks(page):
        out.append(page[at : block.start])
        at = block.end
        if block.file:
            target = folder / block.file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, encoding="utf-8")
        if block.kind != "console":
            out.append(block.text)
            continue
        for line in block.text.splitlines():
            if line.startswith("$ "):
                out.append(f"{line}\n{(do or run_command)(line[2:], folder)}")
    return "".join(out) + page[at:]


def main() -> int:
    """Write or check the pages; returns the exit code."""
    stale = False
    for path in (PAGE, ARCHIVE, *TUTORIALS):
        page = path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as name:
            copy_cases(Path(name))
            fresh = play_page(page, Path(name))
        if "--check" not in sys.argv:
            path.write_text(fresh, encoding="utf-8")
        elif fresh != page:
            print(
                f"docs/{path.name} does not say what the commands print; run python tools/guide.py"
            )
            stale = True
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
