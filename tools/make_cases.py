"""Write many small synthetic cases for tests and measurements of the archive.

    python tools/make_cases.py OUT --count N [--seed S] [--broken SHARE] [--form folder|tgz|mixed]

Each case is 5 to 60 KB: a vm-support bundle or two, a pasted session, sometimes an esxtop batch file.
Most are healthy; some fire each of the shipped rules; some lack a piece, so that rules cannot tell.
Everything is made up, and every case says so. Case number n of a seed is always the same bytes,
however many are made. `--broken` makes that share unreadable: cut, empty, noise, text, damaged.
"""

from __future__ import annotations

import argparse
import functools
import random
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools import case_nsx, case_text
from tools.case_hosts import SYNTHETIC, Files, Host, new_host, tgz

FIRST_DAY = datetime(2023, 12, 1, 8, 0, tzinfo=UTC)
DAYS = 1080
FORMS = ("folder", "tgz", "mixed")


class Made(NamedTuple):
    """One case as written: its path, and what it was made to be (a scenario, or `broken-<how>`)."""

    path: Path
    kind: str


class Case:
    """A case in the making: its hosts, and files beside their bundles."""

    def __init__(self, dice: random.Random, number: int) -> None:
        self.dice = dice
        when = FIRST_DAY + timedelta(days=dice.randrange(DAYS), minutes=dice.randrange(600))
        count = dice.choice((1, 1, 1, 1, 1, 1, 2, 3))
        self.hosts = [new_host(dice, number * 3 + n, when) for n in range(count)]
        self.files: Files = {}
        self.esxtop = dice.random() < 0.2
        self.transcript = True
        self.bundles = True

    @property
    def host(self) -> Host:
        """The host that a scenario works on."""
        return self.hosts[0]


# --- scenarios: each fires the rule it is named after, unless its name begins with `lacks-` ---------


def _adapter(case: Case) -> None:
    case.host.vms[0].adapter = case.dice.choice(("e1000", "e1000e", "vlance"))


def _beacon(case: Case) -> None:
    case.host.teaming = ("beacon", case.dice.choice(("srcport", "iphash")), 2)


def _coalescing(case: Case) -> None:
    case.host.options["/Net/CoalesceTxTimeout"] = (case.dice.choice((1000, 2000, 8000)), 4000)


def _coalescing_vnic(case: Case) -> None:
    case.host.vms[0].coalescing = case.dice.choice(("disabled", "rbc", "calibrate"))


def _contention(case: Case) -> None:
    case.esxtop = True
    case.host.vms[0].ready = case.dice.choice((7.0, 12.0, 25.0))


def _limit(case: Case) -> None:
    case.esxtop = True
    case.host.vms[0].limited = case.dice.choice((20.0, 68.0))
    case.host.vms[0].limit_mhz = case.dice.choice((0, 800, 1200))


def _i40en(case: Case) -> None:
    host = case.host
    host.release = case.dice.choice(
        (("6.0.0", 5224934, "6.0.0 Update 3"), ("6.5.0", 5969303, "6.5.0 Update 1"), host.release)
    )
    host.driver = ("i40en", case.dice.choice(("1.3.1", "1.5.6", "1.7.11")), "6.01")
    for n in range(case.dice.randrange(1, 5)):
        event = (
            f"cpu7:65789)i40en: i40en_HandleMddEvent:6829: Malicious Driver Detection event 0x02 on TX queue {n} "
            "PF number 0x01 VF number 0x00"
        )
        host.events.append(("vmkernel", 4000 - 300 * n, event))
        host.events.append(
            (
                "vmkernel",
                3999 - 300 * n,
                "cpu7:65789)i40en: i40en_HandleMddEvent:6843: TX driver issue detected, PF reset issued",
            )
        )


def _port_drops(case: Case) -> None:
    case.esxtop = True
    case.host.vms[0].dropping = case.dice.choice((0.5, 1.5, 6.0))


def _ring_full(case: Case) -> None:
    vm = case.host.vms[0]
    full = case.dice.choice(((900, 120), (30_440, 0), (0, 1656), (220_000, 4000)))
    vm.full, vm.ring = full, (case.dice.choice((256, 512, 4096)), case.dice.choice((32, 256)))


def _stun(case: Case) -> None:
    case.host.vms[0].stops_us = (412_004, case.dice.choice((2_133_027, 8_400_110, 41_233_332)))


def _miscompare(case: Case) -> None:
    host, volume = case.host, f"59e1f0aa-1b2c3d4e-{case.dice.randrange(65536):04x}-002590aa7001"
    host.options["/VMFS3/UseATSForHBOnVMFS5"] = (case.dice.choice((0, 1)), 1)
    for n in range(3):
        host.events.append(
            (
                "vmkernel",
                3000 - 60 * n,
                "cpu13:33467)HBX: 2832: ATS Miscompare detected between test and set HB images "
                f"at offset {3604480 + 4096 * n} on vol {volume}",
            )
        )
    for before, event in ((2890, "timedout"), (2850, "recovered")):
        host.events.append(
            (
                "vobd",
                before,
                f"[vmfsCorrelator] 3536820000000us: [esx.problem.vmfs.heartbeat.{event}] {volume} lun-prod-07",
            )
        )


