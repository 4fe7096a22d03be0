"""Tells names in typed commands by their option or their place: `ping HOST`, `esxcli … add -H HOST -v "MY STORE"`.

Options and arguments are those of the commands' help (esxcli and localcli 5.x to 8.x, esxcfg-*, vim-cmd, vmkfstools,
the tools of BusyBox and OpenSSH).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from analyzer.redact.signs import name_like
from analyzer.redact.words import is_product_word

Names = Iterator[tuple[str, str]]

_WORD = re.compile(r"(?:[^\s\"']+|\"[^\"]*\"|'[^']*')+")
_QUOTES = str.maketrans("", "", "\"'`")
_NAMED = re.compile(r"[^\W\d_][\w.-]*|[\w-]*[^\W\d_][\w. -]*")
TO_HOST = frozenset(
    (
        "ping",
        "ping6",
        "vmkping",
        "nslookup",
        "traceroute",
        "tracepath",
        "nc",
        "telnet",
        "ssh",
        "dig",
        "arping",
    )
)
OF_USER = frozenset(("su", "passwd", "useradd", "adduser", "userdel", "deluser", "chage"))
COPIES = frozenset(("scp", "sftp", "rsync"))
# Options that take a value: of what reaches a host, of what makes a user, of grep.
_OF_USERS = frozenset(("-d", "-s", "-g", "-G", "-u", "-c"))
_OF_GREP = frozenset(("-A", "-B", "-C", "-m"))
_VALUED = frozenset(
    (
        "-I",
        "-s",
        "-c",
        "-i",
        "-p",
        "-S",
        "-W",
        "-w",
        "-m",
        "-M",
        "-t",
        "-o",
        "-P",
        "-F",
        "-d",
        "-g",
        "-u",
        "-N",
    )
)
_LONG = {
    "host": "host", "hosts": "host", "fqdn": "host", "server": "host", "hostname": "host", "vcenter": "host",
    "domain": "domain", "username": "user", "user": "user", "authname": "user", "id": "user", "loghost": "at",
    "targets": "at", "volume-label": "datastore", "volume-name": "datastore", "datastore": "datastore",
    "portgroup-name": "portgroup", "portgroup": "portgroup", "vswitch-name": "switch", "vds-name": "switch",
    "setfsname": "datastore", "cluster": "label", "share": "export", "description": "label",
}  # fmt: skip
# First words of a command -> its short options.
_SHORT: tuple[tuple[str, dict[str, str]], ...] = (
    ("esxcli storage filesystem", {"l": "datastore"}),
    ("esxcli storage vmfs", {"l": "datastore"}),
    ("esxcli storage nfs", {"H": "host", "s": "export", "v": "datastore"}),
    ("esxcli network vswitch standard portgroup", {"p": "portgroup", "v": "switch"}),
    ("esxcli network vswitch", {"v": "switch", "p": "portgroup"}),
    ("esxcli network ip dns", {"d": "domain", "s": "host"}),
    ("esxcli system account", {"i": "user", "d": "label"}),
    ("esxcli system permission", {"i": "user"}),
    ("esxcli system hostname", {"H": "host", "f": "host", "d": "domain"}),
    ("esxcli system snmp", {"t": "at"}),
    ("esxcli system ntp", {"s": "host"}),
    ("esxcfg-vswitch", {"A": "portgroup", "p": "portgroup", "D": "portgroup", "C": "portgroup"}),
    ("esxcfg-vmknic", {"p": "portgroup"}),
    ("esxcfg-nas", {"o": "host", "s": "export", "d": "datastore"}),
    ("esxcfg-volume", {"M": "datastore", "m": "datastore", "r": "datastore", "u": "datastore"}),
    ("vmkfstools", {"S": "datastore"}),
    ("ssh", {"l": "user"}),
)
_PROMPT = r"(?:\]: |(?<![\w\]])[#$] |\] ?# |[|;&] ?|^)"
COMMAND = (
    rf"{_PROMPT}(?P<x>(?:esxcli|localcli|esxcfg-[a-z]+|vim-cmd|vmkfstools|openssl|dcli|govc|e?grep|vpxa|/usr/lib/vmware/\S+"
    rf"|{'|'.join(sorted(TO_HOST | OF_USER | COPIES))}) [^\n|;]{{2,400}})"
)


def names_of(command: str) -> Names:
    """Yield (kind, name) of what a typed command names; an option or a place that is not known tells nothing."""
    words: list[str] = [word.translate(_QUOTES) for word in _WORD.findall(command)]
    quoted = {word.translate(_QUOTES) for word in _WORD.findall(command) if word[0] in "\"'"}
    name, rest = words[0].replace("localcli", "esxcli"), words[1:]
    for kind, value in (
        *_names_in_options(" ".join((name, *rest)), rest),
        *_names_by_place(name, rest, quoted),
    ):
        if kind == "export":
            yield "path", "/" + value.lstrip("/")
        elif kind != "at":
            if _NAMED.fullmatch(value):
                yield kind, value
        else:
            for one in value.split(","):
                host = re.sub(r"^\w+://", "", one)
                user, at, host = (
                    host.rpartition("@")
                    if "@" in host and not re.search(r"@\d+", host)
                    else ("", "", host)
                )
                host = re.split(r"[:/@]", host)[0]
                if at and _NAMED.fullmatch(user):
                    yield "user", user
                if re.fullmatch(r"[A-Za-z][\w.-]*\w", host):
                    yield "host", host


def _names_in_options(command: str, words: list[str]) -> Names:
    """Yield what options say: `--host=…`, `--host …`, `-H …`."""
    short = next((options for begin, options in _SHORT if command.startswith(begin)), {})
    for place, word in enumerate(words):
        option, equals, value = word.partition("=")
        kind = _LONG.get(option[2:], "") if option.startswith("--") else short.get(option[1:], "")
        if kind and option.startswith("-"):
            given = value if equals else "".join(words[place + 1 : place + 2])
            if not given.startswith("-"):
                yield kind, given


def _names_by_place(name: str, words: list[str], quoted: set[str]) -> Names:
    """Yield what is at the place of a name."""
    greps = name in ("grep", "egrep")
    valued = _OF_GREP if greps else _VALUED | {"-l"}
    if name in OF_USER:
        valued = _OF_USERS if name in ("useradd", "adduser") else frozenset()
    plain = []
    before = ""
    for word in words:
        if not word.startswith("-") and before not in valued:
            plain.append(word)
        before = word
    if name in TO_HOST and plain:
        yield "at", plain[0]
    elif name in OF_USER and plain:
        yield "user", plain[-1]
    elif name in COPIES:
        yield from (("at", word.partition(":")[0]) for word in plain if ":" in word)
    elif name == "openssl" and "-connect" in words[:-1]:
        yield "at", words[words.index("-connect") + 1]
    elif greps and plain:
        parts = re.findall(r"[^\W\d_]+", plain[0].lower())
        is_foreign = len(parts) > 1 and not all(map(is_product_word, parts))
        if is_foreign or name_like(plain[0]):  # it holds a word that the product never says
            yield "label", plain[0]
    elif name == "vim-cmd" and words[0] in (
        "vmsvc/snapshot.create",
        "solo/registervm",
        "/solo/registervm",
    ):
        yield from (("label", word) for word in words[2:4] if word in quoted)
    elif name == "esxcfg-nas" and "-a" in words and plain:
        yield "datastore", plain[-1]
