"""Whether a file no parser knows looks like support material: a log, a table or an archive.

A mail or a README next to a bundle is no loss. A log, a table or an archive that is not read is one, and
the case is not complete then.
"""

from __future__ import annotations

import re

from analyzer.sources import codecs, sniff
from analyzer.sources.not_material import is_plain_json

_ARCHIVE_NAME = re.compile(
    r"\.(?:tgz|tbz2?|txz|tzst|tar|gz|bz2|xz|zst|zip|7z|rar|cab|lz4|lz|lzma|lzo|z|vgz|zdump)(?:\.\d+|\.part)?$",
    re.IGNORECASE,
)
_LOG_NAME = re.compile(
    r"\.log(?:[.-]\d[\d.-]*)?(?:\.\w{1,4})?$|(?:^|/)(?:messages|syslog)(?:\.\d+)?(?:\.\w{1,4})?$",
    re.IGNORECASE,
)
_TABLE_NAME = re.compile(
    r"\.(?:csv|tsv|json|xml|xlsx?|parquet|sqlite|db|pcap(?:ng)?|vmdk|vmss|vmsn)$", re.IGNORECASE
)
_ARCHIVES = (
    b"7z\xbc\xaf\x27\x1c", b"Rar!", b"\x04\x22\x4d\x18", b"LZIP", b"\x89LZO", b"]\0\0\x80\0", b"\x1f\x9d", b"MSCF",
)  # fmt: skip
# Near the start of a line: a date with a time, a time with seconds, or seconds since the boot in brackets.
_STAMP = re.compile(
    rb".{0,40}?(?:\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\d\d[-/.]\d\d[-/.]\d{2,4} \d\d:\d\d"
    rb"|\b\d\d:\d\d:\d\d\b|\[ *\d+\.\d{6}\])",
    re.DOTALL,
)
_IN_STAMPS = (
    re.compile(rb"\d\d:\d\d"),
    re.compile(rb"\[ *\d+\.\d{6}\]"),
)  # one of these is in every stamp
_RULED = re.compile(
    rb"^[-=]{2,}(?:[ +]+[-=]{2,})+\s*$"
)  # the line under the heads of a printed table
_XML_OR_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml|[\[{]\s*(?:$|[\[{\"]))")
_LINES = 50
_MOSTLY = 4 << 10  # bytes that hold as many lines in most texts
_ENOUGH = 3  # lines that have to look alike


def find_likeness(path: str, head: bytes) -> str:
    """Return "archive", "log" or "table", or "" for what looks like none of them.

    head  the first bytes, compression undone
    """
    if (
        head.startswith(_ARCHIVES)
        or codecs.kind_of(head)
        or sniff.is_zip(head)
        or sniff.is_tar(head)
    ):
        return "archive"
    is_text = bool(head) and not sniff.find_refusal(head)
    if _ARCHIVE_NAME.search(path) and not is_text:
        return "archive"
    if is_plain_json(path, head):
        return ""
    lines = [line for line in _read_first_lines(head) if line.strip()]
    text = b"\n".join(lines)
    if _has_stamps(lines, text) or (head and _LOG_NAME.search(path)):
        return "log"
    if _is_tabular(lines, text) or (head and _TABLE_NAME.search(path)):
        return "table"
    return ""


def _read_first_lines(head: bytes) -> list[bytes]:
    """Return the first lines, mostly without splitting all there is."""
    head = head.replace(b"\0", b"")
    lines = head[:_MOSTLY].splitlines()
    return (lines if len(lines) > _LINES else head.splitlines())[:_LINES]


def _has_stamps(lines: list[bytes], text: bytes) -> bool:
    """Say whether a time stands near the start of most lines."""
    if not any(sign.search(text) for sign in _IN_STAMPS):
        return False
    stamps = 0
    for line in lines:
        start = line[:80]
        if (b":" in start or b"[" in start) and _STAMP.match(
            start
        ):  # most lines hold no sign of a time
            stamps += 1
    return stamps >= _ENOUGH and stamps * 2 > len(lines)


def _is_tabular(lines: list[bytes], text: bytes) -> bool:
    """Say whether lines are a table: XML or JSON, one number of separators in most lines, or ruled heads."""
    if lines and _XML_OR_JSON.match(lines[0]):
        return True
    if (b"--" in text or b"==" in text) and any(_RULED.match(line) for line in lines):
        return True
    for separator in (b",", b";", b"\t"):
        if text.count(separator) < 2 * _ENOUGH:
            continue
        counts = [line.count(separator) for line in lines]
        most = max(set(counts), key=counts.count, default=0)
        same = counts.count(most)
        if most >= 2 and same >= _ENOUGH and same * 2 > len(lines):
            return True
    return False
