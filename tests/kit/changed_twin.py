"""Changed twins of the sample cases: the same machines two days later, some of them under another name or address."""

from __future__ import annotations

import io
import re
import tarfile
from pathlib import Path

from tools.case_pack import tgz

# What the makers of the samples (tools/case_*.py, tools/make_case.py) call things, and what the twin calls them.
OTHERS = {
    "2017-10-14": "2017-10-16", "iperf-test1": "acme-recv71", "iperf-test2": "acme-send72", "lin-app07": "lin-crm17",
    "lin-db,02 (prod)": "lin-dw,12 (prod)", "win-file01": "win-share11", "lin-web01": "lin-shop21", "lin-erp02": "lin-hr32",
    "old-print01": "old-scan41", "esx51": "esx59", "a6:70:01": "a6:7f:31", "aa:10:02": "ab:17:22", "aa:30:01": "ab:37:31",
    "192.0.2.31": "192.0.2.91", "192.0.2.15": "192.0.2.95", "c23100001": "c23100009", "0000a107": "0000b217",
    "esx42.lab.example": "esx49.lab.example", "0007-002590aa7001": "0017-002590ab7011",
}  # fmt: skip
_COUNTED = re.compile(rb"(?m)(?<=[:=])([ \t]*)(\d{3,15})$")


def changed(raw: bytes) -> bytes:
    """Return a text with other names and addresses, and with all numbers at the end of `name: number` a tenth larger."""
    for name, other in OTHERS.items():
        raw = raw.replace(name.encode(), other.encode())
    return _COUNTED.sub(lambda one: one[1] + str(int(one[2]) * 11 // 10).encode(), raw)


def write_twin(case: Path, folder: Path) -> Path:
    """Write the twin of a sample case, without its README; return its folder."""
    folder.mkdir(parents=True)
    for path in sorted(case.iterdir()):
        raw = path.read_bytes()
        if path.suffix == ".tgz":
            with tarfile.open(fileobj=io.BytesIO(raw)) as tar:
                members = {
                    changed(one.name.encode()).decode(): changed(tar.extractfile(one).read())  # type: ignore[union-attr]
                    for one in tar
                    if one.isfile()
                }
            raw = tgz(members)
        if path.name != "README.md":
            (folder / changed(path.name.encode()).decode()).write_bytes(
                raw if path.suffix == ".tgz" else changed(raw)
            )
    return folder


_TOLD = (
    r"(?i)(?<![\w:])(?:[0-9a-f]{2}:){5}[0-9a-f]{2}(?![\w:])", r"naa\.[0-9a-f]{16,32}", r"192\.0\.2\.\d+",
    r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{12}",
)  # fmt: skip


def told(folder: Path, most: int = 12) -> list[str]:
    """Return addresses and ids that stand in the files of a case, some of each form: found here by their form alone."""
    texts = []
    for path in sorted(folder.iterdir()):
        raw = path.read_bytes()
        if path.suffix == ".tgz":
            with tarfile.open(fileobj=io.BytesIO(raw)) as tar:
                texts += [tar.extractfile(one).read() for one in tar if one.isfile()]  # type: ignore[union-attr]
        else:
            texts.append(raw)
    text = b"\n".join(texts).decode("utf-8", errors="replace")
    return [one for form in _TOLD for one in sorted({*re.findall(form, text)})[:most]]
