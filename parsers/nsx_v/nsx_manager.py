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

from analyzer.artefacts.parsing import Output, Parser, fault_at, read_rows
from analyzer.artefacts.tables import Block, Column, Fault, KeyColumn, Row, Table

from ..common._nsx import MANAGER, XML_BODY, make_row, version_cells, xml_shape
from ..common._site import SITE
from ..common._xml import Element, read_xml

LOAD = Table.of(
    "nsx.manager_load",
    "Processors, memory and disk of the NSX Manager appliance, and how full they are.",
    "GET /api/1.0/appliance-management/summary/system",
    KeyColumn("hostname", "str", "name of the Manager, where stated"),
    Column("cpus", "int", "processors of the appliance", "processors"),
    Column("cpu_used_pct", "float", "processor time in use", "%"),
    Column("appliance_memory_mb", "float", "memory of the appliance", "MB"),
    Column("memory_used_mb", "float", "memory in use", "MB"),
    Column("memory_used_pct", "float", "memory in use", "%"),
    Column("storage_gb", "float", "disk of the appliance", "GB"),
    Column("storage_used_gb", "float", "disk in use", "GB"),
    Column("storage_used_pct", "float", "disk in use", "%"),
    Column("system_date", "str", "clock of the Manager, as printed"),
)

_SIZE = re.compile(r"(\d{1,12}(?:\.\d{0,9})?|\.\d{1,9})\s*([KMGT])I?B?", re.IGNORECASE)
_MB = {"K": 1 / 1024, "M": 1, "G": 1024, "T": 1024 * 1024}
_UPTIME = re.compile(r"(\d+) (day|hour|minute|second)s?")
_SECONDS = {"day": 86400, "hour": 3600, "minute": 60, "second": 1}
_JSON_PART = re.compile(
    r'"(majorVersion|minorVersion|patchVersion|buildNumber|hostName|ipv4Address)"\s*:\s*"?([\w.:-]{1,255})'
)


def parse_block(block: Block) -> Output:
    """Read one answer or sys_info file: a row for each place that states a version."""
    head = next((line.strip() for line in block.lines if line.strip()), "")
    if head.startswith("<"):
        root, faults = read_xml(block, PARSER.name)
        for element in root.find("globalInfo", "systemSummary"):
            yield from _make_version_row(block, element, element.child("versionInfo"))
            if element.tag == "systemSummary":
                yield from _read_load(block, element)
        for element in root.children:
            if element.tag == "versionInfo":
                yield from _make_version_row(block, element, element)
        yield from faults
    elif head.startswith(("{", '"versionInfo"', '"globalInfo"')):
        yield from _read_json(block)
    else:
        for item in read_rows(MANAGER, PARSER.name, block):
            if isinstance(item, Row):
                line = block.lines[item.line - block.first_line]
                item.values["source"] = "sys_info" if "System Version" in line else "extension"
            yield item


def _make_version_row(block: Block, element: Element, info: Element | None) -> Output:
    cells = version_cells(info)
    if not cells:
        return
    cells["hostname"] = element.child("hostName") or element.child("dnsName")
    cells["ip"] = element.child("ipv4Address")
    cells["source"] = "rest"
    # "2 days, 3 hours" in seconds, and what is no such text as it is
    text = element.get("uptime")
    found = _UPTIME.findall(text[:200])
    if not found:
        uptime = text
    else:
        seconds = sum(int(number[:9]) * _SECONDS[unit] for number, unit in found)
        uptime = str(seconds)
    cells["uptime_s"] = uptime
    yield from make_row(MANAGER, block, info or element, cells)


def _read_load(block: Block, summary: Element) -> Output:
    """Read what the system summary says of processors, memory and disk; nothing where it says nothing of them."""
    none = Element("", summary.line)
    cpu = summary.child("cpuInfoDto") or none
    memory = summary.child("memInfoDto") or none
    storage = summary.child("storageInfoDto") or none
    if not (cpu.children or memory.children or storage.children):
        return
    cells = {
        "hostname": summary.child("hostName") or summary.child("dnsName"),
        "cpus": cpu.child("totalNoOfCPUs"),
        "cpu_used_pct": cpu.child("usedPercentage"),
        "appliance_memory_mb": _convert_size(memory.child("totalMemory"), "M"),
        "memory_used_mb": _convert_size(memory.child("usedMemory"), "M"),
        "memory_used_pct": memory.child("usedPercentage"),
        "storage_gb": _convert_size(storage.child("totalStorage"), "G"),
        "storage_used_gb": _convert_size(storage.child("usedStorage"), "G"),
        "storage_used_pct": storage.child("usedPercentage"),
        "system_date": summary.child("currentSystemDate"),
    }
    yield from make_row(LOAD, block, summary, cells)


def _convert_size(element: Element | None, unit: str) -> Element | None:
    """Return a size ("16025 MB", "86G") in a unit; what is no size stays as it is: `make_row` reports it."""
    if element is None:
        return None
    found = _SIZE.fullmatch(element.text.strip())
    if found is None:
        return element
    size = float(found[1]) * _MB[found[2].upper()] / _MB[unit]
    if size < 1e5:
        text = f"{size:g}"
    else:
        text = f"{size:.0f}"
    return Element(element.tag, element.line, [text])


def _read_json(block: Block) -> Output:
    text = "\n".join(block.lines)
    found = dict(_JSON_PART.findall(text[: 1 << 20]))
    for part in _find_version_objects(text):
        for key, value in part.items():
            if isinstance(value, (str, int)):
                found[key] = str(value)
    version = [found.get(f"{part}Version", "") for part in ("major", "minor", "patch")]
    numbered = enumerate(block.lines, block.first_line)
    line = next(
        (number for number, text_line in numbered if "majorVersion" in text_line), block.first_line
    )
    if not all(part.isdigit() for part in version):
        why = "no versionInfo with major, minor and patch version"
        yield Fault(
            block.address, line, block.lines[line - block.first_line][:300], PARSER.name, why=why
        )
        return
    if text.lstrip().startswith("{"):
        try:
            json.loads(text)
        except RecursionError:
            yield fault_at(
                block, block.first_line, PARSER.name, "nested too deeply to be read as JSON"
            )
        except ValueError as error:
            row = block.first_line + min(getattr(error, "lineno", 1), len(block.lines)) - 1
            yield fault_at(block, row, PARSER.name, f"no JSON from here on: {error}"[:200])
    cells = {
        "version": ".".join(version),
        "build": found.get("buildNumber", ""),
        "source": "json",
        "hostname": found.get("hostName", ""),
        "ip": found.get("ipv4Address", ""),
    }
    yield from make_row(MANAGER, block, Element("versionInfo", line), cells)


def _find_version_objects(text: str) -> Iterator[dict[str, Any]]:
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
    tables=(MANAGER, LOAD),
    parse=parse_block,
    node="nsx_manager",
    files=(r"(?:^|/)sys_info$",),
    commands=(
        r"^\s*show version\s*$",
        r"/api/1\.0/appliance-management/(?:global/info|summary/system)\b",
    ),
    shape=(
        rf"(?:{xml_shape('globalInfo', 'systemSummary')}|^<versionInfo>"
        r'|^\s*System Version\s*:\s*\d+\.\d+\.\d+|^\s*\{?\s*"(?:versionInfo|globalInfo)"\s*:'
        r"|^.{0,200}\bcom\.vmware\.vShieldManager\b)"
    ),
    body=rf'(?:{XML_BODY}|^\s*[{{}}"\]]|^\s*\w[\w ]{{1,39}}:\s)',
)

MADE = SITE  # of what all members of a site say of one another
