"""How a case is called: after its files, or after its only host where their names say nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from analyzer.runtime.paths import absolute_path
from analyzer.sources.remote import Place, common_name

# Words that name no case: what folders of uploads and single outputs are called.
_ANY_CASE = re.compile(
    r"(?:in|out|input|output|inbox|incoming|tmp|temp|tests?|new|case|cases|sr|upload(?:s|ed)?|download(?:s|ed)?"
    r"|desktop|documents|home|root|data|files?|folder|new[ _-]folder|attachments?|logs?|bundles?|dump|archive|support"
    r"|support[ _-]?bundle|vm-?support|esx(?:i|top)?(?:[ _-]?(?:logs?|batch|out|output))?|esxcli|vsish|net-?stats|ping"
    r"|vmkernel|vobd|hostd|vpxa|vmware|messages|syslog|fdm|putty|session|transcript|pasted|paste|console|terminal"
    r"|standard input|stdin|material|input files|zip|tgz)(?:[ _.-]?\(?\d{0,2}\)?)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\d{4}")
_TELLING = re.compile(r"[^\W\d_]|\d{4}")  # a letter, or the number of a case
_ENDINGS = re.compile(
    r"(?:\.(?:tgz|tar|gz|zip|bz2|xz|zst|csv|txt|log|out|json|html?|md|eml|\d{1,3}))+$",
    re.IGNORECASE,
)
_NO_NAME = re.compile(
    r"\(loose files\)$|\.(?:log|txt|json|csv|out|gz|tgz|zip|html?|eml|md)(?:\.\d+)*$", re.IGNORECASE
)


def name_case_by_files(paths: Sequence[Place]) -> str:
    """Return the name of a case: its only file or folder, else the folder that holds them all."""
    on_disk = [absolute_path(path) for path in paths if isinstance(path, Path)]
    if len(on_disk) < len(paths):
        return (paths[0].name if len(paths) == 1 else common_name(paths)) or "case"
    if len(paths) == 1:
        path = on_disk[0]
    else:
        path = Path(os.path.commonpath([path.parent for path in on_disk]))
    if says_nothing(path.name) and path.is_dir() and _NUMBERED.search(path.parent.name):
        path = (
            path.parent
        )  # `SR-4711/in` is the case SR-4711; any other folder above may be that of a user
    return path.name or "case"


def says_nothing(name: str) -> bool:
    """Say whether a file or folder of a case has a name that any case could have: `in`, `upload.zip`, `esxtop.csv`."""
    stem = _ENDINGS.sub("", name)
    if not _TELLING.search(stem):
        return True
    return _ANY_CASE.fullmatch(stem) is not None


def name_case_by_host(given: str, nodes: Iterable[Mapping[str, Any]]) -> str:
    """Return the name of a case: that of its files, or that of its only host where theirs says nothing.

    nodes  records of the machines; those that no file names do not count
    """
    if not says_nothing(given):
        return given
    named = []
    for node in nodes:
        if node["name"] and not _NO_NAME.search(node["name"]):
            named.append(node)
    hosts: set[str] = {node["name"] for node in named if node["kind"] == "esxi"}
    if not hosts:
        hosts = {node["name"] for node in named}
    if len(hosts) == 1:
        return hosts.pop()
    return given