def _offload(case: Case) -> None:
    case.host.options[case.dice.choice(("/Net/UseHwTSO", "/Net/Vmxnet3SwLRO", "/Net/TcpipDefLROEnabled"))] = (0, 1)


def _nic(case: Case) -> None:
    errors = case.dice.choice(
        (
            {"Receive CRC errors": 4410},
            {"Receive missed errors": 19_100},
            {"Receive missed errors": 91, "Receive FIFO errors": 4},
        )
    )
    if case.dice.random() < 0.5:  # the question that the archive is made for: old ixgben on 6.5
        case.host.release = ("6.5.0", 5969303, "6.5.0 Update 1")
        case.host.driver = ("ixgben", case.dice.choice(("1.4.1", "1.7.1", "1.7.10", "1.7.20")), "0x800003df")
    case.host.nic_errors = {**errors, "Total receive errors": sum(errors.values())}


def _shell(case: Case) -> None:
    case.host.options["/UserVars/SuppressShellWarning"] = (1, 0)
    if case.dice.random() < 0.5:
        case.host.events.append(
            ("vobd", 9000, "[GenericCorrelator] 2938471510366us: [esx.audit.ssh.enabled] SSH access has been enabled.")
        )


def _engineering(case: Case) -> None:
    case.files["nsxmgr.txt"] = (
        "nsxmgr01# st eng\nEngineering Mode: The authorized NSX Manager system administrator is requesting a shell "
        "which is able to perform lower level unix commands/diagnostics and make changes to the appliance.\n"
    )


def _no_majority(case: Case) -> None:
    case.files["controller-1.txt"] = case_text.controller_cli(1, majority="Disconnected from cluster majority")


def _nsx(case: Case) -> None:
    case.files["nsxmgr01.tgz"] = _manager()
    case.files.update(case_nsx.listed_controllers(case_nsx.SILENT))
    for number in (1, 2, 3):
        case.files[f"controller-{number}.txt"] = case_text.controller_cli(number)


def _gateway(case: Case) -> None:
    case.files["nsxmgr01.tgz"] = _manager()
    stamp = f"{case.host.when - timedelta(hours=1):%Y-%m-%d %H:%M:%S},382"
    case.files["cloudnet_java-zookeeper.log"] = (
        f"{stamp} 47956539 [SyncThread:1] WARN org.apache.zookeeper.server.persistence.FileTxnLog - "
        "fsync-ing the write ahead log took 3219ms\n"
        f"{stamp} 47957158 [pool-1-thread-2] ERROR com.example.Gateway - (synthetic) java.nio.BufferOverflowException\n"
    )


def _dlr(case: Case) -> None:
    case.host.vibs["esx-nsxv"] = "6.5.0-0.0.6244264"
    case.host.extra["commands/dump-vdr-info.sh.txt"] = _arp(case.dice.choice((4600, 5200)))


@functools.cache
def _arp(entries: int) -> str:
    return case_text.dlr_arp("default+edge-1", entries)


@functools.cache
def _manager() -> bytes:
    top = "nsxmgr01-techsupport"
    return tgz(
        {f"{top}/sys_info": "System Version: 6.3.3 Build 6276725\n", f"{top}/logs/vsm.log": case_text.vsm_log()},
        FIRST_DAY,
    )


def _no_session(case: Case) -> None:
    case.transcript = False


def _no_bundle(case: Case) -> None:
    case.bundles = False


def _lacks(part: str) -> Callable[[Case], None]:
    def without(case: Case) -> None:
        case.host.without.add(part)

    return without


SCENARIOS: dict[str, Callable[[Case], None]] = {
    "adapter-not-vmxnet3": _adapter, "beacon-probing": _beacon, "coalescing-non-default": _coalescing,
    "coalescing-vnic": _coalescing_vnic, "cpu-contention": _contention, "cpu-limit-starves-vm": _limit,
    "i40en-mdd": _i40en, "kb-1010071": _port_drops, "kb-2039495": _ring_full, "vm-stopped": _stun,
    "kb-2113956": _miscompare, "kb-2149630": _engineering, "kb-2151719": _nsx, "lro-tso-off": _offload,
    "nsx-1961105": _gateway, "nsx-1970527": _dlr, "pnic-loses-packets": _nic, "shell-warning-suppressed": _shell,
    "nsx-cluster-unsound": _no_majority,
}  # fmt: skip
LACKING: dict[str, Callable[[Case], None]] = {
    "lacks-session": _no_session,
    "lacks-bundle": _no_bundle,
    **{f"lacks-{part}": _lacks(part) for part in ("version", "logs", "nics", "options", "switches", "vms")},
}
HEALTHY, LACKING_SHARE = 0.60, 0.10
BREAKAGES = ("cut", "empty", "noise", "text", "damaged", "nothing")


