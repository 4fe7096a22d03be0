"""Seals: a digest each object carries of its other bytes, so that a single changed byte is found.

A pack carries it as the comment of its ZIP file, which other readers pass over; a JSON object as its
last key.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_END = b"PK\x05\x06"  # the last record of a ZIP file, 22 bytes without a comment
_END_SIZE = 22
_MARK = b"sha256:"
SEAL_SIZE = len(_MARK) + 64
KEY = "sha256"


def seal_pack(pack: bytes) -> bytes:
    """Return a ZIP file with its seal; one that has a comment is left as it is."""
    end = pack[-_END_SIZE:]
    if len(end) < _END_SIZE or not end.startswith(_END) or end[-2:] != b"\0\0":
        return pack
    body, size = (
        memoryview(pack)[:-2],
        SEAL_SIZE.to_bytes(2, "little"),
    )  # a pack may be large: copied once
    digest = hashlib.sha256(body)
    digest.update(size)
    return b"".join((body, size, _MARK, digest.hexdigest().encode()))


def seal_file(path: Path) -> None:
    """Seal a ZIP file without a comment in place, as `sealed` does."""
    with path.open("r+b") as file:
        file.seek(-2, os.SEEK_END)
        file.write(SEAL_SIZE.to_bytes(2, "little"))
        file.seek(0)
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        file.seek(0, os.SEEK_END)
        file.write(_MARK + digest.encode())


def seal_broken(pack: bytes) -> str:
    """Return what is wrong with the seal of a ZIP file, "" when it holds."""
    body, seal = pack[:-SEAL_SIZE], pack[-SEAL_SIZE:]
    if not seal.startswith(_MARK) or body[-_END_SIZE:][:4] != _END:
        return "it has no seal: cut, or not written by Backline"
    if seal[len(_MARK) :] != hashlib.sha256(body).hexdigest().encode():
        return "its bytes are not those that were written"
    return ""


def sealed_json(content: Mapping[str, Any]) -> bytes:
    """Return a JSON object with its seal."""
    text = json.dumps(dict(content), ensure_ascii=True, separators=(",", ":"))
    return f'{text[:-1]},"{KEY}":"{hashlib.sha256(text.encode()).hexdigest()}"}}\n'.encode()


def unsealed_json(data: bytes) -> dict[str, Any]:
    """Return the content of a sealed JSON object. Raises ValueError when it is none or its seal is broken."""
    try:
        content = json.loads(data)
    except RecursionError:
        raise ValueError("its nesting is too deep") from None
    if not isinstance(content, dict) or KEY not in content:
        raise ValueError("it has no seal")
    del content[KEY]
    if sealed_json(content) != data:
        raise ValueError("its bytes are not those that were written")
    return content
