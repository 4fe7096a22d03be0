"""Escapes untrusted text, one function per output.

Names, log lines and cells of a bundle come from outside. HTML is escaped by
Jinja's autoescape; every other output uses a function of this module.
"""

from __future__ import annotations

import re
import unicodedata

# C0 but TAB and LF, DEL, C1, line/paragraph separators, bidi controls, lone surrogates, BOM.
UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
# Signs that begin a formula, https://owasp.org/www-community/attacks/CSV_Injection; U+2212 is the minus sign.
_BEGINS = frozenset("=+-@\u2212")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|!&~])")


def make_visible(text: str) -> str:
    """Return `text` with control, bidi and undecodable characters shown as `\\xNN` or `\\uNNNN`."""
    return text if text.isprintable() else UNSAFE.sub(_escape_sign, text)


def _escape_sign(match: re.Match[str]) -> str:
    code = ord(match.group())
    if 0xDC80 <= code <= 0xDCFF:  # surrogateescape: the byte itself
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def one_line(text: str, most: int = 0) -> str:
    """Return visible text on one line, cut to `most` characters when that is not 0."""
    flat = make_visible(text).replace("\n", " ").replace("\t", " ")
    return flat[: most - 1] + "…" if most and len(flat) > most else flat


def count_noun(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: `1 case`, `3 cases`; `many` is the plural where it is not `one` with an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def span_in_words(seconds: float) -> str:
    """Return a length of time in words: `1 minute`, `24 hours`."""
    for unit, size in (("hour", 3600), ("minute", 60)):
        if seconds >= size and seconds % size == 0:
            return count_noun(int(seconds // size), unit)
    return f"{seconds:g} {'second' if seconds == 1 else 'seconds'}"


_TIME = r"(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC|an unknown time)(?! or (?:earlier|later))"
_ENDS = re.compile(
    rf",(?: (?:the )?first at (?P<first>{_TIME}))?(?:(?P<both>,)? (?:the )?last (?:time )?at (?P<last>{_TIME}))?"
)
_SAME = re.compile(rf" from (?P<at>{_TIME}) to (?P=at)(?! or (?:earlier|later))")
_ONE = re.compile(
    r"(?i)(?P<bound>\bat (?:least|most) )?(?:\bonce(?: \([^()]*\))?|\b1 [a-z][^.;:\d]{0,80})$"
)


def count_once(text: str) -> str:
    """Return a sentence that counts, as people say it of one: `1 time, the first at T, the last at T` is `once, at T`.

    First and last of more at one moment are `all at T`. T is a time as a template prints it.
    """
    said = re.sub(r"(?:(?<=^)|(?<=[.!?] ))1 time\b", "Once", text)
    said = _SAME.sub(r" at \g<at>", said)
    return _ENDS.sub(_one_time, re.sub(r"(?<![\w.,-])1 time\b", "once", said))


def _one_time(found: re.Match[str]) -> str:
    first, last = found["first"], found["last"]
    one = _ONE.search(found.string[: found.start()])
    alone = one is not None
    if (first is None and last is None) or (one is not None and one["bound"]):
        return found[0]
    if first is None or last is None:
        return f", at {first or last}" if alone else found[0]
    if first != last:
        return found[0]
    if first == "an unknown time":
        return ", at an unknown time" if alone else ", at unknown times"
    return f", at {first}" if alone else f", all at {first}"


def natural_key(name: str) -> list[tuple[int, str]]:
    """Return what sorts names by the numbers in them: esx2 before esx10."""
    return [
        (int(part[:18]) if part.isdecimal() else -1, part) for part in re.split(r"([0-9]+)", name)
    ]


def for_terminal(text: str) -> str:
    """Return text that cannot steer a terminal."""
    return make_visible(text)


def for_csv(cell: object) -> str:
    """Return a cell that a spreadsheet shows and does not run as a formula.

    A formula may begin in wide or small letters (U+FF1D, U+FE66), and behind signs that are not seen.
    """
    text = make_visible("" if cell is None else str(cell))
    first = text[:1]
    if (first.isascii() and first.isalnum()) or _NUMBER.fullmatch(text):
        return text
    seen = next(
        (
            sign
            for sign in text
            if not (sign.isspace() or unicodedata.category(sign) in ("Cf", "Mn", "Me"))
        ),
        "",
    )
    if first in ("\t", "\n") or unicodedata.normalize("NFKC", seen)[:1] in _BEGINS:
        return "'" + text
    return text


def for_markdown(text: str) -> str:
    """Return one line of text with every Markdown and HTML sign made harmless."""
    return _MARKDOWN.sub(r"\\\1", one_line(text))


def code_block(text: str) -> str:
    """Return a fenced block whose fence is longer than any run of backticks in `text`."""
    shown = make_visible(text)
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{shown}\n{fence}"


def code_span(text: str) -> str:
    """Return one line of text as inline code, whatever backticks it holds."""
    shown = one_line(" ".join(text.split()))
    fence = "`" * (max((len(run) for run in re.findall("`+", shown)), default=0) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") or not shown else ""
    return f"{fence}{pad}{shown}{pad}{fence}"
