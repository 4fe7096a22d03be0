"""Version and build of an NSX Manager (NSX for vSphere).

Sources: `sys_info` of the Manager's bundle (line `System Version:`); REST `appliance-management` global
info and system summary as XML, or as JSON before 6.2.3; the vCenter extension
`com.vmware.vShieldManager`, whose version has the build as fourth part. What `show version` prints
on the Manager is in no public source: only a `System Version:` line is read there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from analyzer.parsing import Output, Parser, fault_at, rows
from analyzer.tables import Block, Fault, Row

from ._nsx import MANAGER, XML_BODY, row, version_cells, xml_shape
from ._xml import Element, read

_UPTIME = re.compile(r"(\d+) (day|hour|minute|second)s?")
_SECONDS = {"day": 86400, "hour": 3600, "minute": 60, "second": 1}
_JSON_PART = re.compile(
    r'"(majorVersion|minorVersion|patchVersion|buildNumber|hostName|ipv4Address)"\s*:\s*"?([\w.:-]{1,255})'
)


def parse(block: Block) -> Output:
    """Read one answer or sys_info file: a row for each place that states a version."""
    head = next((line.strip() for line in block.lines if line.strip()), "")
    if head.startswith("<"):
        yield from _xml(block)
    elif head.startswith(("{", '"versionInfo"', '"globalInfo"')):
        yield from _json(block)
    else:
        yield from _text(block)


def _text(block: Block) -> Output:
    for item in rows(MANAGER, PARSER.name, block):
        if isinstance(item, Row):
            line = block.lines[item.line - block.first_line]
            item.values["source"] = "sys_info" if "System Version" in line else "extension"
        yield item


def _xml(block: Block) -> Output:
    root, faults = read(block, PARSER.name)
    for element in root.find("globalInfo", "systemSummary"):
        yield from _answer(block, element, element.child("versionInfo"))
    for element in root.children:
        if element.tag == "versionInfo":
            yield from _answer(block, element, element)
    yield from faults


def _answer(block: Block, element: Element, info: Element | None) -> Output:
    cells = version_cells(info)
    if not cells:
        return
    cells |= {
        "hostname": element.child("hostName") or element.child("dnsName"),
        "ip": element.child("ipv4Address"),
        "source": "rest",
    }
    cells["uptime_s"] = _seconds(element.get("uptime"))
    yield from row(MANAGER, block, info or element, cells)


def _seconds(text: str) -> str:
    """Return "2 days, 3 hours" in seconds, and what is no such text as it is: `row` reports it."""
    found = _UPTIME.findall(text[:200])
    return str(sum(int(number[:9]) * _SECONDS[unit] for number, unit in found)) if found else text


def _json(block: Block) -> Output:
    text = "\n".join(block.lines)
    found = dict(_JSON_PART.findall(text[: 1 << 20]))
    for part in _dicts(text):
        found |= {key: str(value) for key, value in part.items() if isinstance(value, (str, int))}
    version = [found.get(f"{part}Version", "") for part in ("major", "minor", "patch")]
    line = next((n for n, at in enumerate(block.lines, block.first_line) if "majorVersion" in at), block.first_line)
    if not all(part.isdigit() for part in version):
        why = "no versionInfo with major, minor and patch version"
        yield Fault(block.address, line, block.lines[line - block.first_line][:300], PARSER.name, why=why)
        return
    if text.lstrip().startswith("{"):
        yield from _not_json(block, text)
    cells = {"version": ".".join(version), "build": found.get("buildNumber", ""), "source": "json"}
    cells |= {"hostname": found.get("hostName", ""), "ip": found.get("ipv4Address", "")}
    yield from row(MANAGER, block, Element("versionInfo", line), cells)


def _not_json(block: Block, text: str) -> Iterator[Fault]:
    try:
        json.loads(text)
    except RecursionError:
        yield fault_at(block, block.first_line, PARSER.name, "nested too deeply to be read as JSON")
    except ValueError as error:
        line = block.first_line + min(getattr(error, "lineno", 1), len(block.lines)) - 1
        yield fault_at(block, line, PARSER.name, f"no JSON from here on: {error}"[:200])


def _dicts(text: str) -> Iterator[dict[str, Any]]:
    """Yield the objects that hold versionInfo, and versionInfo itself; none of a text that is no JSON."""
    try:
        document: Any = json.loads(text)
    except (ValueError, RecursionError):
        return
    for _level in range(3):
        if not isinstance(document, dict):
            return
        if isinstance(info := document.get("versionInfo"), dict):
            yield document
            yield info
            return
        document = document.get("globalInfo")


PARSER = Parser(
    name="nsx_manager",
    tables=(MANAGER,),
    parse=parse,
    node="nsx_manager",
    files=(r"(?:^|/)sys_info$",),
    commands=(r"^\s*show version\s*$", r"/api/1\.0/appliance-management/(?:global/info|summary/system)\b"),
    shape=(
        rf"(?:{xml_shape('globalInfo', 'systemSummary')}|^<versionInfo>"
        r'|^\s*System Version\s*:\s*\d+\.\d+\.\d+|^\s*\{?\s*"(?:versionInfo|globalInfo)"\s*:'
        r"|^.{0,200}\bcom\.vmware\.vShieldManager\b)"
    ),
    body=rf'(?:{XML_BODY}|^\s*[{{}}"\]]|^\s*\w[\w ]{{1,39}}:\s)',
)
