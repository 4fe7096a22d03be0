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
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools import case_text  # noqa: E402 - found through the line above
from tools.make_cases import case  # noqa: E402 - the same

if TYPE_CHECKING:
    from analyzer.archive.store import Archive
    from analyzer.pipeline.case_data import CaseData, RunResult
    from analyzer.rules import Catalog

WRITTEN, READ, ROUNDS, FINDINGS = 12, 40, 5, 500
BOTH = (
    "select count(*) from (select case_id from findings where rule = 'kb-2039495' "
    "intersect select case_id from findings where rule = 'cpu-limit-starves-vm')"
)


def milliseconds(act: Callable[..., object], arguments: Iterable[tuple[Any, ...]]) -> float:
    """Return the median time of an act with each of some arguments, in milliseconds; the first only warms up."""
    found = []
    for some in arguments:
        start = time.perf_counter()
        act(*some)
        found.append(1000 * (time.perf_counter() - start))
    return statistics.median(found[1:])


def main(archive: Path, folder: Path) -> None:
    """Measure and print."""
    from analyzer.archive.store import Archive  # noqa: PLC0415 - heavy
    from analyzer.rules import run_catalog  # noqa: PLC0415 - heavy

    catalog = run_catalog.load_run_catalog(run_catalog.Local(), ())
    opened = Archive.open(archive)
    print(json.dumps({**_writing(folder, catalog), **_reading(opened, catalog), **_asking(opened)}))


def _writing(folder: Path, catalog: Catalog) -> dict[str, float]:
    """Time packing and storing, of small cases and of one with 500 findings; reading and judging are done before."""
    from analyzer.archive.entry import Entry  # noqa: PLC0415 - heavy
    from analyzer.archive.packs import encode  # noqa: PLC0415 - heavy
    from analyzer.archive.store import Archive  # noqa: PLC0415 - heavy

    target = Archive.open(folder / "written", create=True)
    small = [_judged(_folder(folder, f"small-{n}", case(n)[1]), catalog) for n in range(WRITTEN)]
    large = _judged(
        _folder(folder, "large", {f"v{n}/v{n}.vmx": _emulated(n) for n in range(FINDINGS)}), catalog
    )

    def write(number: int, made: tuple[CaseData, RunResult]) -> None:
        entry = Entry(f"{number:032x}", "0" * 16, "0" * 12, "0" * 12, number, "full")
        target.put(entry, encode.pack(*made, meta={"id": entry.id}, kind="full"))

    found = len(large[1].document["findings"])
    return {
        "write a small case": milliseconds(write, enumerate(small)),
        f"write a case of {found} findings": milliseconds(
            write, [(100 + n, large) for n in range(ROUNDS)]
        ),
    }


def _emulated(number: int) -> str:
    return case_text.vmx(
        f"v{number}",
        "debian10-64",
        2,
        [("e1000", "VM Network", f"00:50:56:a6:00:{number % 256:02x}")],
    )


def _folder(folder: Path, name: str, files: dict[str, Any]) -> Path:
    target = folder / name
    for file, body in files.items():
        path = target / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body.encode() if isinstance(body, str) else body)
    return target


def _judged(path: Path, catalog: Catalog) -> tuple[CaseData, RunResult]:
    from analyzer.pipeline.case_data import conclude  # noqa: PLC0415 - heavy
    from analyzer.pipeline.triage import Options, gathered  # noqa: PLC0415 - heavy
    from analyzer.rules.settings import Settings  # noqa: PLC0415 - heavy
    from analyzer.runtime.limits import Limits  # noqa: PLC0415 - heavy

    material = gathered([path], catalog.signatures(), Options())
    return material, conclude(material, catalog, Settings(), Limits())


def _reading(opened: Archive, catalog: Catalog) -> dict[str, float]:
    """Time reading single cases: the document, and all facts as they were."""
    from analyzer.archive.restore import recall  # noqa: PLC0415 - heavy

    cases = [one for one in opened.snapshot().current() if one.facts is not None]
    some = random.Random(1).sample(cases, min(READ, len(cases)))
    signatures = catalog.signatures()
    return {
        "read a case's document": milliseconds(opened.document_text, [(one,) for one in some]),
        "read all facts of a case": milliseconds(
            recall.material, [(opened, one, signatures) for one in some[:12]]
        ),
    }


def _asking(opened: Archive) -> dict[str, float]:
    """Time questions when the snapshot is known."""
    from analyzer.archive.query import ask, search  # noqa: PLC0415 - heavy

    snapshot = opened.snapshot()

    def both() -> None:
        list(ask.sql(opened, BOTH, snapshot).rows)

    def text() -> None:
        list(search.texts(opened, "Malicious Driver", search.Filter("", None)).rows)

    return {
        "snapshot": milliseconds(opened.snapshot, [()] * ROUNDS),
        "cases with rule A and rule B": milliseconds(both, [()] * ROUNDS),
        "text search": milliseconds(text, [()] * ROUNDS),
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