def case(number: int, seed: int = 1) -> tuple[str, Files]:
    """Return (scenario, files) of case `number`: the first ones go through all scenarios once, then chance decides."""
    dice = random.Random(f"cases/{seed}/{number}")
    names = list(SCENARIOS)
    chance = dice.random()
    if number < len(names):
        kind = names[number]
    elif chance < HEALTHY:
        kind = "healthy"
    else:
        kind = dice.choice(list(LACKING) if chance < HEALTHY + LACKING_SHARE else names)
    made = Case(dice, number)
    if kind != "healthy":
        (SCENARIOS | LACKING)[kind](made)
    files: Files = {"README.md": f"# A synthetic case\n\n{SYNTHETIC}"}
    for host in made.hosts:
        if made.bundles:
            top, members = host.bundle()
            files[f"{top}.tgz"] = tgz(members, host.when)
        if made.transcript:
            files[f"{host.short}.txt"] = host.transcript()
        if made.esxtop:
            files[f"esxtop-{host.short}.csv"] = host.esxtop(dice.choice((12, 24)))
    return kind, files | made.files


def broken(files: Files, how: str, dice: random.Random) -> Files:
    """Return what a broken upload of the case could be; `nothing` is a folder without a file."""
    whole = max(
        (body for name, body in files.items() if name.endswith(".tgz") and isinstance(body, bytes)),
        key=len,
        default=b"\x1f\x8b\x08",
    )
    if how == "damaged":
        spoiled = bytearray(whole)
        for _ in range(12):
            spoiled[dice.randrange(len(spoiled))] ^= 1 << dice.randrange(8)
        return {"upload.tgz": bytes(spoiled)}
    bodies: dict[str, str | bytes] = {
        "cut": whole[: int(len(whole) * dice.uniform(0.02, 0.9))],
        "empty": b"",
        "noise": dice.randbytes(dice.randrange(10, 20_000)),
        "text": "This is no archive. " + SYNTHETIC,
    }
    return {} if how == "nothing" else {"upload.tgz": bodies[how]}


def make(out: Path, count: int, seed: int = 1, *, broken_share: float = 0.0, form: str = "folder") -> list[Made]:
    """Write `count` cases below `out` (made when missing) and return them in order of their names."""
    return list(written(out, count, seed, broken_share=broken_share, form=form))


def written(out: Path, count: int, seed: int = 1, *, broken_share: float = 0.0, form: str = "folder") -> Iterator[Made]:
    """Write `count` cases below `out` and yield each; the same arguments give the same bytes."""
    out.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        dice = random.Random(f"form/{seed}/{number}")
        kind, files = case(number, seed)
        if dice.random() < broken_share:
            how = BREAKAGES[dice.randrange(len(BREAKAGES))]
            kind, files = f"broken-{how}", broken(files, how, dice)
        packed = form == "tgz" or (form == "mixed" and dice.random() < 0.5)
        yield Made(_write(out, f"case-{number:06d}", files, packed=packed), kind)


def _write(out: Path, name: str, files: Files, *, packed: bool) -> Path:
    """Write one case as a folder, or as one archive (a broken upload is the archive itself)."""
    if packed and files:
        path = out / f"{name}.tgz"
        upload = files.get("upload.tgz")
        whole = tgz({f"{name}/{file}": body for file, body in files.items()}, FIRST_DAY) if upload is None else upload
        path.write_bytes(whole.encode() if isinstance(whole, str) else whole)
        return path
    path = out / name
    path.mkdir(exist_ok=True)
    for file, body in files.items():
        (path / file).write_bytes(body.encode() if isinstance(body, str) else body)
    return path


def _share(text: str) -> float:
    share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"{text} is no share; write 0.2 or 20%")
    return share


def main() -> None:
    parser = argparse.ArgumentParser(description="Write many small synthetic cases.")
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--broken", type=_share, default=0.0, metavar="SHARE", help="share that cannot be read: 0.2 or 20%%"
    )
    parser.add_argument("--form", choices=FORMS, default="folder")
    options = parser.parse_args()
    if options.out.is_dir() and any(options.out.iterdir()):
        parser.error(f"{options.out} is not empty; name a new folder")
    kinds: dict[str, int] = {}
    for one in written(options.out, options.count, options.seed, broken_share=options.broken, form=options.form):
        kinds[one.kind] = kinds.get(one.kind, 0) + 1
    print(f"{options.count} synthetic cases in {options.out}")
    for kind, count in sorted(kinds.items(), key=lambda one: (-one[1], one[0])):
        print(f"{count:8d}  {kind}")


if __name__ == "__main__":
    main()
