"""Compiled templates in the cache folder of the user, where no wheel brings them: to compile them takes 0.3 s.

Jinja asks for them by the name and the SHA-1 of the source. What it makes of a source depends on the filters of the
page too, so each page has a file, which counts for one state of our code, of Jinja and of Python.
"""

from __future__ import annotations

import marshal
import sys
from importlib.util import MAGIC_NUMBER
from types import CodeType

import jinja2
from jinja2 import BytecodeCache
from jinja2.bccache import Bucket

from analyzer.runtime import cache_folder, snapshot

Compiled = dict[str, tuple[str, bytes]]  # name of a template -> SHA-1 of its source, code


class KeptTemplates(BytecodeCache):
    """The compiled templates of one page; what cannot be read is compiled, what cannot be written is left.

    Jinja's own cache in files reads a pickle and takes a file of any owner; here `cache_folder` says what is trusted.
    """

    def __init__(self, page: str) -> None:
        self._file = snapshot.find_kept(cache_folder.TEMPLATES, page)
        self._may_write = self._file is not None and cache_folder.may_write(self._file.parent)
        self._codes: Compiled | None = None

    def load_bytecode(self, bucket: Bucket) -> None:
        """Give a template its code, when its source is the one it was made of."""
        checksum, data = self._read_codes().get(bucket.key, ("", b""))
        if checksum != bucket.checksum:
            return
        try:
            code = marshal.loads(
                data
            )  # of a file that this user alone may write, under its SHA-256
        except (EOFError, ValueError, TypeError):
            return
        if isinstance(code, CodeType):
            bucket.code = code

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep the code of a template; the file is small, and written again for each template that is new."""
        if self._file is None or not self._may_write or bucket.code is None:
            return
        codes = self._read_codes()
        codes[bucket.key] = bucket.checksum, marshal.dumps(bucket.code)
        snapshot.write_kept(self._file, _describe_maker(), codes)

    def _read_codes(self) -> Compiled:
        if self._codes is None:
            kept = None
            if self._file is not None:
                kept = snapshot.read_kept(self._file, _describe_maker(), Compiled)
            self._codes = kept or {}
        return self._codes


def _describe_maker() -> str:
    """Return what the code of a template depends on besides its source."""
    python = f"{sys.implementation.cache_tag} {MAGIC_NUMBER.hex()}"
    return f"{snapshot.hash_code(times=True)} {jinja2.__version__} {python}"
