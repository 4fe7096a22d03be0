"""What of the name of a given file or folder stays: only what the grammar of support bundles and logs knows.

The rest is somebody's own, also where each word of it is a word of the product: customers call a bundle `host.tgz`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from analyzer.redact.words import has_word

# What bundles, logs and saved outputs are called by who makes them, longest first where one begins another.
_PHRASES = (
    r"vmware-nsx-techsupport-bundle", r"vmware-vcenter-support", r"nsx-edge-support-edge-\d+", r"vm-?support",
    r"vc-?support", r"esxi?", r"vcsa", r"vc",
    r"nsxt?-?(?:t-)?(?:managers?|controllers?|edge|ccp|proxy|opsagent|syslog|audit|api)", r"nsx-?[tv]?", r"vmkernel",
    r"vmkwarning", r"vmksummary", r"vmkeventd", r"vmkdevmgr", r"hostd-probe", r"hostd", r"vpxa", r"vpxd-?\d*",
    r"vobd", r"fdm(?:-installer)?", r"syslog", r"shell", r"auth", r"messages", r"dmesg", r"esxupdate", r"esxcfg-\w+",
    r"rhttpproxy", r"usb", r"storagerm", r"sdrsinjector", r"lacp", r"dhclient", r"boot", r"jumpstart(?:-\w+)?",
    r"clomd", r"vsan\w*", r"envoy(?:-access)?", r"vmware", r"vmkernel-zdump", r"zdump", r"vsfwd", r"netcpa", r"vsm",
    r"cloudnet(?:-\w+)?", r"esxtop", r"net-stats", r"pktcap-uw", r"sys-info", r"vm\d{4}-\d\d?-\d\d?@\d\d?-\d\d-\d\d",
    r"localhost(?:\.localdomain)?", r"readme", r"logs?", r"commands?", r"transcripts?", r"outputs?", r"batch",
)  # fmt: skip
# A saved output is called as its command: words of the product behind one stay.
_COMMAND = re.compile(r"(?i)esxcli|localcli|vsish|vsi.traverse|vim.cmd|esxcfg-\w+|nsxcli|show")
_STAMP = (
    r"\d{4}-\d\d-\d\d(?:(?:--|[t@ _-])\d\d?[.:-]\d\d(?:[.:-]\d\d)?(?:[.,]\d+)?z?(?:-\d{1,8})?)?"
    r"|(?:19|20)\d{6}(?:[-_t]?\d{4,6})?z?(?:\.\d{1,7})?|\d{6}[-_]\d{6}gmt(?:[+-]\d\d:?\d\d)?|\d{1,3}"
)
_PART = "(?:" + "|".join(phrase.replace("-", "[-_ ]") for phrase in _PHRASES) + ")"
_KEPT = re.compile(rf"(?i)(?<![^\W_])(?:{_STAMP}|{_COMMAND.pattern[4:]}|{_PART})(?![^\W_])")
_LETTERS = re.compile(r"[^\W\d_]+")
_SIGNS = " -_.@()[]+,=~#&'"
ENDS = re.compile(
    r"(?i)(?:\.(?:tar|tgz|gz|zip|txt|csv|log|xml|json|md|bz2|xz|zst|out|p?cap|7z|rar|dump|html?|part\d*|\d{1,3}))+$"
)


def own_parts(name: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of the parts of a name that the grammar does not know."""
    ended = ENDS.search(name)
    end = ended.start() if ended else len(name)
    at, is_command = 0, False
    for found in [*_KEPT.finditer(name, 0, end), None]:
        stop = found.start() if found else end
        part = name[at:stop]
        if (
            found is not None
            and part.strip(_SIGNS)
            and found[0].isdecimal()
            and stop + 4 > found.end()
        ):
            continue  # a small number of what somebody called a thing: `site 2 west`, `db-01`
        if is_command and all(has_word(word.lower()) for word in _LETTERS.findall(part)):
            part = ""
        start = at + len(part) - len(part.lstrip(_SIGNS))
        stop = start + len(part.strip(_SIGNS))
        if start < stop:
            yield start, stop
        at = found.end() if found else end
        is_command = found is not None and _COMMAND.fullmatch(found[0]) is not None


def rename_file(name: str, give: Callable[[str], str]) -> str:
    """Return a name, or a path of names, with what `give` has for each part that the grammar does not know."""
    if "/" in name:
        return "/".join(rename_file(one, give) for one in name.split("/"))
    parts: list[str] = []
    at = 0
    for start, end in own_parts(name):
        parts += [name[at:start], give(name[start:end])]
        at = end
    return "".join([*parts, name[at:]])
