"""Finds names and addresses in lines by their form and place, with the signs of `signs`, many lines at once."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cache
from itertools import accumulate

from analyzer.redact import addresses
from analyzer.redact.commandnames import COMMAND
from analyzer.redact.placesigns import KEYED, PLACES, WORDED
from analyzer.redact.signedlines import FLAGS, SignedLines
from analyzer.redact.signs import MAC, STAMP, STRONG, TECHNICAL, WEAK, WWN, name_like
from analyzer.redact.words import is_product_word

_VERSION = re.compile(
    r"(?i)(?:version|release|driver|firmware|build|\bv|\bfw|bios)[\"']?\W{0,3}$"
)  # before what is no address
_SECRETS = frozenset(
    ("secret", "thumbprint")
)  # hidden before, or a hash of a certificate that names no one
# A pattern of a kind is tried where one of these words stands; kinds that are not here are always tried.
_GATES = {
    "ticket": ("sr", "case", "ticket", "incident", "pr", "request", "inc", "chg", "task", "req", "ritm", "prb", "cs"),
    "serial": ("serial", "tag"), "iqn": ("iqn.",),
    "device": ("naa.", "eui.", "vml."), "t10": ("t10.",), "email": ("@",),
    "export": (":/", "share", "export", "mount point", "remote", "path:"), "path": ("/vmfs/volumes/", "] "),
    "datastore": ("] ", "mounted as", "label:"),
    "user": ("user", "login", "account", "principal", "owner", "logname", "\\", "@", " from "),
    "portgroup": ("port group", "portgroup"),
}  # fmt: skip
_HEX = (
    ("device", re.compile(r"(?i)(?<![0-9a-z])(?:naa|eui|vml)\.[0-9a-f]{6,}")),
    ("t10", re.compile(r"(?i)(?<!\w)t10\.[\w.+-]+")),
    ("iqn", re.compile(r"(?i)(?<!\w)iqn\.\d{4}-\d\d\.[\w.:-]+")),
    ("wwn", re.compile(WWN)),
    ("wwn", re.compile(r"(?i)(?<![0-9a-z])(?:0x)?(?:1000|[256c][0-9a-f]{3})[0-9a-f]{12}(?![0-9a-z])")),
    ("uuid", re.compile(r"(?i)(?<![0-9a-z])[0-9a-f]{8}-[0-9a-f]{4,8}-(?:[0-9a-f]{4}-){1,2}[0-9a-f]{12}(?![0-9a-z])")),
    ("mac", re.compile(MAC)),
)  # fmt: skip
_LETTERS = re.compile(r"[^\W\d_]+")
_VOLUMES = "/vmfs/volumes/"
_ENDS_IN_NUMBER = re.compile(
    r"(?!(?i:vmnic|vmhba|vmk|vswitch|dvport|lag|eth|port|cpu|world|thread|sd[a-z]))[A-Za-z]{4,}[-_]?\d{1,4}"
)
_FILE = re.compile(
    r"(?:vmx-(?=.*\.vswp))?(.+?)\\?(?:(?:-\d{6}|-Snapshot\d+)?(?:-flat|-delta|-ctk|-sesparse|-rdm|-rdmp)?\.\w{2,5})?(?::\d+)?[.:,]*$"
)
_PRODUCT_FILES = re.compile(
    r"(?i)vmware(?:-\d+)?|log|vmx|\.\.?|\.[\w.-]+|(?:vmfs|nfs|vsan|volumes?|var|dev|tmp|scratch|disks|etc|opt|store|logs?|core|locker|sub|dvsdata)"
)


@cache
def text_signs() -> tuple[tuple[str, tuple[str, ...], str], ...]:
    """Return (kind, words one of which must stand there, pattern) of all that is looked for in lines.

    No pattern goes on behind the end of a line.
    """
    found = []
    for kind, pattern in (*STRONG, *WEAK):
        if kind not in _SECRETS:
            found.append((kind, _GATES.get(kind, ()), pattern.replace("[^", "[^\\n")))
    found += [
        (kind, gate, pattern.replace("[^", "[^\\n"))
        for kind, gate, pattern in (*PLACES, *WORDED, *KEYED)
    ]
    found.append(("command", (), COMMAND))
    return tuple(found)


@cache
def _compile_pattern(pattern: str, flags: int = FLAGS) -> re.Pattern[str]:
    if not flags & re.ASCII:  # a name may begin with any letter
        pattern = pattern.replace("[A-Za-z0-9]", r"[^\W_]").replace("[A-Za-z]", r"[^\W\d_]")
    return re.compile(pattern, flags)


def found_in(text: str, versions: set[str]) -> Iterator[tuple[str, str]]:
    """Yield (kind, name) of what lines show; `versions` are no addresses.

    A kind "path" is what follows /vmfs/volumes/; "wwn" and "volume" are ids like "device" and "uuid".
    """
    return (
        (KINDS.get(kind, kind), name)
        for kind, name, _ in found_at(text, versions, lambda _kind: True)
    )


def found_at(
    text: str, versions: set[str], wanted: Callable[[str], bool]
) -> Iterator[tuple[str, str, int]]:
    """Yield (kind as the signs call it, name, where it is) of what lines show, of some kinds."""
    clear = STAMP.sub(lambda stamp: "\x1f" * len(stamp[0]), text)
    yield from _found_at(clear, FLAGS, versions, wanted)
    if clear.isascii():
        return
    # umlauts and the like are letters of a name, too; few lines have any
    lines = clear.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    odd = [nth for nth, line in enumerate(lines) if not line.isascii()]
    begins = [0, *accumulate(len(lines[nth]) + 1 for nth in odd)]
    for kind, word, at in _found_at(
        "\n".join([lines[nth] for nth in odd]), re.MULTILINE, versions, wanted
    ):
        if not word.isascii():
            nth = bisect_right(begins, max(at, 0)) - 1
            yield kind, word, starts[odd[nth]] + at - begins[nth]


def _found_at(
    clear: str, flags: int, versions: set[str], wanted: Callable[[str], bool]
) -> Iterator[tuple[str, str, int]]:
    lines = SignedLines(clear)
    for kind, gate, pattern in text_signs():
        if not wanted(kind) or (gate and not any(sign in lines.low for sign in gate)):
            continue
        some, place = lines.lines_for(pattern)
        for found in _compile_pattern(pattern, flags).finditer(some):
            word = found["x"].strip()
            if "\n" in word or "\x1f" in word or not word:
                continue
            start = found.start("x")
            begin = some.rfind("\n", 0, start) + 1
            if kind in _NAMED and not _is_name(kind, word, some[begin:start]):
                continue
            if kind == "ipv4" and (
                word in versions or _VERSION.search(some[max(begin, start - 12) : start])
            ):
                continue
            start = place(start)
            if kind == "path" and not found[0].startswith("["):
                word, start = _VOLUMES + word, start - len(_VOLUMES)
            yield kind, word, start


def _is_name(kind: str, word: str, before: str) -> bool:
    """Say whether a word at the place of a name may be one: it has a letter, and a port group is spoken of as such."""
    if kind == "barefile":  # the last word of a name in quotes, or of a path, is none
        return not any(sign in before for sign in "\"'/\\")
    if kind.endswith("title"):  # "Certificate Expired", "SSH Service"
        return not all(is_product_word(part) for part in _LETTERS.findall(word.lower()))
    if kind in _LIKE:
        like = kind == "thing" and _ENDS_IN_NUMBER.fullmatch(word) and not TECHNICAL.fullmatch(word)
        return bool(like) or name_like(word)
    return any(map(str.isalpha, word)) and (kind != "portgroup" or "port" in before.lower())


_LIKE = frozenset(
    ("hostlike", "labellike", "thing")
)  # no sign but the word itself and a weak one before it
_NAMED = _LIKE | {
    "title",
    "urltitle",
    "barefile",
    "portgroup",
    "switch",
    "datastore",
    "label",
    "vm",
    "host",
    "user",
    "fqdn",
}
# How names are called that signs tell apart.
KINDS = {
    "wwn": "device", "volume": "uuid", "biosuuid": "uuid", "fqdn": "host", "export": "path", "licence": "serial",
    "hostlike": "host", "labellike": "label", "keymail": "email", "splitdevice": "device", "splitmac": "mac",
    "namedmac": "mac", "barefile": "file", "thing": "label", "title": "label", "urltitle": "urllabel", "pseudonym": "word",
}  # fmt: skip


def device_forms(text: str) -> list[tuple[str, str]]:
    """Return (kind, id) of storage ids and the like in a cell: naa.…, fc.NODE:PORT, t10.…; of numbers the digits."""
    found: list[tuple[str, str]] = []
    for kind, pattern in _HEX:
        for one in pattern.findall(text):
            if kind in ("t10", "iqn"):
                found.append((kind, one.rstrip(".:")))
                continue
            digits = (
                device_digits(one)
                if kind == "device"
                else addresses.digits_of(one.lower().removeprefix("0x"))
            )
            if digits.strip("0") and not (kind == "mac" and addresses.kept_mac(digits)):
                found.append(("device" if kind == "wwn" else kind, digits))
    return found


def device_digits(name: str) -> str:
    """Return the digits of naa.…, eui.… or vml.…: those of a vml name that name the device, without head and model."""
    form, _, digits = name.lower().partition(".")
    return digits[10:-12] if form == "vml" and len(digits) in (38, 54) else digits


def path_parts(path: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, name) of the parts of a path: a volume, folders, the stem of its file; the product's own stay."""
    volume = re.search(r"(?:/vmfs/volumes/|^\[)([^/\]]+)(?:/|\] ?|$)", path)
    rest = path
    if volume is not None:
        yield "datastore", volume[1]
        rest = path[volume.end() :]
    elif path.startswith("/") and not re.match(
        r"/(?:vmfs|var|etc|tmp|dev|opt|store|scratch|bin|usr|lib|boot|proc)\b", path
    ):
        parts = [part for part in path.split("/") if part]
        yield from (("path", part) for part in parts)
        return
    elif path.startswith("/"):
        return
    for part in rest.split("/"):
        stem = _FILE.match(part)
        if stem and not _PRODUCT_FILES.fullmatch(stem[1]):
            yield "vm", re.sub(r"_\d{1,2}$", "", stem[1]) if "." in part else stem[1]
