"""What a tree is: an ESXi host, an NSX Manager, a controller, an Edge, a vCenter, or loose files.

Known by marker members and by what they hold, as they stream by. A name alone never makes a kind, with
one exception that says so: an NSX Edge bundle, whose inside no public source describes. Sources of the
markers: vm-support manifests of ESXi 6.7 and bundles of 6.x to 8.x, NSX API documents, the list of
support bundle paths of NSX 4.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache

HEAD_BYTES = 4096  # of a marker member; more is not needed

# ESXi: esx-<host>-<date>--<time>[-<pid>]; the stamp is UTC. 4.x: vm-support-<host>-<date>.<pid>.
_ESXI_TOP = re.compile(
    r"(?P<prefix>esx|vc\w*)-(?P<host>.+)-(?P<day>\d{4}-\d\d-\d\d)--(?P<hour>\d\d)\.(?P<minute>\d\d)(?:-\d+)?$"
)
_ESX4_TOP = re.compile(
    r"vm-support-(?P<host>.+?)-(?P<day>\d{4}-\d\d-\d\d)(?:--(?P<hour>\d\d)\.(?P<minute>\d\d))?\.\d+$"
)
_FROM_VCENTER = re.compile(r"(?P<host>.+)-vm\d{4}-\d\d?-\d\d?@\d\d?-\d\d-\d\d\.(?:tgz|zip)$")
_VCENTER_EXPORT = re.compile(r"VMware-vCenter-support-\d{4}-\d\d-\d\d@\d\d-\d\d-\d\d\.zip$")
_NSX_AGGREGATED = re.compile(
    r"VMware-NSX-TechSupport-Bundle-\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d(?:\.tar\.gz|\.tgz)?$"
)
_NSX_EDGE = re.compile(
    r"NSX_Edge_Support_(?P<edge>edge-\d+)(?:_(?P<day>\d{6})_(?P<clock>\d{6})GMT(?P<zone>[+-]\d\d:?\d\d))?"
    r"(?:\.log)?(?:\.gz|\.tgz)?$"
)
# Folders of a vm-support bundle: what no parser takes there is listed, not guessed at.
LAYOUT = re.compile(
    r"^(?:[^/]+/)?(?:commands|json|etc|var|proc|bootbank|altbootbank|vmfs|usr|tmp|scratch|opt|lib|boot|dev"
    r"|snapshot-\d+)/"
)
_GLOG = rb"^[DIWEF]\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ \S+:\d+\]"
_LOG4J = rb"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} +\d+ \["
_NSX_STAMP = rb"\[nsx(?:@6876)? "


_START = "(?:^|/)"  # of a name in a path


@dataclass(frozen=True, slots=True)
class Kind:
    """What a tree is and how that is known.

    kind      esxi, nsx_manager, nsx_controller, nsx_edge, nsxt_manager, nsxt_edge, nsx_t, vcenter or loose
    product   a few words ("vm-support 5.x or later", "NSX-T manager"), "" for loose files
    host      name of the node, from its own files or the top directory, "" when unknown
    captured  ISO 8601 UTC stamp of the capture, "" when unknown
    why       the markers that were met
    """

    kind: str
    product: str = ""
    host: str = ""
    captured: str = ""
    why: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Marker:
    """A member that speaks for a kind: pattern of its name, and of what its head must hold, b"" for anything."""

    name: str
    kind: str
    weight: int
    product: str = ""
    holds: bytes = b""


_NEW, _OLD = "vm-support 5.x or later", "vm-support 4.x"
_MANAGER, _CONTROLLER = "NSX for vSphere Manager", "NSX for vSphere Controller"
_EDGE = "NSX for vSphere Edge"
_T_MANAGER, _T_EDGE = "nsxt_manager", "nsxt_edge"
_ENOUGH = 2  # points that make a kind; one alone (esx.conf, error.log) occurs elsewhere too
_MARKERS = (
    _Marker(r"commands/vmware_-vl\.txt$", "esxi", 3, _NEW, rb"^VMware ESX"),
    _Marker(r"commands/uname_-a\.txt$", "esxi", 2, _NEW, rb"^VMkernel \S+ \d"),
    _Marker(r"README$", "esxi", 2, _NEW, rb"^vm-support version:"),
    _Marker(r"etc/vmware/vm-support/", "esxi", 2, _NEW),
    _Marker(r"etc/vmware/esx\.conf$", "esxi", 1),
    _Marker(r"error\.log$", "esxi", 1),
    _Marker(r"action\.log$", "esxi", 1, _NEW, rb" took \d"),
    _Marker(r"commands/(?:localcli_|vsi_traverse_|esxcfg-info_)", "esxi", 2, _NEW),
    _Marker(r"commands/(?:nicinfo\.sh|net-stats_-l|esxcfg-vswitch_-l)\.txt", "esxi", 2, _NEW),
    _Marker(r"var/(?:run/)?log/(?:vmkernel|vobd|hostd|vpxa|vmkwarning)\.log$", "esxi", 1),
    _Marker(r"esxtopshots/esxtop-", "esxi", 2, _OLD),
    _Marker(r"var/log/vmkwarning$", "esxi", 1, _OLD),
    _Marker(r"sys_info$", "nsx_manager", 3, _MANAGER, rb"^\s*System Version:"),
    _Marker(r"logs/vsm\.log", "nsx_manager", 2, _MANAGER),
    _Marker(r"preupgradeslot/", "nsx_manager", 2, _MANAGER),
    _Marker(r"logs/threaddump/threaddump[_.]top$", "nsx_manager", 2, _MANAGER),
    _Marker(
        r"cloudnet/cloudnet_java-[\w-]+\.\d{8}-\d{6}\.\d+\.log", "nsx_controller", 3, _CONTROLLER
    ),
    _Marker(r"cloudnet_[\w-]+\.\d{8}-\d{6}\.\d+\.log", "nsx_controller", 2, _CONTROLLER, _LOG4J),
    _Marker(r"[\w.-]*\.?INFO\.\d{8}-\d{6}\.\d+$", "nsx_controller", 2, _CONTROLLER, _GLOG),
    _Marker(r"proton(?:-tomcat)?/nsxapi\.log", _T_MANAGER, 3, "NSX-T manager"),
    _Marker(r"cloudnet/nsx-ccp(?:-transaction)?\.log", _T_MANAGER, 3, "NSX-T manager"),
    _Marker(
        r"(?:corfu/corfu\.9000|policy/policy|proxy/reverse-proxy)\.log",
        _T_MANAGER,
        2,
        "NSX-T manager",
    ),
    _Marker(r"global-manager/gmanager\.log", _T_MANAGER, 2, "NSX-T global manager"),
    _Marker(
        r"var/log/syslog(?:\.1)?$",
        _T_MANAGER,
        2,
        "NSX-T manager",
        rb'\[nsx(?:@6876)? [^\]]*\bcomp="nsx-manager"',
    ),
    _Marker(
        r"var/log/syslog(?:\.1)?$",
        _T_EDGE,
        2,
        "NSX-T edge",
        rb'\[nsx(?:@6876)? [^\]]*\bcomp="nsx-edge"',
    ),
    _Marker(r"(?:frr/frr|rcpm/frr-(?:config|reload))\.log", _T_EDGE, 2, "NSX-T edge"),
    _Marker(r"var/log/lb/[0-9a-f-]{36}/", _T_EDGE, 2, "NSX-T edge"),
    _Marker(r"nsx-audit\.log", "nsx_t", 2, "", _NSX_STAMP),
    _Marker(
        r"usr/lib/vmware-sca/conf/vc-support\.properties$", "vcenter", 4, "vCenter Server Appliance"
    ),
    _Marker(r"var/log/vmware/vpxd/vpxd-?\d*\.log", "vcenter", 2, "vCenter Server"),
)
_IDLE = 100  # to make a pattern takes as long as to look at so many members
_README = re.compile(r"^(Captured on|vm-support version|Bundle name|Options): *(.*)$", re.MULTILINE)
_SYSTEM = re.compile(r"^\s*System Version: *(.+)$", re.MULTILINE)


@cache
def _match_any_but(met: frozenset[int]) -> re.Pattern[str]:
    """Return what finds any marker but some; those that look into a file are kept, as they give hints as well."""
    left = [
        f"(?:{one.name})" for number, one in enumerate(_MARKERS) if number not in met or one.holds
    ]
    return re.compile(f"{_START}(?:{'|'.join(left)})")


@dataclass(slots=True)
class _Tree:
    points: dict[str, int] = field(default_factory=dict)
    products: dict[str, str] = field(default_factory=dict)
    why: list[str] = field(default_factory=list)
    met: set[int] = field(default_factory=set)
    hints: dict[str, str] = field(default_factory=dict)
    idle: int = 0  # members with markers that were met before, since `left` was made
    left: re.Pattern[str] = field(default_factory=lambda: _match_any_but(frozenset()))


class KindFinder:
    """Learns what the trees of a case are while their members stream by.

    `needs_head` says for which members the head is worth a look; `see_member` takes each member once; after that
    (or at any time before, with what is known by then) `find_kind`, `find_host` and `find_hints` answer.
    """

    def __init__(self) -> None:
        self._trees: dict[str, _Tree] = {}

    @staticmethod
    def needs_head(path: str) -> bool:
        """Say whether `see` needs the first bytes of this member."""
        return _match_heads().search(path) is not None

    @staticmethod
    def is_edge_log(path: str) -> bool:
        """Say whether a file is the text of an Edge, which the Manager names after it: a machine of its own."""
        return _NSX_EDGE.match(path.rpartition("/")[2]) is not None

    def see_member(self, root: str, path: str, head: bytes = b"") -> None:
        """Take notice of a member: the key of its tree, its path in it, its first 4 KiB where wanted."""
        tree = self._trees.setdefault(root, _Tree())
        if not tree.left.search(path):
            return
        new = sorted(find_markers(path) - tree.met)
        if not new:
            tree.idle += 1
        if tree.idle > _IDLE:  # a bundle holds thousands of outputs of one command
            tree.left, tree.idle = _match_any_but(frozenset(tree.met)), 0
        for number in new:
            marker = _MARKERS[number]
            if marker.holds and not re.search(marker.holds, head[:HEAD_BYTES], re.MULTILINE):
                continue
            tree.met.add(number)
            tree.points[marker.kind] = tree.points.get(marker.kind, 0) + marker.weight
            tree.why.append(path)
            if marker.product:
                tree.products.setdefault(marker.kind, marker.product)
        if head:
            # Keep what a marker says about its host
            text = head[:HEAD_BYTES].decode("utf-8", "replace")
            if path.endswith("README"):
                for name, value in _README.findall(text):
                    tree.hints.setdefault(name.lower(), value.strip())
            elif path.endswith("uname_-a.txt") and (host := re.match(r"VMkernel (\S+) \d", text)):
                tree.hints.setdefault("host", host[1])
            elif path.endswith("sys_info") and (version := _SYSTEM.search(text)):
                tree.hints.setdefault("system version", version[1].strip())

    def find_kind(self, root: str) -> Kind:
        """Return what the tree is, with host and time of capture where they are known."""
        tree = self._trees.get(root, _Tree())
        kind = max(
            tree.points, key=lambda name: (tree.points[name], name != "nsx_t"), default="loose"
        )
        *archives, last = root.split("!")
        top, outer = (
            last.rpartition("/")[2],
            [name.rpartition("/")[2] for name in reversed(archives)],
        )
        points = tree.points.get(kind, 0)
        if kind == "esxi" and (_ESXI_TOP.match(top) or _ESX4_TOP.match(top)):
            points += 1  # the name of the tree and one marker: part of a bundle
        if points < _ENOUGH:
            names = [top, *outer]
            for name in names:
                found = _NSX_EDGE.match(name)
                if found is None:
                    continue
                captured = ""
                day, clock, zone = found.group("day", "clock", "zone")
                if day and zone.strip("+-").replace(":", "") == "0000":  # MMDDYY_HHMMSS of GMT
                    date = f"20{day[4:]}-{day[:2]}-{day[2:4]}"
                    captured = f"{date}T{clock[:2]}:{clock[2:4]}:{clock[4:]}Z"
                return Kind("nsx_edge", _EDGE, found["edge"], captured, why=(found.group(),))
            return Kind("loose")
        host, captured = _read_names(kind, top, outer)
        host = tree.hints.get("host") or host
        product = tree.products.get(kind, "")
        if kind == "esxi":
            found = re.match(
                r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)", tree.hints.get("captured on", "")
            )
            captured = (f"{found[1]}T{found[2]}Z" if found else "") or captured
            product = product or _NEW
        return Kind(kind, product, host, captured, tuple(tree.why))

    def is_sure(self, root: str) -> bool:
        """Say whether a tree is of some kind, whatever comes: markers only add to what is known."""
        tree = self._trees.get(root)
        return tree is not None and any(points >= _ENOUGH for points in tree.points.values())

    def find_host(self, root: str) -> str:
        """Return the name of the node a tree comes from, "" when unknown."""
        return self.find_kind(root).host

    def find_hints(self, root: str) -> dict[str, str]:
        """Return what markers say: `captured on`, `vm-support version`, `options`, `system version`."""
        return dict(self._trees.get(root, _Tree()).hints)

    def list_roots(self) -> list[str]:
        """Return the trees seen so far."""
        return list(self._trees)


@cache
def _match_heads() -> re.Pattern[str]:
    return re.compile(f"{_START}(?:{'|'.join(f'(?:{one.name})' for one in _MARKERS if one.holds)})")


def find_markers(path: str) -> set[int]:
    """Return the numbers of the markers whose names are in a path."""
    found: set[int] = set()
    for place in _match_each().finditer(path):
        found.update(number for number, group in enumerate(place.groups()) if group is not None)
    return found


@cache
def _match_each() -> re.Pattern[str]:
    """All markers at the start of a name, a group for each, set where it is met."""
    return re.compile(_START + "".join(f"(?:(?=({one.name})))?" for one in _MARKERS))


def name_wrapper(address: str) -> str:
    """Return what an archive is by its name, for display: a vCenter export, an NSX bundle, or ""."""
    name = address.rpartition("!")[2].rpartition("/")[2]
    if _VCENTER_EXPORT.match(name):
        return "vCenter export of host bundles"
    if _NSX_AGGREGATED.match(name):
        return "aggregated NSX technical support bundle"
    return ""


def _read_names(kind: str, top: str, outer: list[str]) -> tuple[str, str]:
    """Return (host, captured) as the top directory, or else the archive around it, names them."""
    if kind not in ("esxi", "vcenter"):
        return "", ""
    for name in (top, *(re.sub(r"\.(?:tgz|tar\.gz|tar|zip)$", "", name) for name in outer)):
        if found := _ESXI_TOP.match(name) or _ESX4_TOP.match(name):
            host, day, hour, minute = found.group("host", "day", "hour", "minute")
            return host, f"{day}T{hour}:{minute}:00Z" if hour else ""
    for name in outer:
        if found := _FROM_VCENTER.match(name):
            return found["host"], ""
    return "", ""
