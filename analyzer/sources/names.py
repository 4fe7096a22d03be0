"""Names of members: keys, never paths.

A name is decoded, normalised and capped here once. What points outside
(`..`, absolute, drive letters) is marked and stays a harmless key, because
nothing is ever created or opened by such a name.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

# Folders that stand at the top of a host's or manager's tree. A path that begins with one of them has
# no top directory of its own (`tar c .` inside an unpacked bundle).
TREE_TOPS = frozenset({
    "altbootbank", "bin", "bootbank", "cloudnet", "commands", "dev", "etc", "home", "json", "lib", "lib64", "local",
    "log", "logs", "opt", "proc", "productLocker", "root", "sbin", "scratch", "snapshot", "store",
    "system", "tmp", "usr", "var", "vmfs", "vmupgrade", "common", "config", "image",
})  # fmt: skip
_DRIVE = re.compile(r"^(?:[A-Za-z]:|//)")


@dataclass(frozen=True, slots=True)
class Name:
    """A normalised name; `unsafe` says why it would be dangerous as a path, "" when it is not."""

    path: str
    unsafe: str = ""


# What browsers, copying tools and download managers put behind the name of a file that is still on its way.
UNFINISHED = (
    ".crdownload", ".part", ".partial", ".download", ".opdownload", ".filepart", ".aria2", ".!ut", ".!qb",
)  # fmt: skip


def decode(raw: bytes) -> str:
    """Return the text of a name; bytes that are not UTF-8 survive as surrogates."""
    return raw.decode("utf-8", "surrogateescape")


def normalise(text: str, most: int) -> Name:
    """Return the key for a member name of at most `most` bytes: one kind of slash, no `.`, no empty parts."""
    unsafe = ""
    text = text.split("\0", 1)[0].replace("\\", "/")
    if text.startswith("/") or _DRIVE.match(text):
        unsafe = "absolute"
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if ".." in parts:
        unsafe = "points upwards"
    path = "/".join(parts)
    if len(path) > most // 4 and len(path.encode("utf-8", "surrogateescape")) > most:
        raw = path.encode("utf-8", "surrogateescape")
        digest = hashlib.sha256(raw).hexdigest()[:16]
        path = raw[: most - 20].decode("utf-8", "ignore") + "~" + digest
        unsafe = unsafe or "longer than the limit"
    return Name(path, unsafe)


def top_of(path: str) -> str:
    """Return the top directory of a member path, "" when the tree starts at the archive itself."""
    top, slash, _ = path.partition("/")
    return top if slash and top not in TREE_TOPS else ""


def link_target(path: str, target: str, *, hard: bool = False) -> str | None:
    """Return where a link at `path` points inside its tree, None when it leaves the tree.

    A symbolic link is relative to its folder; an absolute one is not followed, since the tree's own
    root is not known to be meant. A hard link names a member.
    """
    target = target.replace("\\", "/")
    if not target or target.startswith("/") or _DRIVE.match(target):
        return None
    parts = [] if hard else path.split("/")[:-1]
    for part in target.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts) or None


CREDENTIALS = "holds credentials, not opened"
# Files with credentials and nothing an analysis needs: state backups, password files, private keys, key stores.
_CREDENTIALS = re.compile(
    r"local\.tgz(?:\.ve)?|state\.tgz|g?shadow-?|\.?netrc|\.pgpass|\.?htpasswd|id_(?:rsa|dsa|ecdsa|ed25519)|ssh_host_\w+_key"
    r"|ntp\.keys|(?:ipsec|chap|pap)[.-]secrets|krb5cc_\w+|\.erlang\.cookie"
    r"|.*\.(?:key|keytab|p12|pfx|jks|jceks|keystore|bcfks|ppk)",
    re.IGNORECASE,
)


def holds_credentials(name: str) -> bool:
    """Say whether a file of that name (its last part) holds credentials: it is never opened and never shown."""
    return bool(_CREDENTIALS.fullmatch(name))
