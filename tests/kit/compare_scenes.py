"""Scenes for comparisons: two or more moments of synthetic hosts, each with what is true of them.

A truth is a list of claims that `scene_judge.py` reads with no code of the product: it knows the written documents only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.kit.compare_kit import HostMoment, Vm
from tools.case_pack import tgz

DAY = 86_400
FIRST, SECOND, THIRD = "2017-10-14 16:53:20", "2017-10-16 16:53:20", "2017-10-18 16:53:20"
UP, UP_LATER, UP_LAST = 41 * DAY, 43 * DAY, 45 * DAY
MAC, OTHER_MAC = "00:50:56:a6:81:01", "00:50:56:a6:81:02"
UUID, OTHER_UUID = (
    "56 4d 00 00 00 00 00 01-00 00 00 00 00 00 00 01",
    "56 4d 00 00 00 00 00 02-00 00 00 00 00 00 00 02",
)
NICS = {"vmnic0": "00:25:90:aa:82:00", "vmnic1": "00:25:90:aa:82:01"}
PLACEHOLDERS = (
    "To be filled by O.E.M.",
    "To Be Filled By O.E.M.",
    "0123456789",
    "123456789",
    "Default string",
    "System Serial Number",
    "Not Specified",
    "None",
    "00000000",
    "INVALID",
)
VENDOR_UUIDS = (
    "03000200-0400-0500-0006-000700080009",
    "00000000-0000-0000-0000-000000000000",
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
    "{03000200-0400-0500-0006-000700080009}",
)
VOBD = "var/run/log/vobd.log"
Claim = list[Any]


@dataclass(slots=True)
class Side:
    """What one side holds: hosts with their bundles, and loose files beside them; `cut` keeps a part of each bundle."""

    hosts: list[HostMoment] = field(default_factory=list)
    loose: dict[str, str] = field(default_factory=dict)
    cut: float = 1.0
    without: str = ""  # members of the bundles that match are left out

    def write(self, folder: Path) -> Path:
        """Write the side and return its folder."""
        folder.mkdir(parents=True)
        for number, host in enumerate(self.hosts):
            for name, body in host.files().items():
                data = body.encode() if isinstance(body, str) else body
                if name.endswith(".tgz") and (self.cut < 1 or self.without):
                    data = self._damage(host)
                (folder / f"{number}-{name}").write_bytes(data)
        for name, text in self.loose.items():
            (folder / name).write_text(text, encoding="utf-8")
        return folder

    def _damage(self, host: HostMoment) -> bytes:
        files = {
            f"esx-{host.name}-2017-10-14--16.53-71234/{name}": body
            for name, body in {**host.base(), **host.commands(), **host.extra}.items()
            if not (self.without and re.search(self.without, name))
        }
        return tgz(files, cut=self.cut)


@dataclass(slots=True)
class Scene:
    """Sides in their true order, and what is true of them; of one side alone a triage is judged."""

    name: str
    sides: list[Side]
    truth: list[Claim]
    words: tuple[str, ...] = ()


Maker = Callable[[], Iterator[Scene]]


def first(**more: Any) -> HostMoment:
    """Return the host at the first capture."""
    return HostMoment(**{"captured": FIRST, "uptime": UP, **more})


def later(**more: Any) -> HostMoment:
    """Return the host two days later, not rebooted."""
    return HostMoment(**{"captured": SECOND, "uptime": UP_LATER, **more})


def strange(**more: Any) -> dict[str, Any]:
    """Return the marks of another machine."""
    return {"name": "esx82.lab.example", "serial": "SYN0000082", "nics": NICS, **more}


def pair(one: HostMoment, other: HostMoment) -> list[Side]:
    """Return two sides of a host each."""
    return [Side([one]), Side([other])]


def firmware(uuid: str, serial: str = "") -> dict[str, str]:
    """Return what smbiosDump prints of the system."""
    text = f'  System Info (Type 1): #1\n    Manufacturer: "Synth"\n    UUID: {uuid}\n'
    if serial:
        text += f'    Serial: "{serial}"\n'
    return {"commands/smbiosDump.txt": text}


def web(**more: Any) -> Vm:
    """Return the VM of most scenes."""
    return Vm(
        **{"name": "web01", "mac": MAC, "port": 33554470, "uuid": UUID, "missed": 4_000, **more}
    )


def watchdog(*times: str, quiet: str = "") -> dict[str, str]:
    """Return a vobd.log with a reset of a NIC at some times, and a line without trouble at its begin."""
    head = (
        "[netCorrelator] 3541602000000us: [vob.net.vmnic.linkstate.up] vmnic vmnic0 linkstate up\n"
    )
    line = (
        "[netCorrelator] 3541602000000us: [esx.problem.net.vmnic.watchdog.reset] Uplink vmnic3 has recovered from a "
        "transient failure due to watchdog timeout\n"
    )
    text = f"{quiet}Z: {head}" if quiet else ""
    return {VOBD: text + "".join(f"{time}Z: {line}" for time in times)}


def typed(host: str, *said: tuple[str, str]) -> str:
    """Return a session of commands and their answers."""
    return "".join(f"[root@{host}:~] {command}\n{answer}\n" for command, answer in said)


def nic_stats(received: int, dropped: int) -> tuple[str, str]:
    """Return the counters of vmnic0 as somebody asked for them."""
    text = (
        f"NIC statistics for vmnic0\n   Packets received: {received}\n   Receive packets dropped: {dropped}\n"
        "   Total receive errors: 0"
    )
    return "esxcli network nic stats get -n vmnic0", text


# -- who is who ----------------------------------------------------------------------------------------------


def make_placeholders() -> Iterator[Scene]:
    """Yield hosts that share what nobody filled in: they stay two."""
    for number, text in enumerate(PLACEHOLDERS):
        sides = pair(first(serial=text), first(**strange(serial=text)))
        yield Scene(f"placeholder serial {number}", sides, [["mode", "hosts"]])
    for number, uuid in enumerate(VENDOR_UUIDS):
        one = first(serial="0123456789", extra=firmware(uuid, "0123456789"))
        two = first(**strange(serial="0123456789", extra=firmware(uuid, "0123456789")))
        yield Scene(f"vendor UUID {number}", pair(one, two), [["mode", "hosts"]])
    both = [
        first(extra=firmware(VENDOR_UUIDS[0], "0123456789"), serial="0123456789"),
        first(**strange(serial="0123456789", extra=firmware(VENDOR_UUIDS[0], "0123456789"))),
    ]
    after = [replace(one, captured=SECOND, uptime=UP_LATER) for one in both]
    yield Scene(
        "vendor UUID, two hosts on each side",
        [Side(both), Side(after)],
        [
            ["machines", 2],
            ["paired", "esx81.lab.example", "esx81.lab.example", "NICs"],
            ["paired", "esx82.lab.example", "esx82.lab.example", "NICs"],
        ],
    )


def make_identities() -> Iterator[Scene]:
    """Yield hosts that are the same, or are not, by their sure marks."""
    yield Scene(
        "renamed host",
        pair(first(), later(name="esx99.lab.example")),
        [["mode", "time"], ["paired", "esx81.lab.example", "esx99.lab.example", "serial"]],
    )
    yield Scene(
        "renamed host, no serial",
        pair(first(serial="None"), later(serial="None", name="esx99.lab.example")),
        [["mode", "time"], ["paired", "esx81.lab.example", "esx99.lab.example", "NICs"]],
    )
    yield Scene(
        "same name, other hardware",
        pair(first(), later(**strange(name="esx81.lab.example"))),
        [
            ["mode", "hosts"],
            ["not paired by name"],
            ["says", r"(?i)esx81\.lab\.example.*other hardware|replaced"],
        ],
    )
    yield Scene(
        "same name, other hardware, beside a host that stayed",
        [
            Side([first(), first(**strange())]),
            Side(
                [
                    later(serial="SYN0000099", nics={"vmnic0": "00:25:90:aa:99:00"}),
                    later(**strange()),
                ]
            ),
        ],
        [
            ["mode", "time"],
            ["paired", "esx82.lab.example", "esx82.lab.example", "serial"],
            ["paired", "esx81.lab.example", None, ""],
            ["paired", None, "esx81.lab.example", ""],
            ["says", r"esx81\.lab\.example.*replaced"],
        ],
    )
    yield Scene(
        "another board, the same cards",
        pair(first(), later(serial="SYN0000999")),
        [["mode", "time"], ["paired", "esx81.lab.example", "esx81.lab.example", "NICs"]],
    )
    yield Scene(
        "all cards replaced",
        pair(first(), later(nics=NICS)),
        [["mode", "time"], ["paired", "esx81.lab.example", "esx81.lab.example", "serial"]],
    )
    local = {"name": "localhost", "serial": "None"}
    yield Scene(
        "two hosts called localhost",
        pair(first(**local), later(**{**strange(), **local})),
        [["mode", "hosts"], ["not paired by name"]],
    )
    yield Scene(
        "localhost that got its name",
        pair(first(name="localhost"), later()),
        [["mode", "time"], ["paired", "localhost", "esx81.lab.example", "serial"]],
    )
    loose = dict.fromkeys(
        ("nic.txt",),
        "NIC statistics for vmnic0\n   Packets received: 5\n   Receive packets dropped: 0\n",
    )
    yield Scene(
        "loose files on both sides",
        [Side([], loose), Side([], {"nic.txt": loose["nic.txt"].replace(": 5", ": 9")})],
        [["paired by", "assumed"], ["says", "assumed"]],
    )
    yield Scene(
        "two different hosts, one each",
        pair(first(), later(**strange())),
        [["mode", "hosts"], ["paired by", "two hosts"]],
    )


def make_vms() -> Iterator[Scene]:
    """Yield VMs that are the same, or are not."""
    gone = [["no counter", "out_of_buffers", "web01"], ["thing", "web01", "replaced"]]
    yield Scene(
        "VM made anew",
        pair(first(vms=[web()]), later(vms=[web(uuid=OTHER_UUID, mac=OTHER_MAC, missed=10)])),
        [
            *gone,
            ["no thing", "web01", "gone"],
            ["no thing", "web01", "new"],
            ["says", "web01.*replaced"],
            ["finding", "web01", "replaced", "another one"],
            ["no state", "gone"],
        ],
    )
    for missed, why in (
        (0, "without this finding"),
        (4_000, "another one"),
        (400_000, "another one"),
    ):
        anew = web(uuid=OTHER_UUID, mac=OTHER_MAC, missed=missed)
        yield Scene(
            f"VM made anew, {missed} misses of the new one",
            pair(first(vms=[web()]), later(vms=[anew])),
            [
                *gone,
                ["finding", "web01", "replaced", why],
                ["no state", "new"],
                ["no state", "gone"],
            ],
        )
    path = "/vmfs/volumes/59e1f0aa-1b2c3d4e-0005-002590aa8101/web01_1/web01.vmx"
    yield Scene(
        "VM made anew in another folder",
        pair(
            first(vms=[web()]),
            later(vms=[web(uuid=OTHER_UUID, mac=OTHER_MAC, path=path, port=33554477)]),
        ),
        gone,
    )
    yield Scene(
        "VM made anew, port of the same number",
        pair(
            first(vms=[web(), Vm("db01", "00:50:56:a6:81:09", 33554471, "56 4d 09", world=35009)]),
            later(
                vms=[
                    web(uuid=OTHER_UUID, mac=OTHER_MAC),
                    Vm("db01", "00:50:56:a6:81:09", 33554471, "56 4d 09", world=35009),
                ]
            ),
        ),
        [*gone, ["no thing", "db01", "replaced"]],
    )
    yield Scene(
        "VM with another UUID and its old address",
        pair(first(vms=[web()]), later(vms=[web(uuid=OTHER_UUID, missed=4_100)])),
        [["no thing", "web01", "replaced"], ["counter", "out_of_buffers", "web01", None, 100]],
    )
    yield Scene(
        "vNIC replaced",
        pair(first(vms=[web()]), later(vms=[web(mac=OTHER_MAC, port=33554480, missed=10)])),
        [["no counter", "out_of_buffers", "web01"], ["thing", "web01.*", "replaced"]],
    )
    yield Scene(
        "VM renamed",
        pair(first(vms=[web()]), later(vms=[web(name="web-new")])),
        [["no thing", "web", "gone"], ["no thing", "web", "new"], ["says", "now called web-new"]],
    )
    yield Scene(
        "VM on another datastore",
        pair(first(vms=[web()]), later(vms=[web(path=path)])),
        [
            ["no thing", "web01", "gone"],
            ["no thing", "web01", "replaced"],
            ["counter", "out_of_buffers", "web01", None, 0],
        ],
    )
    clone = Vm(
        "web02", "00:50:56:a6:81:07", 33554472, UUID, world=35002, missed=7_000
    )  # copied with its UUID
    yield Scene(
        "clone with the same UUID",
        pair(first(vms=[web(), clone]), later(vms=[web(missed=4_100), clone])),
        [
            ["counter", "out_of_buffers", "web01", None, 100],
            ["counter", "out_of_buffers", "web02", None, 0],
            ["no thing", "web0", "gone"],
        ],
    )
    yield Scene(
        "VM removed, another made",
        pair(
            first(vms=[web()]),
            later(vms=[Vm("db01", OTHER_MAC, 33554470, OTHER_UUID, missed=3)]),
        ),
        [
            ["thing", "web01", "gone"],
            ["thing", "db01", "new"],
            ["no counter", "out_of_buffers", ""],
        ],
    )
    yield Scene(
        "VM moved",
        [
            Side([first(vms=[web()]), first(**strange())]),
            Side([later(), later(**strange(vms=[web(port=33554499, missed=100)]))]),
        ],
        [["thing", "web01", "moved"], ["no thing", "web01", "gone"]],
    )


# -- what a side could see -----------------------------------------------------------------------------------


def make_sight() -> Iterator[Scene]:
    """Yield findings and things that a later side lacks, where it could see them and where it could not."""
    lines = ("2017-10-14T16:40:02.101",)
    yield Scene(
        "log rotated",
        pair(first(extra=watchdog(*lines)), later(extra=watchdog(quiet="2017-10-16T12:00:00.101"))),
        [
            ["finding", "watchdog|vmnic3", "no longer judged", "2017-10-16T12:00:00Z"],
            ["no state", "gone"],
        ],
    )
    yield Scene(
        "log rotated after the first capture, an hour later",
        pair(first(extra=watchdog(*lines)), later(extra=watchdog(quiet="2017-10-14T18:00:00.101"))),
        [["finding", "watchdog|vmnic3", "no longer judged", "2017-10-14T18:00:00Z"]],
    )
    yield Scene(
        "log reaches back to the first capture",
        pair(first(extra=watchdog(*lines)), later(extra=watchdog(quiet="2017-10-14T16:50:00.101"))),
        [["finding", "watchdog|vmnic3", "gone", ""]],
    )
    yield Scene(
        "log still has the lines",
        pair(first(extra=watchdog(*lines)), later(extra=watchdog(*lines))),
        [["finding", "watchdog|vmnic3", "same", "older"]],
    )
    yield Scene(
        "new lines",
        pair(
            first(extra=watchdog(quiet="2017-10-01T12:00:00.101")),
            later(extra=watchdog("2017-10-15T01:00:00.101", quiet="2017-10-01T12:00:00.101")),
        ),
        [["finding", "watchdog|vmnic3", "new", ""]],
    )
    yield Scene(
        "log missing later",
        [Side([first(extra=watchdog(*lines))]), Side([later()], without="vobd")],
        [["finding", "watchdog|vmnic3", "no longer judged", ""], ["no state", "gone"]],
    )
    vms = [web(), Vm("db01", "00:50:56:a6:81:09", 33554471, "56 4d 09", world=35009)]
    yield Scene(
        "no list of VMs later",
        [
            Side([first(vms=vms)]),
            Side([later(vms=vms)], without="vm-process|net-stats|vmfs/"),
        ],
        [["no thing", "web01|db01", "gone"], ["no state", "gone"]],
    )
    many = [
        Vm(
            f"vm{n:03d}",
            f"00:50:56:a6:9{n % 10}:{n // 10:02x}",
            0,
            f"56 4d {n:03x}",
            world=37000 + n,
        )
        for n in range(300)
    ]
    yield Scene(
        "archive ends inside the list of VMs",
        [
            Side([first(vms=many)], without="vmfs/"),
            Side([later(vms=many)], cut=0.8, without="vmfs/"),
        ],
        [["no thing", "vm", "gone"]],
    )
    yield Scene(
        "later archive cut before the list",
        [Side([first(vms=vms)]), Side([later(vms=vms)], cut=0.5)],
        [["no thing", "web01|db01", "gone"], ["no state", "gone"]],
    )
    yield Scene(
        "earlier archive cut",
        [Side([first(vms=vms)], cut=0.5), Side([later(vms=vms)])],
        [["no thing", "web01|db01", "new"]],
    )
    yield Scene(
        "VM off the host, both whole",
        pair(first(vms=vms), later(vms=vms[:1])),
        [["thing", "db01", "gone"], ["no thing", "web01", "gone"]],
    )
    yield Scene(
        "VM new on the host, both whole",
        pair(first(vms=vms[:1]), later(vms=vms)),
        [["thing", "db01", "new"]],
    )
    crc = [Side([first(crc=50_000)]), Side([later(crc=50_000)], without="nicinfo")]
    yield Scene(
        "counters not there later",
        crc,
        [["no state", "gone"], ["no counter", "rx_crc_errors", ""]],
    )


# -- what the clock says, and the uptime ---------------------------------------------------------------------


def make_clocks() -> Iterator[Scene]:
    """Yield hosts that were booted, and hosts whose clock was set: uptime tells first."""
    name = "esx81.lab.example"
    errors = ("rx_crc_errors", "vmnic1")

    def moments(
        up: int | None, wall: str = SECOND, was: int | None = UP, **more: Any
    ) -> list[Side]:
        """Return two captures with errors, the second `wall` time with an uptime."""
        one = first(uptime=was, crc=500)
        return pair(one, later(captured=wall, uptime=up, crc=596, received=90_000_000, **more))

    yield Scene(
        "no boot",
        moments(UP_LATER),
        [["boot", name, "went on", ""], ["counter", *errors, None, 96]],
    )
    yield Scene(
        "boot",
        moments(7_200),
        [["boot", name, "started again", "rebooted"], ["counter", *errors, None, None]],
    )
    yield Scene(
        "boot just after the capture", moments(2 * DAY - 900), [["boot", name, "started again", ""]]
    )
    for hours in (1, 3, 24, 240):
        wall = f"2017-10-{16 + hours // 24:02d} {16 + hours % 24 if hours < 24 else 16}:53:20"
        yield Scene(
            f"clock set forward by {hours} h",
            moments(UP_LATER, wall),
            [
                ["boot", name, "went on", "clock.*forward"],
                ["counter", *errors, None, 96],
                ["silent", "was rebooted"],
            ],
        )
    for hours, wall in ((1, "2017-10-16 15:53:20"), (20, "2017-10-15 20:53:20")):
        yield Scene(
            f"clock set back by {hours} h",
            moments(UP_LATER, wall),
            [
                ["boot", name, "went on", "clock.*back"],
                ["counter", *errors, None, 96],
                ["silent", "was rebooted"],
            ],
        )
    yield Scene(
        "clock set back behind the first capture",
        moments(UP_LATER, "2017-10-06 16:53:20"),
        [
            ["boot", name, "went on", "clock.*back"],
            ["silent", "was rebooted"],
            ["counter", *errors, None, 96],
        ],
    )
    yield Scene(
        "clock drifted by three minutes",
        moments(UP_LATER, "2017-10-16 16:56:20"),
        [["boot", name, "went on", "^the host was not rebooted in between$"]],
    )
    yield Scene("no uptime later", moments(None), [["boot", name, "not known", "uptime"]])
    yield Scene(
        "no uptime before", moments(UP_LATER, was=None), [["boot", name, "not known", "uptime"]]
    )
    yield Scene(
        "uptime fell and the clock was set back",
        moments(7_200, "2017-10-14 17:53:20"),
        [["boot", name, "started again", "clock"]],
    )
    yield Scene(
        "series: clock set, then a boot",
        [
            Side([first(crc=500)]),
            Side([later(captured="2017-10-16 18:53:20", crc=548, received=90_000_000)]),
            Side([later(captured=THIRD, uptime=7_200, crc=3, received=1_000_000)]),
        ],
        [
            ["boot", name, "went on", "clock.*forward", 0],
            ["boot", name, "started again", "", 1],
        ],
    )
    yield from make_doubtful_clocks()
    said = [
        ("date", "Fri Mar 10 00:00:00 UTC 2023"),
        ("uptime", " 00:00:00 up 9 days, 00:00, load average: 0.10, 0.12, 0.11"),
    ]
    then = [
        ("date", "Sat Mar 11 06:00:00 UTC 2023"),
        ("uptime", " 06:00:00 up 10 days, 00:00, load average: 0.10, 0.12, 0.11"),
    ]
    yield Scene(
        "typed session, clock set forward by 6 h",
        [
            Side([], {"a.txt": typed("esx81", *said, nic_stats(1_000_000, 100))}),
            Side([], {"a.txt": typed("esx81", *then, nic_stats(2_000_000, 124))}),
        ],
        [["boot", "esx81", "went on", "clock.*forward"], ["counter", "rx_dropped", "", None, 24]],
    )


def make_doubtful_clocks() -> Iterator[Scene]:
    """Yield hosts whose uptime grew by less than the clock went: a boot, or a clock set forward by more than it."""
    name = "esx81.lab.example"
    boot = "[GenericCorrelator] 41000000us: [esx.audit.host.boot] Host has booted.\n"
    line = (
        "[netCorrelator] 3541602000000us: [vob.net.vmnic.linkstate.up] vmnic vmnic0 linkstate up\n"
    )
    before = f"2017-10-13T10:00:00.000Z: {line}"
    after = f"2017-10-26T10:00:00.000Z: {line}"
    errors = ("rx_crc_errors", "vmnic1")

    def moments(log: str = "", was: int = 35001, world: int = 0, crc: int = 596) -> list[Side]:
        """Return a host up for a day, and 12 days later by the clock for 3; `world` leads its VM, 0 for no VM."""
        extra = {VOBD: log} if log else {}
        vms = [[web(world=number, port=0)] if world else [] for number in (was, world)]
        one = first(uptime=DAY, crc=500, vms=vms[0])
        two = later(
            captured="2017-10-26 16:53:20", uptime=3 * DAY, crc=crc, vms=vms[1], extra=extra
        )
        return pair(one, replace(two, received=90_000_000))

    no_boot: list[Claim] = [
        ["boot", name, "went on", "clock.*forward"],
        ["counter", *errors, None, 96],
        ["silent", "was rebooted"],
    ]
    booted: list[Claim] = [
        ["boot", name, "started again", "rebooted"],
        ["counter", *errors, None, None],
        ["silent", "(?i)clock set"],
    ]
    unsure: list[Claim] = [
        ["boot", name, "not known", "boot or clock change"],
        ["says", "boot or clock change"],
        ["silent", "was rebooted"],
        ["silent", "(?i)clock set"],
    ]
    yield Scene("clock or boot, log without a start", moments(before + after), no_boot)
    started = f"2017-10-23T16:53:20.000Z: {boot}"
    yield Scene("clock or boot, log with a start", moments(before + started + after), booted)
    older = f"2017-10-13T16:53:20.000Z: {boot}"
    yield Scene("clock or boot, log with an older start", moments(older + after), no_boot)
    yield Scene("clock or boot, log that begins later", moments(after), unsure)
    yield Scene("clock or boot, a VM in its old world", moments(world=35001), no_boot)
    yield Scene("clock or boot, a VM in a smaller world", moments(was=68001, world=35001), booted)
    yield Scene("clock or boot, a VM in a larger world", moments(world=68001), unsure)
    yield Scene(
        "clock or boot, nothing tells", moments(), [*unsure, ["counter", *errors, None, 96]]
    )
    yield Scene(
        "clock or boot, a counter fell",
        moments(crc=3),
        [["boot", name, "not known", ""], ["counter", *errors, None, None]],
    )


# -- captures of one host in one folder ----------------------------------------------------------------------


def make_captures() -> Iterator[Scene]:
    """Yield folders with several bundles of one host."""
    old, new = (
        first(vms=[web()]),
        later(
            vms=[
                web(),
                web(name="db01", mac=OTHER_MAC, port=33554471, uuid=OTHER_UUID, world=35002),
            ]
        ),
    )
    yield Scene(
        "two bundles of one host, triage",
        [Side([old, new])],
        [
            ["nodes", 1],
            ["node", "esx81.lab.example", "captured", "2017-10-16T16:53:20Z"],
            ["node", "esx81.lab.example", "uptime_s", UP_LATER],
            ["no case finding", "(?i)same MAC|duplicate MAC|two (?:ports|VMs)"],
        ],
    )
    yield Scene(
        "two bundles of one host, the older named last",
        [Side([new, old])],
        [
            ["node", "esx81.lab.example", "captured", "2017-10-16T16:53:20Z"],
            ["node", "esx81.lab.example", "uptime_s", UP_LATER],
            ["no case finding", "(?i)same MAC|duplicate MAC"],
        ],
    )
    yield Scene(
        "a port with another number in the newer bundle",
        [Side([first(vms=[web()]), later(vms=[web(port=33554490)])])],
        [["no case finding", "(?i)same MAC|duplicate MAC"]],
    )
    booted = later(uptime=3_600, vms=[web()])
    yield Scene(
        "newer bundle after a boot",
        [Side([old, booted])],
        [["node", "esx81.lab.example", "uptime_s", 3_600]],
    )
    line = "2017-10-14T16:40:02.101"
    yield Scene(
        "lines that both bundles hold",
        [
            Side(
                [
                    first(extra=watchdog(line)),
                    later(extra=watchdog(line, "2017-10-15T01:00:00.101")),
                ]
            )
        ],
        [["case value", "watchdog|hung", "events", "2"]],
    )
    yield Scene(
        "two hosts of one name in a folder",
        [Side([first(vms=[web()]), later(**strange(name="esx81.lab.example"))])],
        [["no warning", "captures of it"]],
    )
    one = first(crc=500)
    yield Scene(
        "a side with two bundles of its host",
        [
            Side([one, replace(one, captured="2017-10-15 16:53:20", uptime=UP + DAY, crc=520)]),
            Side([later(crc=596, received=90_000_000)]),
        ],
        [
            ["boot", "esx81.lab.example", "went on", ""],
            ["captured", 0, "2017-10-15T16:53:20Z"],
            ["counter", "rx_crc_errors", "vmnic1", None, 76],
        ],
    )
    yield Scene(
        "same file given twice",
        pair(first(crc=500), first(crc=500)),
        [["says", "(?i)the same file"], ["no state", "new"], ["no state", "gone"]],
    )
    yield Scene(
        "same file beside another one",
        [Side([first(crc=500)]), Side([later(crc=500)]), Side([later(crc=500)])],
        [["says", "(?i)the same file"]],
    )


# -- what columns mean ---------------------------------------------------------------------------------------


def peers(*rows: tuple[str, int, bool]) -> str:
    """Return `ntpq -p`: server, reach in octal, whether it is followed."""
    text = (
        "     remote           refid      st t when poll reach   delay   offset  jitter\n"
        "==============================================================================\n"
    )
    for name, reach, followed in rows:
        mark = "*" if followed else " "
        text += f"{mark}{name:<16s} .GPS.            1 u   33   64  {reach:>3o}    0.412    0.120   0.050\n"
    return text


def make_meanings() -> Iterator[Scene]:
    """Yield columns whose verdict comes from what they mean."""

    def private(name: str, before: int, after: int) -> list[Side]:
        """Return a counter that a driver alone prints."""
        sides = []
        for host, count in ((first(), before), (later(received=90_000_000), after)):
            text = host.commands()["commands/nicinfo.sh.txt"]
            host.extra = {
                "commands/nicinfo.sh.txt": f"{text}\nNIC Private statistics:\n     {name}: {count}\n"
            }
            sides.append(Side([host]))
        return sides

    for name in ("rx_missed_errors", "rx_no_buffer_count", "rx_crc_errors"):
        yield Scene(
            f"private counter of loss {name}",
            private(name, 100, 90_100),
            [["counter", "value", name, "worse", 90_000]],
        )
    for name in (
        "tx_restart_fullness_x",
        "err_free_frames_q",
        "fdir_match",
        "failover_ready_q",
        "lro_flushed_full_aggr",
    ):
        yield Scene(
            f"private counter that nobody knows {name}",
            private(name, 100, 90_100),
            [["counter", "value", name, "", 90_000]],
        )
    yield Scene(
        "NTP server stopped answering",
        [
            Side(
                [
                    first(
                        extra={
                            "commands/ntpq_-p.txt": peers(
                                ("10.20.0.8", 255, True), ("10.20.0.9", 255, False)
                            )
                        }
                    )
                ]
            ),
            Side(
                [
                    later(
                        extra={
                            "commands/ntpq_-p.txt": peers(
                                ("10.20.0.8", 0, False), ("10.20.0.9", 255, True)
                            )
                        }
                    )
                ]
            ),
        ],
        [["says", r"NTP server 10\.20\.0\.8 .*(?:stopped|no longer) answer"]],
    )


# -- what stands first ---------------------------------------------------------------------------------------


def make_news() -> Iterator[Scene]:
    """Yield comparisons by what they should say first, and alike in every form."""
    yield Scene(
        "nothing changed",
        pair(first(), later()),
        [["says", "(?i)nothing else changed|nothing changed"], ["forms"]],
    )
    yield Scene(
        "a finding is new",
        pair(first(), later(crc=900_000, received=90_000_000)),
        [["forms"], ["first sentence", "(?i)^(?:new|worse)"]],
    )
    many = [
        Vm(f"vm{n:02d}", f"00:50:56:a6:82:{n:02x}", 33554600 + n, f"56 4d {n:02x}", world=36000 + n)
        for n in range(20)
    ]
    many = [replace(vm, port=0) for vm in many]
    yield Scene(
        "nineteen of twenty VMs gone",
        [
            Side([first(vms=many)], without="net-stats"),
            Side([later(vms=many[:1])], without="net-stats"),
        ],
        [["says", r"13 more"], ["forms"], ["thing", "vm19", "gone"]],
    )
    yield Scene("a boot", pair(first(), later(uptime=7_200)), [["forms"]])
    yield Scene(
        "a series",
        [
            Side([first()]),
            Side([later(crc=900_000, received=90_000_000)]),
            Side([later(captured=THIRD, uptime=UP_LAST, crc=900_000, received=95_000_000)]),
        ],
        [["forms"]],
    )
    yield Scene(
        "two hosts", pair(first(), later(**strange(crc=900_000, crc_of="vmnic0"))), [["forms"]]
    )


MAKERS: tuple[Maker, ...] = (
    make_placeholders,
    make_identities,
    make_vms,
    make_sight,
    make_clocks,
    make_captures,
    make_meanings,
    make_news,
)


def list_scenes() -> list[Scene]:
    """Return all scenes, in their order."""
    return [scene for maker in MAKERS for scene in maker()]
