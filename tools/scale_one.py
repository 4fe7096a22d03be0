"""Single acts inside one process, without the start of a program: writing a case, reading one, asking once.

python tools/scale_one.py ARCHIVE FOLDER     prints milliseconds as JSON; FOLDER takes what is written
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from analyzer.archive.entry import Entry
from analyzer.archive.packs import encode
from analyzer.archive.query import ask, search
from analyzer.archive.restore import recall
from analyzer.archive.store import Archive
from analyzer.pipeline.case_data import (
    CaseData,
    RunResult,
    conclude,
)
from analyzer.pipeline.triage import Options, gather_case
from analyzer.rules import (
    Catalog,
    run_catalog,
)
from analyzer.rules.settings import Settings
from analyzer.runtime.limits import Limits
from tools import case_text
from tools.make_cases import make_case

WRITTEN, READ, ROUNDS, FINDINGS = 12, 40, 5, 500
BOTH = (
    "select count(*) from (select case_id from findings where rule = 'kb-2039495' "
    "intersect select case_id from findings where rule = 'cpu-limit-starves-vm')"
)


def time_act(act: Callable[..., object], arguments: Iterable[tuple[Any, ...]]) -> float:
    """Return the median time of an act with each of some arguments, in milliseconds; the first only warms up."""
    found = []
    for some in arguments:
        start = time.perf_counter()
        act(*some)
        found.append(1000 * (time.perf_counter() - start))
    return statistics.median(found[1:])


def main(archive: Path, folder: Path) -> None:
    """Measure and print."""
    catalog = run_catalog.load(run_catalog.Local(), ())
    opened = Archive.open(archive)
    print(
        json.dumps(
            {
                **time_writing(folder, catalog),
                **time_reading(opened, catalog),
                **time_questions(opened),
            }
        )
    )


def time_writing(folder: Path, catalog: Catalog) -> dict[str, float]:
    """Time packing and storing, of small cases and of one with 500 findings; reading and judging are done before."""
    target = Archive.open(folder / "written", create=True)
    small = []
    for n in range(WRITTEN):
        small.append(judge_case(write_files(folder, f"small-{n}", make_case(n)[1]), catalog))
    large = judge_case(
        write_files(folder, "large", {f"v{n}/v{n}.vmx": make_vmx(n) for n in range(FINDINGS)}),
        catalog,
    )

    def write(number: int, made: tuple[CaseData, RunResult]) -> None:
        entry = Entry(f"{number:032x}", "0" * 16, "0" * 12, "0" * 12, number, "full")
        target.put_pack(entry, encode.encode_case(*made, meta={"id": entry.id}, kind="full"))

    found = len(large[1].document.findings)
    return {
        "write a small case": time_act(write, enumerate(small)),
        f"write a case of {found} findings": time_act(
            write, [(100 + n, large) for n in range(ROUNDS)]
        ),
    }


def make_vmx(number: int) -> str:
    return case_text.vmx_file(
        f"v{number}",
        "debian10-64",
        2,
        [("e1000", "VM Network", f"00:50:56:a6:00:{number % 256:02x}")],
    )


def write_files(folder: Path, name: str, files: dict[str, Any]) -> Path:
    target = folder / name
    for file, body in files.items():
        path = target / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body.encode() if isinstance(body, str) else body)
    return target


def judge_case(path: Path, catalog: Catalog) -> tuple[CaseData, RunResult]:
    material = gather_case([path], catalog.signatures(), Options())
    return material, conclude(material, catalog, Settings(), Limits())


def time_reading(opened: Archive, catalog: Catalog) -> dict[str, float]:
    """Time reading single cases: the document, and all facts as they were."""
    cases = [one for one in opened.take_snapshot().list_visible_cases() if one.facts is not None]
    some = random.Random(1).sample(cases, min(READ, len(cases)))
    signatures = catalog.signatures()
    return {
        "read a case's document": time_act(opened.document_text, [(one,) for one in some]),
        "read all facts of a case": time_act(
            recall.recall_case, [(opened, one, signatures) for one in some[:12]]
        ),
    }


def time_questions(opened: Archive) -> dict[str, float]:
    """Time questions when the snapshot is known."""
    snapshot = opened.take_snapshot()

    def both() -> None:
        list(ask.run_sql(opened, BOTH, snapshot).rows)

    def text() -> None:
        list(search.find_texts(opened, "Malicious Driver", search.Filter("", None)).rows)

    return {
        "snapshot": time_act(opened.take_snapshot, [()] * ROUNDS),
        "cases with rule A and rule B": time_act(both, [()] * ROUNDS),
        "text search": time_act(text, [()] * ROUNDS),
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
