"""The reference scan: standard library only, line by line, `re.search` for each signature.

Slow and plain on purpose. It says what the scan has to find; the benchmark measures how much less
work the scan takes for the same findings.

    python tools/oracle_triage.py BUNDLE.tgz PATTERNS.json
"""

from __future__ import annotations

import gzip
import json
import re
import sys
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path

LINE_BYTES = 65_536
Finding = tuple[str, int, int]  # path in the archive, line, number of the pattern

_LOG = re.compile(r"/var/(?:run/)?log/[^/]+\.(?:log|\d+\.gz)$|/vmware[^/]*\.log$")


def is_log(path: str) -> bool:
    """Say whether a member of a vm-support archive is searched."""
    return bool(_LOG.search(path))


def scan_bundle(bundle: Path, patterns: Sequence[str]) -> Iterator[Finding]:
    """Yield every (path, line, pattern) of a .tgz, nested gz members included."""
    searches = [re.compile(pattern).search for pattern in patterns]
    with tarfile.open(bundle, "r:gz") as archive:
        for member in archive:
            if member.isreg() and is_log(member.name):
                file = archive.extractfile(member)
            else:
                file = None
            if file is None:
                continue
            lines = gzip.open(file) if member.name.endswith(".gz") else file  # noqa: SIM115 - ends with the archive
            for number, raw in enumerate(lines, 1):
                clean = raw.removesuffix(b"\n").translate(None, b"\0")[:LINE_BYTES].rstrip(b"\r")
                line = clean.decode("utf-8", "surrogateescape")
                for index, search in enumerate(searches):
                    if search(line):
                        yield member.name, number, index


def main() -> None:
    """Print the findings of a bundle as JSON."""
    bundle = Path(sys.argv[1])
    patterns = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    json.dump(sorted(scan_bundle(bundle, patterns)), sys.stdout)


if __name__ == "__main__":
    main()
