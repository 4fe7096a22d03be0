"""Packs the files of a synthetic case: always the same bytes."""

from __future__ import annotations

import gzip
import io
import tarfile

STAMP = 1_508_000_000  # 2017-10-14: modification time of every member, so that bytes repeat
Files = dict[str, str | bytes]


def tgz(files: Files, cut: float = 1.0, stamp: int = STAMP) -> bytes:
    """Return a .tgz of the files, always the same bytes.

    cut    the part of it that is kept
    stamp  modification time of every member
    """
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name, body in files.items():
            data = body.encode() if isinstance(body, str) else body
            info = tarfile.TarInfo(name)
            info.size, info.mtime, info.mode = len(data), stamp, 0o644
            tar.addfile(info, io.BytesIO(data))
    packed = gzip.compress(plain.getvalue(), compresslevel=9, mtime=STAMP)
    return packed[: int(len(packed) * cut)]


def pack_tar(files: Files) -> bytes:
    """Return a tar of the files without compression, always the same bytes."""
    return gzip.decompress(tgz(files))
