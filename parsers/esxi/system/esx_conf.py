"""`etc/vmware/esx.conf`: host name, version, changed advanced options, teaming of standard switches.

Lines are `/path = "value"`. It shrinks in 7.x and later (config store) and holds changed values only, so an
absent line says nothing. Of `/net/vswitch` the keys of a published 5.x file are read; for
`linkCriteria/beacon` only the value "ignore" is published, another one is reported.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container
from dataclasses import dataclass, field

from analyzer.artefacts.parsing import Output, Parser, fault_at, run_template
from analyzer.artefacts.tables import Block, Fault, Value

from ...common._host import HOST, VERSION, make_host_row, make_version_row
from ..network._switches import TEAMING, make_row
from ._options import OPTIONS, option_row, read_integer

_SWITCH = re.compile(
    r"/net/vswitch/child\[(\d{4})\]/(?:portgroup/child\[(\d{4})\]/)?(?!portgroup/child\[)(.+)$"
)
_UPLINK = re.compile(r"(?:teamPolicy/uplinks\[(\d{4})\]|uplinks/child\[(\d{4})\])/pnic$")
# lb_srcid is published; the others follow the names of the vSphere API (loadbalance_ip, …)
_TEAM = {"lb_srcid": "portid", "lb_srcmac": "mac", "lb_ip": "iphash", "explicit": "explicit"}
_BOOL = {"true": True, "false": False}


@dataclass(slots=True)
class _Group:
    """A standard switch (group "") or a port group of it: its keys, and its uplinks in order."""

    keys: dict[str, tuple[str, int]] = field(default_factory=dict)
    uplinks: dict[str, str] = field(default_factory=dict)

    def get(self, key: str) -> str:
        return self.keys.get(key, ("", 0))[0]


def parse_block(block: Block) -> Output:
    """Read the file; keys that no table wants are passed over, lines of another form are faults."""
    groups: dict[tuple[str, str], _Group] = defaultdict(_Group)
    for record in run_template(PARSER.name, block):
        if isinstance(record, Fault):
            yield record
            continue
        path = str(record.values["PATH"])
        text = str(record.values["TEXT"])
        if path == "/resourceGroups/version":
            yield make_version_row(block, record.line, "esx.conf", {"version": text})
        elif path == "/adv/Misc/HostName" and text:
            yield make_host_row(block, record.line, "esx.conf", text)
        elif path.startswith("/adv/"):
            number = read_integer(text)
            values: dict[str, Value] = {"option": path.removeprefix("/adv"), "value": number}
            values |= {
                "text": text if number is None else None,
                "delta_only": True,
                "changed": True,
            }
            yield option_row(block, record.line, values)
        elif match := _SWITCH.match(path):
            group = groups[match[1], match[2] or ""]
            if uplink := _UPLINK.match(match[3]):
                group.uplinks[match[3] if uplink[1] else f"~{match[3]}"] = text
            elif match[3].endswith("/pnic"):
                yield fault_at(
                    block, record.line, PARSER.name, "the place of the uplink is not a number"
                )
            else:
                group.keys[match[3]] = (text, record.line)
        elif path.startswith("/net/vswitch/child["):
            yield fault_at(
                block,
                record.line,
                PARSER.name,
                "the number of a switch or port group is not a number",
            )
    yield from _read_teaming(block, groups)


def _read_teaming(block: Block, groups: dict[tuple[str, str], _Group]) -> Output:
    for (switch, number), group in sorted(groups.items()):
        policy = {key: found for key, found in group.keys.items() if key.startswith("teamPolicy/")}
        if not policy:
            continue
        if (switch, "") in groups:
            parent = groups[switch, ""]
        else:
            parent = _Group()
        beacon = group.get("teamPolicy/linkCriteria/beacon")
        if beacon not in ("", "ignore"):
            _, line = policy["teamPolicy/linkCriteria/beacon"]
            source = block.lines[line - block.first_line]
            why = f"what beacon = {beacon!r} means is not published"
            yield Fault(block.address, line, source, PARSER.name, why=why)
        # A fault for each value of a policy whose meaning is not known
        meanings: dict[str, Container[str]] = {
            "teamPolicy/team": _TEAM,
            "teamPolicy/notifySwitch": _BOOL,
        }
        for key, (text, line) in policy.items():
            if not text:
                continue
            if key in meanings and text not in meanings[key]:
                yield fault_at(
                    block, line, PARSER.name, f"what {key} = {text!r} means is not known"
                )
            elif key == "teamPolicy/maxActive" and read_integer(text) is None:
                yield fault_at(block, line, PARSER.name, f"{key} is not a number: {text!r}")

        uplinks = _order_uplinks(group) or _order_uplinks(parent)
        most = read_integer(group.get("teamPolicy/maxActive"))
        active, standby = uplinks, list[str]()
        if most is not None:
            active = uplinks[:most]
            standby = uplinks[len(active) :]
        values: dict[str, Value] = {
            "switch": parent.get("name") or None,
            "portgroup": (group.get("name") or None) if number else None,
            "failure_detection": "link" if beacon == "ignore" else None,
            "load_balancing": _TEAM.get(group.get("teamPolicy/team")),
            "notify_switches": _BOOL.get(group.get("teamPolicy/notifySwitch")),
            "active_uplinks": ",".join(active) or None,
            "standby_uplinks": ",".join(standby) or None,
            "n_uplinks": len(uplinks) or None,
        }
        first = min(line for _, line in policy.values())
        yield make_row(TEAMING, block, first, values)


def _order_uplinks(group: _Group) -> list[str]:
    """Return the uplinks of the team policy in their order, else those of the switch."""
    ordered = sorted(group.uplinks.items())
    team = [pnic for key, pnic in ordered if not key.startswith("~")]
    return team or [pnic for _, pnic in ordered]


PARSER = Parser(
    name="esx_conf",
    tables=(HOST, VERSION, OPTIONS, TEAMING),
    parse=parse_block,
    node="esxi",
    files=(r"(?:^|/)etc/vmware/esx\.conf$",),
    commands=(r"\b(?:cat|more|less|grep)\s.*/?etc/vmware/esx\.conf\b",),
    body=r'^\s*/[\w/\[\]:.@~+-]+\s*=\s*".*"\s*$',
)
