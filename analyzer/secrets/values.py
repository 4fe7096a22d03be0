"""Secrets in text: passwords, keys, tokens, session ids and community strings become `*****`.

This is the one filter for all that leaves the program: text is filtered where bytes become lines
(`hide_lines`, artefacts and transcripts) and where a line of a log is kept (`hide`, `hide_around`), so that
evidence, context, faults, tables and the archive hold what is left. Names and addresses are no secrets here.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import accumulate
from urllib.parse import unquote

from analyzer.secrets.line_forms import (
    COMMAND_WORDS,
    COMMANDS,
    CONFIG_SIGNS,
    FORMS,
    PASSWORD_SIGNS,
    TOKEN_SIGNS,
)

HIDDEN = "*****"

# A word that comes before, in or after every secret, in lower case. Text without one is not looked at further.
SIGNS = (
    "pass", "secret", "token", "cookie", "session", "communit", "credential", "auth", "api", "chap",
    "key", "psk", "://", "basic ", "bearer ", "negotiate ", "ntlm ", "$", "eyj", "akia", "licen", "sid", "-u",
    "pw", "ticket", "signature", "trap", "com2sec", "createuser", "users", "targets", "digest", "md5",
    "domainjoin", "vpxlro", "vmkfstools", "cst-", "saml", "securestring", "encryption.data", "advanced set",
    "account", "snmp", "echo ", "mysql", "ovftool", "redis-cli", "vicfg-", "ipmitool", "ldap", "vmkiscsi", "vmware-cmd",
    *CONFIG_SIGNS, *TOKEN_SIGNS, *(sign for sign in PASSWORD_SIGNS if sign != "%"),
)  # fmt: skip
# `sid` is a name by itself or the end of `phpsessid`; the line of a SCSI device (`ScsiDeviceIO`) holds it as well.
_WORDS = tuple(sign for sign in SIGNS if sign != "sid")
_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_SID = re.compile(r"sessid|(?<![\w.-])sid\b")
_PARTED = re.compile(r"[0-9a-z]{5}-[0-9a-z]{5,6}-")

# Names whose value is a secret whatever it is.
_STRONG = re.compile(
    r".*(?:pass(?:word|wd|phrase|code)|secret|psk|kinit[-_]?pass|authtok"
    r"|pre[-_]?shared[-_]?key|private[-_ ]?key|pwd)\d?"
    r"(?:[-_.]?(?:hash|text|value|data|base64|enc|encrypted|in|confirm(?:ation)?))?"
    r"|.*communit(?:y|ies)(?:[-_ ]?(?:string|name)s?)?|.*vnc\.key|.*keysafe|datafilekey"
    r"|.*(?:encryption|integrity)[-_ ]?key|(?:auth|priv)[-_]?hash"
    r"|.*pass(?:word|wd)_\d|.*chap[-_]?pw|.*keydata|encryption\.data|saml(?:response|request|assertion)"
    r"|root[-_]?pw|bind[-_]?pw|aws_secret_access_key|(?:licen[cs]e|serial)[-_ ]?key"
    r"|(?:.*[-_.])?(?:aes|3?des|hmac|cipher|symmetric|shared|master|signing|decryption|wep|wpa|tsig)"
    r"(?:[-_]?\d{2,3})?[-_ ]?key"
    r"|.*(?:key|trust)store[-_.]?pass|.*(?:ssh|sudo|become|bind|db|smtp|proxy|admin|root|user)[-_]pass"
    r"|.*secret[-_ ]?key|guestinfo\.(?:[\w-]+\.)*(?:user|vendor|meta)[-_]?data|(?:.*[-_.])?key[-_]data",
    re.IGNORECASE,
)
# Names whose value is a secret unless it is a plain number, as counters and handles are.
_WEAK = re.compile(
    r".*token|.*api[-_ ]?key|access[-_ ]?key(?:[-_ ]?id)?|ssh[-_ ]?key|credentials?|(?:set-)?cookie\d?"
    r"|.*session[-_ ]?(?:id|key|ticket|token|cookie)?|.*soap_session|jsessionid|phpsessid|x-.*auth.*|.*xsrf-token"
    r"|.*auth[-_ ]?(?:key|code|data)|saml[-_]?(?:token|ticket)|sid|(?:.*[-_.])?ticket|.*[a-z]Ticket",
    re.IGNORECASE,
)
_PAIR = re.compile(
    r"(?<![\w.-])(?P<name>[\w.-]{2,200}(?: (?:key|id|hash|names?|strings?))?)"
    r"[\\\"'\]]{0,3}\s{0,8}(?::=|::(?=\s)|=>|=|:(?!:))\s{0,8}(?:\([\w. ]{1,40}\)\s?)?(?=[^\s,;&])",
    re.IGNORECASE,
)
# What a line in lower case has where a name of `_STRONG` or `_WEAK` is the name of a pair; letters beyond ASCII apart.
_PAIR_SIGN = re.compile(
    r"(?:pass|secret|psk|auth|key|pwd|pw|communit|hash|data|saml|token|credential|cookie|session|sid|ticket)"
    r"[\w.-]*(?: (?:key|id|hash|names?|strings?))?[\\\"'\]]{0,3}\s{0,8}[:=]"
)
_UNSET = re.compile(
    r"(?:<unset>|<not set>|\(null\)|null|none|nil|unset|true|false|yes|no|not set|hidden|redacted|\*+)"
    r"(?:[\s\"',;&)\]}<]|$)|[\[{(<]\s*$",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[\"']?(?:0x[0-9a-f]{1,16}|-?\d{1,20})(?:[\s\"',;&)\]}.]|$)", re.IGNORECASE)
_WORTH = re.compile(
    r"u?(?P<q>\\?[\"'])(?P<quoted>(?:\\.|(?!(?P=q)).)+)(?P=q)?|(?P<bare>[^\s\"',;&<>()\[\]{}]+)"
)

_LONGEST_LINE = 8192  # longer ones are looked at in parts: the work stays in proportion
_PEM_BEGINS = re.compile(r"-----BEGIN [A-Z0-9 ]*(?:PRIVATE KEY|OPENSSH)[A-Z0-9 ]*-----")
_PEM_ENDS = re.compile(r"-----END [A-Z0-9 ]+-----")
_PEM_LINE = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z0-9 ]*-----"
    r"(?P<x>(?:\\[nr]|&#\d+;|\s)*[\w+/=](?:(?!-----END).)*)"
)
_PEM_LEAST = 60  # characters at the end of a line of a key's body
_PEM_BODY = re.compile(r"(?<![\w+/=])[A-Za-z0-9+/]{60,76}={0,2}$")
# A secret's name at the end of a line: its value follows on the next lines, up to the closing sign.
_OPENED = re.compile(
    r"(?:(?<![\w.-])(?P<name>[\w.-]+(?: (?:key|id|hash|names?|strings?))?)[\"']?"
    r"\s*(?:(?::=|=>|[:=])\s*(?:\([\w. ]{1,40}\)\s?)?(?P<sign>[\[{(]?))"
    r"|<(?:\w+:)?(?P<tag>[\w.-]+)\b[^<>]*(?<!/)>)\s*$"
)
_OPENING = frozenset(":=>[{()")  # what such a line ends with
_CLOSED = re.compile(r"^(?:-->)?\s*(?:[\])}]|</)")
_LONGEST = 40  # lines that a value may go on for
_LONGEST_KEY = 200  # lines of the body of a key
_MEMBER = re.compile(
    r"^(?P<head>(?:-->)?\s*[\"']?)(?P<x>(?![-=+|*]+$)[^\s\"'<>\[\](){}][^\r\n\"'<>]*?)(?P<tail>[\"']?,?\s*)$"
)
_NAMED = re.compile(r"^(?:-->)?\s*[\w.\[\]-]+\s*(?:=|:\s|:$)")
_STRAY = re.compile(
    r"^(?:-->)?\s+[\"'](?P<x>[^\"']+)[\"'],?\s*$"
)  # an element of an array whose name was not seen


def _words_of(text: str) -> list[bytes]:
    """Return the words of a text with zeros for digits: of those of a log nearly all came before then."""
    return text.encode("utf-8", "surrogatepass").translate(_ZEROS).split()


# Each sign, and the longest of its words as `_words_of` writes it.
_LONGEST_WORDS = tuple((sign, max(_words_of(sign), key=len)) for sign in SIGNS)
_RAW_WORDS = tuple((sign.encode(), word) for sign, word in _LONGEST_WORDS)
_LONGEST_SIGN = max(len(sign) for sign, _ in _RAW_WORDS)
_PIECE = 64 << 10  # bytes of a text of which each word is looked at once


def may_hold_secrets(raw: bytes) -> bool:
    """Say quickly whether a text may hold a secret; a text in UTF-16 always may."""
    if b"\x00" in raw[:4096]:
        return True
    for at in range(0, len(raw), _PIECE):
        low = raw[at : at + _PIECE + _LONGEST_SIGN].lower()
        # Of a large text nearly all words came before: a hundred signs are sought in few bytes.
        words = b"\n".join(set(low.translate(_ZEROS).split())) if len(raw) > _PIECE else None
        for sign, word in _RAW_WORDS:
            if (words is None or word in words) and sign in low:
                return True
    return False


def _may_hold_secret(low: str) -> bool:
    """Say quickly whether a line, in lower case, may hold a secret; seeking words beats one pattern of them all."""
    if _holds_any(low, _WORDS):
        return True
    if "sid" in low and _SID.search(low):
        return True
    return low.count("-") > 1 and _PARTED.search(low) is not None


_SOUGHT_AT_ONCE = 8192  # lines
_SHORT = 400  # characters of a line whose answer is kept for a while
_PART_ENDS = re.compile(r"-(?=[0-9a-z]{5,6}-)")
_PART = re.compile(r"[0-9a-z]{5}")
_MOST_PLAIN = 100_000
_LONGEST_PLAIN = 50
_plain_words: set[bytes] = set()  # that hold no sign


def find_suspects(lines: Sequence[str]) -> set[int]:
    """Return the places of the lines that may hold a secret: those that `_may_hold_secret` names.

    Sought some thousand lines at a time: a long session is not held twice.
    """
    found: set[int] = set()
    for first in range(0, len(lines), _SOUGHT_AT_ONCE):
        stretch = lines[first : first + _SOUGHT_AT_ONCE]
        once = list(dict.fromkeys(stretch))  # a dump says the same a thousand times
        suspects = {once[place] for place in _find_in_stretch(once)}
        found.update(place for place, line in enumerate(stretch, first) if line in suspects)
    return found


def _find_in_stretch(lines: Sequence[str]) -> set[int]:
    """Return the places of such lines, found in one pass a word."""
    lows = [line.lower() for line in lines]
    text = "\n".join(lows)
    starts = [0, *accumulate(len(low) + 1 for low in lows)]
    found: set[int] = set()
    for word in _find_signs(text):
        found.update(_find_rows(text, starts, word))
    for row in _find_rows(text, starts, "sid"):
        if row not in found and _SID.search(lows[row]):
            found.add(row)
    for sign in _PART_ENDS.finditer(text):
        at = sign.start()
        if _PART.fullmatch(text, max(at - 5, 0), at):
            found.add(bisect_right(starts, at) - 1)
    return found


def _find_signs(text: str) -> list[str]:
    """Return the signs that a text in lower case may hold: those of which it has the longest word."""
    fresh = set(_words_of(text)) - _plain_words
    joined = b"\n".join(fresh)
    signs = [(sign, word) for sign, word in _LONGEST_WORDS if word in joined and sign != "sid"]
    for _, word in signs:
        fresh = {one for one in fresh if word not in one}
    if len(_plain_words) > _MOST_PLAIN:
        _plain_words.clear()
    _plain_words.update(one for one in fresh if len(one) <= _LONGEST_PLAIN)
    return [sign for sign, _ in signs]


def _find_rows(text: str, starts: Sequence[int], word: str) -> Iterator[int]:
    """Yield the lines of a text that hold a word, each once; starts: where each line begins, and the end."""
    at = text.find(word)
    while at >= 0:
        row = bisect_right(starts, at) - 1
        yield row
        at = text.find(word, starts[row + 1])


def hide(line: str) -> str:
    """Return a line without the secrets it shows; a line without any comes back as it is."""
    low = line.lower()
    if not _may_hold_secret(low):
        return line
    return _hide_suspect(line, low)


def _hide_suspect(line: str, low: str) -> str:
    """Return a line that may hold a secret without it; low: the line in lower case."""
    return _hide_short(line, low) if len(line) <= _SHORT else _hide_whole(line, low)


@lru_cache(1024)
def _hide_short(line: str, low: str) -> str:
    """Return what `_hide_suspect` does of a short line: the same ones come back by the thousand."""
    return _hide_whole(line, low)


def _hide_whole(line: str, low: str) -> str:
    """Return a line that may hold a secret without it."""
    if "-----begin" in low:
        line = _PEM_LINE.sub(_cut_secret, line)
    if len(line) > _LONGEST_LINE:
        shown = []  # part by part, cut at a blank where there is one
        while len(line) > _LONGEST_LINE:
            end = line.rfind(" ", _LONGEST_LINE // 2, _LONGEST_LINE) + 1 or _LONGEST_LINE
            shown.append(hide(line[:end]))
            line = line[end:]
        return "".join([*shown, hide(line)])
    plain = undo_codes(line)
    if plain != line:
        hidden = hide(plain)
        if hidden != plain:
            return hidden
    if _holds_any(low, COMMAND_WORDS):
        for words, command, option in COMMANDS:
            if _holds_any(low, words) and _compile_form(command, re.IGNORECASE).search(line):
                line = _compile_form(option, 0).sub(_cut_secret, line)
    tried: set[int] = set()
    for sign, places in _FORMS_OF_SIGN:
        if sign in low:
            tried.update(places)
    for place in sorted(tried):
        line = _compile_form(FORMS[place][1], re.IGNORECASE).sub(_cut_secret, line)
    if not low.isascii() or _PAIR_SIGN.search(low):
        line = _hide_pairs(line)
    return hide_record(line) if "value" in low else line


def _map_forms() -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Return the places of the forms that each word asks for."""
    places: dict[str, list[int]] = {}
    for place, (signs, _) in enumerate(FORMS):
        for sign in signs:
            places.setdefault(sign, []).append(place)
    return tuple((sign, tuple(found)) for sign, found in places.items())


