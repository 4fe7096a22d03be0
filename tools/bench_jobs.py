"""The jobs of the benchmark, each run in a process of its own: `python -m tools.bench_jobs NAME ...`."""

from __future__ import annotations

import gzip
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tools.bundle_logs import make_patterns
from tools.oracle_triage import Finding, is_log

BLOCK = 1 << 20


def describe_machine() -> str:
    """Return one line that names the machine and the engines."""
    found = [name for name in ("isal", "hyperscan") if is_importable(name)]
    return (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"{' and '.join(found) or 'no compiled wheels'}"
    )


def inflate(path: str, nested: str = "") -> str:
    """Yardsticks Y1 and Y2: inflate a bundle (and the gzip members within) to nowhere."""
    paths = [path] + ([str(Path(path).with_suffix(".nested.gz"))] if nested else [])
    if shutil.which("igzip"):
        for one in paths:
            subprocess.run(["igzip", "-dc", one], stdout=subprocess.DEVNULL, check=True)
        return "igzip"
    opened: Any = gzip.open
    if is_importable("isal"):
        from isal import igzip  # noqa: PLC0415

        opened = igzip.open
    buffer = bytearray(BLOCK)
    total = 0
    for one in paths:
        with opened(one) as file:
            while size := file.readinto(buffer):
                total += size
    return str(total)


def scan_logs(path: str, count: str, how: str = "") -> str:
    """Walk a bundle and search its logs, without parsers."""
    if how == "bare":
        for name in ("isal", "hyperscan", "re2"):
            sys.modules[name] = None  # type: ignore[assignment]
    from analyzer.runtime.limits import Limits  # noqa: PLC0415
    from analyzer.scan import hits, signatures  # noqa: PLC0415
    from analyzer.sources import Ledger, walk  # noqa: PLC0415

    wanted = []
    for n, pattern in enumerate(make_patterns(int(count))):
        wanted.append(hits.Signature(str(n), "log", pattern))
    if how == "storm":
        wanted.append(hits.Signature("storm", "log", "20[0-9][0-9]-"))
    scanner = signatures.Scanner(wanted)
    limits = Limits()
    found: list[Finding] = []
    for member in walk([Path(path)], limits, Ledger()):
        if is_log("/" + member.path) or member.path.endswith("zeros.log"):
            for hit in scanner.scan(member, "log").hits:
                if hit.signature != "storm":
                    found.append((member.path, hit.line, int(hit.signature)))
        else:
            for _ in member.chunks():
                pass
    return describe_findings(found)


def scan_plainly(path: str, count: str) -> str:
    """Do the same with the standard library, line by line."""
    from tools.oracle_triage import scan_bundle as slow  # noqa: PLC0415

    return describe_findings(slow(Path(path), make_patterns(int(count))))


def read_esxtop(path: str) -> str:
    """Read an esxtop CSV with the parser."""
    from analyzer.artefacts.parsing import registry  # noqa: PLC0415
    from analyzer.artefacts.tables import Block, Frame  # noqa: PLC0415

    parser = next(
        (one for one in registry().values() if one.name.startswith("esxtop_csv") and one.stream),
        None,
    )
    if parser is None or parser.stream is None:
        raise SystemExit("there is no parser of the esxtop CSV yet")
    cells = 0
    with Path(path).open("rb") as file:
        for item in parser.stream(Block([]), iter(lambda: file.read(BLOCK), b""), None):
            if isinstance(item, Frame):
                cells += sum(map(len, item.columns.values()))
    return f"{cells:,} cells"


def read_with_pandas(path: str) -> str:
    """Read an esxtop CSV with pandas.read_csv."""
    import pandas as pd  # noqa: PLC0415

    return str(pd.read_csv(path).shape)


def write_nested(bundle: Path, target: Path) -> None:
    """Write all gzip members of a bundle one after the other, so that they can be inflated alone."""
    with tarfile.open(bundle, "r:gz") as archive, target.open("wb") as out:
        for member in archive:
            if (
                member.isreg()
                and member.name.endswith(".gz")
                and (file := archive.extractfile(member))
            ):
                shutil.copyfileobj(file, out, BLOCK)


def write_zeros(path: Path, size: int) -> None:
    """Write a .tgz that holds one log of zeros."""
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    info = tarfile.TarInfo("esx-zeros-2021-03-08--14.49-1/var/run/log/zeros.log")
    info.size = size
    with path.open("wb") as out:
        out.write(packer.compress(info.tobuf()))
        block = bytes(BLOCK)
        for at in range(0, size + 2048, BLOCK):
            out.write(packer.compress(block[: min(BLOCK, size + 2048 - at)]))
        out.write(packer.flush())


def describe_findings(found: Iterable[Finding]) -> str:
    """Return the number of findings and a hash of them."""
    listed = sorted(found)
    return f"{len(listed)} findings {hashlib.sha256(repr(listed).encode()).hexdigest()[:16]}"


def is_importable(name: str) -> bool:
    try:
        __import__(name)
    except ImportError:
        return False
    return True


JOBS: dict[str, Callable[..., str]] = {
    "inflate": inflate, "scan": scan_logs, "reference": scan_plainly, "esxtop": read_esxtop, "pandas": read_with_pandas,
}  # fmt: skip

if __name__ == "__main__":
    print(JOBS[sys.argv[1]](*sys.argv[2:]))
