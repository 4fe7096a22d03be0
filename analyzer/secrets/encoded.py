"""Lines that hold text in the code of another one: XML inside XML, JSON in an address, JSON as Java writes it.

A SOAP message in a log has `&lt;password&gt;`, an address has `%22password%22%3A`, Gson writes `=` as `\\u003d`.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

_DEEPEST = 3  # XML inside XML inside JSON
_ENTITY = re.compile(r"&(?:lt|gt|quot|apos|amp|nbsp|#\d{2,4}|#[xX][0-9a-fA-F]{2,4});")
_PERCENT = re.compile(r"%(?:2[0267CcFf]|3[AaBbDd]|5[BbDd]|7[BbDd])")
_ESCAPE = re.compile(r"\\u00(?P<code>2[267]|3[cdeCDE])")


def undo_codes(line: str) -> str:
    """Return a line as it reads without those codes; one that has none comes back as it is."""
    for _ in range(_DEEPEST):
        plain = line
        if "&" in plain and _ENTITY.search(plain):
            import html  # noqa: PLC0415 - its table of signs costs more than most cases need

            plain = html.unescape(plain)
        if "%" in plain and _PERCENT.search(plain):
            plain = unquote(plain, errors="replace")
        if "\\u00" in plain:
            plain = _ESCAPE.sub(lambda found: chr(int(found["code"], 16)), plain)
        if plain == line:
            break
        line = plain
    return line