_FORMS_OF_SIGN = _map_forms()


@cache
def _compile_form(pattern: str, flags: int) -> re.Pattern[str]:
    """Return a pattern of ours, compiled when a line needs it: of more than a hundred most cases need a few."""
    return re.compile(pattern, flags)


def _holds_any(low: str, words: Sequence[str]) -> bool:
    """Say whether one of some words is in a line."""
    for word in words:
        if word in low:
            return True
    return False


def _hide_pairs(line: str) -> str:
    """Return a line without the values of names that speak of a secret: `name = value`, `name: "value"`."""
    parts: list[str] = []
    at = 0
    for pair in _PAIR.finditer(line):
        name, after = pair["name"], pair.end()
        if pair.start() < at or _UNSET.match(line, after):
            continue
        is_weak = _WEAK.fullmatch(name) and not _NUMBER.match(line, after)
        if not is_weak and not _STRONG.fullmatch(name):
            continue
        value = _WORTH.match(line, after)
        if value is None:
            continue
        group = "quoted" if value["quoted"] is not None else "bare"
        start, end = value.span(group)
        if line[start:end].strip("*"):
            parts += [line[at:start], HIDDEN]
            at = end
    return "".join([*parts, line[at:]])


def hide_lines(lines: Sequence[str]) -> list[str]:
    """Return the lines of a text without the secrets they show, values on lines after their name included."""
    return _hide_in_order(lines, hide_strays=False)


