"""Count the functions that a value passes from the drop-in to the report: what a newcomer has to read to follow it.

python tools/passage.py            a ring counter of a vmxnet3 port, and a line of vmkernel.log
python tools/passage.py --list     the functions as well, in the order in which the value first came by

A case of one file is triaged with `backline triage`. The value is one that nothing else in the case holds. A function of
the product counts when one of its arguments or its result holds the value: itself, inside of a text, or inside of a
list, a mapping or a record, a few levels deep. Functions of libraries, and lambdas and comprehensions, do not count.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from click.testing import CliRunner  # noqa: E402 - after the path above

from analyzer.cli import main as backline  # noqa: E402 - the same

SOUGHT = "83746251"
DEPTH, WIDTH = 2, 60  # how deep and how far into a value is looked
PRODUCT = (str(ROOT / "analyzer"), str(ROOT / "parsers"))

RING_COUNTER = f"""\
[root@esx01:~] vsish -e get /net/portsets/vSwitch0/ports/50331660/vmxnet3/rxSummary
stats of a vmxnet3 vNIC rx queue {{
   LRO pkts rx ok:1200
   LRO bytes rx ok:360000
   pkts rx ok:90000000
   bytes rx ok:64000000000
   unicast pkts rx ok:90000000
   unicast bytes rx ok:64000000000
   multicast pkts rx ok:0
   multicast bytes rx ok:0
   broadcast pkts rx ok:0
   broadcast bytes rx ok:0
   running out of buffers:{SOUGHT}
   pkts receive error:0
   1st ring size:256
   2nd ring size:256
   # of times the 1st ring is full:{SOUGHT}
   # of times the 2nd ring is full:0
   fail to map a rx buffer:0
   request to page in a buffer:0
   # of times rx queue is stopped:0
   failed when copying into the guest buffer:0
   # of pkts dropped due to large hdrs:0
   # of pkts dropped due to max number of SG limits:0
   pkts rx via data ring ok:0
   bytes rx via data ring ok:0
   Whether rx burst queuing is enabled:0
   current backend burst queue length:0
   maximum backend burst queue length so far:0
   aggregate number of times packets are requeued:0
   aggregate number of times packets are dropped by PktAgingList:0
   # of pkts dropped due to large inner (encap) hdrs:0
   number of times packets are dropped by burst queue:0
}}
"""
LOG_LINE = (
    "2026-03-01T10:00:00.000Z cpu3:33422)WARNING: ScsiDeviceIO: 1223: Device naa.600508b4000971fa "
    "performance has deteriorated. I/O latency increased from average value of 1832 microseconds "
    f"to {SOUGHT} microseconds.\n"
)
MATERIAL = {
    "a ring counter": ("rx_summary.txt", RING_COUNTER),
    "a log line": ("vmkernel.log", LOG_LINE),
}


class Passage:
    """The functions of the product that a value came by while a case was triaged."""

    def __init__(self) -> None:
        self.codes: dict[CodeType, None] = {}

    @property
    def files(self) -> set[str]:
        """The files of these functions."""
        return {code.co_filename for code in self.codes}

    def watch_call(self, frame: FrameType, event: str, result: Any) -> None:
        """Note the function of a frame when the value is among its arguments or in its result."""
        code = frame.f_code
        if code in self.codes or code.co_name.startswith("<"):
            return
        if not code.co_filename.startswith(PRODUCT):
            return
        if event == "call":
            values: Iterable[Any] = list(frame.f_locals.values())
        elif event == "return":
            values = [result]
        else:
            return
        if any(holds_value(value, DEPTH) for value in values):
            self.codes[code] = None


def holds_value(value: Any, depth: int) -> bool:
    """Say whether the sought value is in this one, at most `depth` levels below it."""
    if isinstance(value, int):
        return str(value) == SOUGHT
    if isinstance(value, str):
        return SOUGHT in value
    if isinstance(value, bytes):
        return SOUGHT.encode() in value
    if depth == 0:
        return False
    return any(holds_value(part, depth - 1) for part in list_parts(value))


def list_parts(value: Any) -> list[Any]:
    """Return the first parts of a list, a tuple, a mapping or a record; nothing of what is only read once."""
    if isinstance(value, dict):
        return list(value.values())[:WIDTH]
    if isinstance(value, list | tuple | set | frozenset):
        return list(value)[:WIDTH]
    names = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    parts = [getattr(value, name, None) for name in names if isinstance(name, str)]
    own = getattr(value, "__dict__", None)
    if isinstance(own, dict) and not isinstance(value, type):
        parts.extend(own.values())
    return parts[:WIDTH]


def follow_value(name: str, text: str) -> Passage:
    """Triage a case of one file, and return what functions the value in it came by."""
    passage = Passage()
    with tempfile.TemporaryDirectory() as folder:
        case = Path(folder, "case")
        case.mkdir()
        (case / name).write_text(text, encoding="utf-8")
        words = ["triage", str(case), "-o", str(Path(folder, "out")), "--quiet"]
        CliRunner().invoke(backline, words)  # rules and parsers are read and kept
        sys.setprofile(passage.watch_call)
        try:
            done = CliRunner().invoke(backline, words, catch_exceptions=False)
        finally:
            sys.setprofile(None)
        report = Path(folder, "out", "report.html").read_text(encoding="utf-8")
    if done.exit_code != 0 or SOUGHT not in report.replace(",", ""):
        raise SystemExit(f"{name}: the value is not in the report")
    return passage


def main() -> None:
    """Print the numbers of functions and files, and with --list the functions."""
    parser = argparse.ArgumentParser(description="Count the functions that a value passes.")
    parser.add_argument("--list", action="store_true", help="print the functions as well")
    options = parser.parse_args()
    for what, (name, text) in MATERIAL.items():
        passage = follow_value(name, text)
        print(f"{what}: {len(passage.codes)} functions in {len(passage.files)} files")
        if options.list:
            for code in passage.codes:
                place = Path(code.co_filename).relative_to(ROOT)
                print(f"  {place}:{code.co_firstlineno} {code.co_qualname}")


if __name__ == "__main__":
    main()