def hide_around(
    before: Sequence[str], line: str, after: Sequence[str]
) -> tuple[list[str], str, list[str]]:
    """Return a line of a log and its neighbours without secrets.

    Bare strings and base64 that may belong to a name further up are hidden as well.
    """
    shown, at = _hide_log_lines((*before, line, *after)), len(before)
    return list(shown[:at]), shown[at], list(shown[at + 1 :])


@lru_cache(maxsize=64)
def _hide_log_lines(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return lines of a log without secrets; several signatures take one line, one after the other."""
    if _may_hold_secret("\n".join(lines).lower()):
        return tuple(_hide_in_order(lines, hide_strays=True))
    # Where all together hold none, no line by itself does
    return tuple(_hide_stray(one) for one in lines)


def hide_lone_line(line: str) -> str:
    """Return a line of a log without secrets, as `hide_around` does of one whose neighbours are not known."""
    return hide_around((), line, ())[1]


def _hide_in_order(lines: Sequence[str], *, hide_strays: bool) -> list[str]:
    found: list[str] = []
    going: Callable[[str], tuple[str, bool]] | None = None
    left = 0
    counters: set[str] = (
        set()
    )  # names of numbers that are no secret: dumps hold the same ones a thousand times
    suspects = find_suspects(lines)
    for place, line in enumerate(lines):
        if hide_strays and going is None and place not in suspects:
            found.append(_hide_stray(line))
            continue
        name, _, number = line.rpartition(":")
        if going is None and name in counters and number.isdecimal():
            found.append(line)
            continue
        if going is not None and left and hide_strays and not line.strip():
            found.append(line)  # of a log of several hosts: another one wrote here
            continue
        if going is not None and left:
            shown, more = going(line)
            left -= 1
            if not more:
                going = None
            found.append(shown)
            continue
        going, left, shown = _begin_value(line) if place in suspects else (None, 0, line)
        if number.isdecimal() and not hide_strays and not _may_hold_secret(f"{name}:".lower()):
            counters.add(name)
        if hide_strays and going is None:
            shown = _hide_stray(shown)
        found.append(shown)
    return hide_records(found)


def _names_secret(name: str) -> bool:
    return bool(_STRONG.fullmatch(name) or _WEAK.fullmatch(name))


def _begin_value(line: str) -> tuple[Callable[[str], tuple[str, bool]] | None, int, str]:
    """Return how the lines after a suspect one are hidden, for how many, and this line without secrets."""
    shown = _hide_suspect(line, line.lower())
    if "-----BEGIN" in line and _PEM_BEGINS.search(line) and not _PEM_ENDS.search(line):
        return _hide_key_body, _LONGEST_KEY, shown
    opened = _OPENED.search(line) if line.rstrip()[-1:] in _OPENING else None
    if not opened:
        return None, 0, shown
    name, tag, sign = opened.group("name", "tag", "sign")
    if not _names_secret(name or tag):
        return None, 0, shown
    if sign or tag:
        return _hide_member, _LONGEST, shown
    return _hide_value, 1, shown


def _hide_key_body(line: str) -> tuple[str, bool]:
    if _PEM_ENDS.search(line):
        return line, False
    return HIDDEN, True


def _hide_member(line: str) -> tuple[str, bool]:
    """Hide an element of a list that began on a line before; the list ends at its closing sign."""
    if _CLOSED.match(line):
        return line, False
    shown = hide(line)
    if shown == line and not _NAMED.match(line):
        shown = _hide_element(line)
    return shown, True


def _hide_value(line: str) -> tuple[str, bool]:
    """Hide a value that is alone on the line after its name."""
    shown = hide(line)
    if shown == line and not _NAMED.match(line) and " " not in line.strip():
        shown = _hide_element(line)
    return shown, False


def _hide_element(line: str) -> str:
    return _MEMBER.sub(lambda match: f"{match['head']}{HIDDEN}{match['tail']}", line)


def _hide_stray(line: str) -> str:
    """Hide an element of an array, or a line of a key's body, whose name was not seen."""
    stray = _STRAY.match(line) if line[:1].isspace() or line.startswith("-->") else None
    if stray:
        start, end = stray.span("x")
        return line[:start] + HIDDEN + line[end:]
    if len(line) < _PEM_LEAST or " " in line[-_PEM_LEAST:]:
        return line
    body = _PEM_BODY.search(line)
    return line[: body.start()] + HIDDEN if body else line


def _cut_secret(match: re.Match[str]) -> str:
    """Return a match with the secret in it hidden."""
    if match["x"].strip("*") == "":
        return match[0]
    begin = match.start()
    start, end = match.start("x") - begin, match.end("x") - begin
    return match[0][:start] + HIDDEN + match[0][end:]


# --- text in the code of another one ---
#
# XML inside XML, JSON in an address, JSON as Java writes it: a SOAP message in a log has `&lt;password&gt;`, an address
# has `%22password%22%3A`, Gson writes `=` as `\u003d`.

_DEEPEST = 3  # XML inside XML inside JSON
_ENTITY = re.compile(r"&(?:lt|gt|quot|apos|amp|nbsp|#\d{2,4}|#[xX][0-9a-fA-F]{2,4});")
_PERCENT = re.compile(r"%(?:2[0267CcFf]|3[AaBbDd]|5[BbDd]|7[BbDd])")
_ESCAPE = re.compile(r"\\u00(?P<code>2[267]|3[cdeCDE])")


def undo_codes(line: str) -> str:
    """Return a line as it reads without those codes; one that has none comes back as it is."""
    for _ in range(_DEEPEST):
        plain = line
        if "&" in plain and _ENTITY.search(plain):
            plain = html.unescape(plain)
        if "%" in plain and _PERCENT.search(plain):
            plain = unquote(plain, errors="replace")
        if "\\u00" in plain:
            plain = _ESCAPE.sub(lambda found: chr(int(found["code"], 16)), plain)
        if plain == line:
            break
        line = plain
    return line


# --- two entries of one record ---
#
# Secrets whose name and value are two entries of one record: `Path: /UserVars/RmqPassword`, `String Value: …`.
#
# esxcli prints an option so as text, JSON and XML; hostd prints `key` and `value` of an option, REST answers the same
# in any order, and the authentication of an edge's routing protocol is a type and a value. Lines of one record stand
# together: a blank line, a brace or another name ends it.

LONGEST = 14  # lines between a name and its value
LONGEST_LINE = 8192  # a longer line is not cut into its entries
# Words that the name of a secret holds; a text without any is not looked at.
RECORD_SIGNS = ("pass", "pwd", "secret", "token", "psk", "authentication", "credential")

_SPLIT = r"[\"']?\s*(?:=>|[:=]|\.{3,}|[\"']?>(?:<string>)?)\s*(?:\(string\)\s*)?[\"']?"
_NAME = re.compile(
    rf"(?:^|[\s{{,<|\"'-])(?:path|key|name|option|property)(?<!\bfield name){_SPLIT}"
    r"(?P<name>[\w./\\-]{3,200})",
    re.IGNORECASE,
)
_OPENS = re.compile(r"[\"'<]authentication[\"'>]\s*:?\s*\{?\s*$", re.IGNORECASE)
_VALUE = re.compile(
    r"(?:^|[\s{,<|\"'-])(?:default|current|configured)?[ _-]?(?:string)?[ _-]?(?<!int )(?<!min )(?<!max )value"
    rf"{_SPLIT}(?P<x>[^\s\"'<](?:\\.|[^\"'<\r\n])*)",
    re.IGNORECASE,
)
_ENDS = re.compile(
    r"^(?:-->)?\s*(?:$|[\[\]{}(),;]+\s*$|</?(?:structure|list|option|entry|authentication)\b)",
    re.IGNORECASE,
)
_TAIL = re.compile(r"[,;\s]*$")
_PIECES = re.compile(r"(?:\"(?:\\.|[^\"\\])*\"?|[^\",{}])+[,{}]?|[,{}]")
_NONE = re.compile(r"(?:\*+|null|none|<unset>|not set|true|false)\s*[,;]?\s*$", re.IGNORECASE)


def hide_records(lines: list[str]) -> list[str]:
    """Return lines without the values whose names are on other lines of the same record."""
    whole = "\n".join(lines).lower()
    if "value" not in whole or not _holds_any(whole, RECORD_SIGNS):
        return lines
    for at in _find_named(lines):
        line = lines[at]
        if not _holds_any(line.lower(), RECORD_SIGNS):
            continue  # hidden since
        below = range(at + 1, min(at + LONGEST, len(lines)))
        above = range(at - 1, max(at - LONGEST, -1), -1)
        if _OPENS.search(line):
            _hide_values(lines, below)
            continue
        entry = _NAME.search(line)
        if entry is not None and _names_secret(re.split(r"[./\\]", entry["name"])[-1]):
            _hide_values(lines, below)
            _hide_values(lines, above)
    return lines


def _find_named(lines: Sequence[str]) -> list[int]:
    """Return the places of the lines that may name the secret of a record, in order."""
    lows = [line.lower() for line in lines]
    text = "\n".join(lows)
    starts = [0, *accumulate(len(low) + 1 for low in lows)]
    return sorted({row for sign in RECORD_SIGNS for row in _find_rows(text, starts, sign)})


def hide_record(line: str) -> str:
    """Return a line that holds a whole record, `{ key = "…", value = "…" }`, without such values."""
    if "," not in line or len(line) > LONGEST_LINE:
        return line
    pieces = _PIECES.findall(line)
    if "".join(pieces) != line:
        return line
    return "".join(hide_records(pieces))


def _hide_values(lines: list[str], places: Iterable[int]) -> None:
    """Hide the values on some lines, up to the end of the record."""
    for place in places:
        line = lines[place]
        if _ENDS.match(line) or _NAME.search(line):
            return
        found = _VALUE.search(line)
        if found is None or _NONE.match(line, found.start("x")):
            continue
        start, end = found.span("x")
        if tail := _TAIL.search(line, start, end):
            end = tail.start()
        lines[place] = line[:start] + HIDDEN + line[end:]
