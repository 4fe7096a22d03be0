"""Synthetic ESXi hosts for `tools/make_cases.py`: the knobs of a host, and the files it would give.

Every name, counter and log line is made up from a seed; the formats are those of `tools/case_text.py`.
Nothing here was seen on a real host.
"""

from __future__ import annotations

import gzip
import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tools import case_text
from tools.case_pack import Files

SYNTHETIC = "Synthetic case of the Backline project (tools/make_cases.py); no customer data, no real events.\n"

# version, build, update level as `vmware -l` prints it
RELEASES = (
    ("6.0.0", 5224934, "6.0.0 Update 3"), ("6.5.0", 5969303, "6.5.0 Update 1"), ("6.7.0", 14320388, "6.7.0 Update 3"),
    ("6.7.0", 15160138, "6.7.0 Update 3"), ("7.0.1", 17325551, "7.0 Update 1"), ("7.0.2", 18426014, "7.0 Update 2"),
    ("7.0.3", 19193900, "7.0 Update 3"), ("7.0.3", 20328353, "7.0 Update 3"), ("8.0.1", 21495797, "8.0 Update 1"),
    ("8.0.2", 22380479, "8.0 Update 2"), ("8.0.3", 24022510, "8.0 Update 3"),
)  # fmt: skip
DRIVERS = {
    "ixgben": ("1.4.1", "1.6.5", "1.7.1", "1.7.10", "1.7.15", "1.7.20", "1.8.9", "1.10.3"),
    "i40en": ("1.7.11", "1.8.6", "1.9.5", "1.13.1"),
    "nenic": ("1.0.29", "1.0.33", "1.0.45"),
    "igbn": ("1.4.7", "1.4.10", "1.5.2"),
    "ntg3": ("4.1.3", "4.1.7", "4.1.9"),
    "qfle3": ("1.0.86", "1.1.6", "1.4.8"),
}
FIRMWARE = ("0x800003df", "0x80000887", "0x8000095c", "6.01", "7.10", "8.20", "4.1(3a)", "20.6.52")
SITES = ("ams", "ber", "bos", "dub", "fra", "nyc", "osl", "par", "sin", "tok", "vie", "zrh")
ROLES = ("app", "db", "erp", "file", "mail", "print", "vdi", "web")
GUESTS = (
    "centos7-64",
    "debian10-64",
    "rhel7-64",
    "rhel8-64",
    "ubuntu-64",
    "windows2019srv-64",
    "windows8srv-64",
)


@dataclass
class Vm:
    """One virtual machine and the state of its network port."""

    name: str
    port: int
    mac: str
    guest: str
    vcpus: int = 2
    adapter: str = "vmxnet3"
    coalescing: str = ""
    limit_mhz: int = 0
    full: tuple[int, int] = (0, 0)
    ring: tuple[int, int] = (1024, 256)
    stops_us: tuple[int, ...] = (38_000,)
    ready: float = 0.4
    limited: float = 0.0
    dropping: float = 0.0


@dataclass
class Host:
    """What one host is made of; a scenario turns the knobs before `bundle` and `transcript` are asked."""

    dice: random.Random
    number: int
    when: datetime
    name: str = ""
    release: tuple[str, int, str] = RELEASES[0]
    driver: tuple[str, str, str] = ("ixgben", "1.8.9", "0x800003df")
    vms: list[Vm] = field(default_factory=list)
    nic_errors: dict[str, int] = field(default_factory=dict)
    options: dict[str, tuple[int, int]] = field(default_factory=dict)
    vibs: dict[str, str] = field(default_factory=dict)
    teaming: tuple[str, str, int] = ("link", "srcport", 2)
    events: list[tuple[str, int, str]] = field(
        default_factory=list
    )  # (log, seconds before the bundle, text)
    extra: Files = field(default_factory=dict)
    without: set[str] = field(default_factory=set)  # version, logs, nics, options, switches, vms

    @property
    def short_name(self) -> str:
        """The host's name up to its first dot."""
        return self.name.partition(".")[0]

    def make_bundle(self) -> tuple[str, Files]:
        """Return (top directory, files) of the host's vm-support bundle."""
        top = f"esx-{self.name}-{self.when:%Y-%m-%d--%H.%M}-{70_000 + self.number % 9000}"
        files: Files = {
            "README": case_text.bundle_readme(top, f"{self.when:%Y-%m-%d %H:%M:%S}", SYNTHETIC),
            "error.log": "",
            "action.log": f"{self.when:%Y-%m-%d %H:%M:%S}: commands (base.mfx) took 0.123 sec\n",
            "etc/vmware/esx.conf": f'/adv/Misc/HostName = "{self.name}"\n',
            "commands/net-stats_-l.txt": case_text.net_stats(self._list_ports()),
            "commands/localcli_software-vib-list.txt": self._format_vib_list(),
        }
        uplinks = [f"vmnic{n}" for n in range(self.teaming[2])]
        for part, more in (
            ("version", self._make_identity_files()),
            ("nics", {"commands/nicinfo.sh.txt": self._format_nic_info()}),
            (
                "options",
                {
                    "commands/localcli_system-settings-advanced-list--d.txt": case_text.adv_delta(
                        self.options
                    )
                },
            ),
            (
                "switches",
                {"commands/esxcfg-vswitch_-l.txt": case_text.vswitch_list("vSwitch0", uplinks)},
            ),
            ("vms", self._make_vm_files()),
            ("logs", self._make_log_files()),
        ):
            if part not in self.without:
                files.update(more)
        return top, {f"{top}/{name}": body for name, body in {**files, **self.extra}.items()}

    def make_transcript(self) -> str:
        """Return a pasted shell session: the state of each VM's port, and the teaming policy."""
        prompt = f"[root@{self.short_name}:~] "
        text = [
            f"# {SYNTHETIC}",
            f"{prompt}net-stats -l\n{case_text.net_stats(self._list_ports())}",
        ]
        for vm in self.vms:
            if vm.adapter != "vmxnet3":
                continue
            port = f"/net/portsets/vSwitch0/ports/{vm.port}"
            good = self.dice.randrange(100_000, 90_000_000)
            lost = sum(vm.full)
            stats = case_text.client_stats(
                pktsTxOK=good // 2,
                bytesTxOK=good * 300,
                pktsRxOK=good,
                bytesRxOK=good * 900,
                droppedRx=lost,
            )
            if vm.vcpus > 1 and not vm.guest.startswith("windows8"):
                queues = 2
            else:
                queues = 1
            text.append(
                f"{prompt}vsish -e get {port}/clientStats\n{stats}"
                f"{prompt}vsish -e get {port}/vmxnet3/rxSummary\n{case_text.rx_summary(0, good, *vm.full)}"
                f"{prompt}vsish -e ls {port}/vmxnet3/rxqueues/\n"
                + "".join(f"{n}/\n" for n in range(queues))
            )
            for n in range(queues):
                text.append(
                    f"{prompt}vsish -e get {port}/vmxnet3/rxqueues/{n}/status\n{case_text.rx_queue(*vm.ring)}"
                )
        detection, balancing, count = self.teaming
        policy = case_text.vswitch_failover(
            detection, balancing, [f"vmnic{n}" for n in range(count)]
        )
        text.append(
            f"{prompt}esxcli network vswitch standard policy failover get -v vSwitch0\n{policy}"
        )
        return "".join(text)

    def make_esxtop(self, samples: int) -> str:
        """Return an esxtop batch file of the host's VMs, 5 s apart."""
        head, columns = ["(PDH-CSV 4.0) (UTC)(0)"], []
        for index, vm in enumerate(self.vms):
            gid = 5_572_700 + 40 * index
            groups = [(f"Group Cpu({gid}:{vm.name})", vm.vcpus)]
            for n in range(vm.vcpus):
                groups.append((f"Vcpu({gid}:{vm.name}:{gid + 10 + n}:vmx-vcpu-{n}:{vm.name})", 1))
            for instance, share in groups:
                cpu = {
                    "% Used": 22.0 * share,
                    "% Run": 21.0 * share,
                    "% System": 2.0,
                    "% Wait": 470.0,
                    "% VmWait": 0.1,
                    "% Ready": (vm.ready + vm.limited) * share,
                    "% Idle": 70.0 * share,
                    "% Overlap": 0.1,
                    "% CoStop": 0.1,
                    "% Max Limited": vm.limited * share,
                    "% Swap Wait": 0.0,
                }
                for counter, value in cpu.items():
                    head.append(f"\\\\{self.name}\\{instance}\\{counter}")
                    columns.append(value)
            for counter, value in (
                ("Packets Received/sec", 900.0),
                ("% Outbound Packets Dropped", 0.0),
                ("% Received Packets Dropped", vm.dropping),
            ):
                head.append(
                    f"\\\\{self.name}\\Network Port(vSwitch0:{vm.port}:{gid + 10}:{vm.name})\\{counter}"
                )
                columns.append(value)
        rows = []
        for sample in range(samples):
            stamp = self.when - timedelta(seconds=5 * (samples - sample))
            swing = 0.9 + self.dice.random() / 5
            cells = [f"{value * swing:.2f}" for value in columns]
            rows.append([f"{stamp:%m/%d/%Y %H:%M:%S}", *cells])
        return case_text.esxtop_file(head, rows)

    def _make_identity_files(self) -> Files:
        version, build, update = self.release
        uptime = self.dice.randrange(10**10, 10**13)
        return {
            "commands/vmware_-vl.txt": f"VMware ESXi {version} build-{build}\nVMware ESXi {update}\n",
            "commands/uname_-a.txt": (
                f"VMkernel {self.name} {version} #1 SMP Release build-{build} Sep  4 2017 15:00:49 "
                "x86_64 x86_64 x86_64 ESXi\n"
            ),
            "commands/localcli_system-stats-uptime-get.txt": f"{uptime}\n",
        }

    def _list_ports(self) -> list[tuple[int, int, int, str, str, str]]:
        fixed = []
        for n in range(2):
            fixed.append(
                (
                    33554434 + n,
                    4,
                    0,
                    "vSwitch0",
                    f"00:25:90:aa:{self.number % 251:02x}:0{n}",
                    f"vmnic{n}",
                )
            )
        fixed.append(
            (33554436, 3, 0, "vSwitch0", f"00:25:90:aa:{self.number % 251:02x}:02", "vmk0")
        )
        kinds = {"vmxnet3": 9, "e1000": 7, "e1000e": 8, "vlance": 6}
        return fixed + [
            (vm.port, 5, kinds[vm.adapter], "vSwitch0", vm.mac, f"{vm.name}.eth0")
            for vm in self.vms
        ]

    def _format_nic_info(self) -> str:
        driver, version, firmware = self.driver
        text = case_text.nic_info(self.nic_errors)
        text = text.replace("Driver: ixgben\n", f"Driver: {driver}\n").replace(
            "  ixgben  ", f"  {driver:<6s}  "
        )
        return text.replace("0x800003df", firmware).replace(
            "Version: 1.4.1\n", f"Version: {version}\n"
        )

    def _format_vib_list(self) -> str:
        version = self.release[0]
        tail = f"vmw.{version.replace('.', '')}.1.26.{self.release[1]}"
        rows = {
            "esx-base": f"{version}-1.29.{self.release[1]}",
            self.driver[0]: f"{self.driver[1]}-2{tail}",
        }
        for name, value in self.vibs.items():
            rows[name] = f"{value}-5{tail}" if name == "i40en" else value
        day = f"{self.when - timedelta(days=90):%Y-%m-%d}"
        return case_text.vib_table([(name, row, "VMW", day) for name, row in rows.items()], 40)

    def _make_vm_files(self) -> Files:
        files: Files = {}
        for index, vm in enumerate(self.vms):
            folder = f"vmfs/volumes/59e1f0aa-{self.number % 65536:08x}-{index:04x}-002590aa5001/{vm.name}"
            nics = [(vm.adapter, "VM Network", vm.mac)]
            files[f"{folder}/{vm.name}.vmx"] = case_text.vmx_file(
                vm.name, vm.guest, vm.vcpus, nics, vm.limit_mhz, vm.coalescing
            )
            lines = [
                f"{self._format_stamp(7200)}| vmx| I125: Log for VMware ESX pid=70512 version={self.release[0]} "
                f"build=build-{self.release[1]} option=Release"
            ]
            for number, stopped in enumerate(vm.stops_us):
                lines.append(
                    f"{self._format_stamp(3600 - 300 * number)}| vcpu-0| I125: Checkpoint_Unstun: vm stopped for {stopped} us"
                )
            files[f"{folder}/vmware.log"] = "\n".join(lines) + "\n"
        return files

    def _format_stamp(self, before: float) -> str:
        return f"{self.when - timedelta(seconds=before):%Y-%m-%dT%H:%M:%S}.{int(before * 7) % 1000:03d}Z"

    def _make_log_files(self) -> Files:
        files: Files = {
            f"var/run/log/{log}.log": self._write_log(log, count)
            for log, count in (
                ("vmkernel", self.dice.randrange(80, 420)),
                ("vobd", 12),
                ("hostd", self.dice.randrange(40, 160)),
            )
        }
        if self.dice.random() < 0.3:
            old = self._write_log("vmkernel", 120, age=86_400).encode()
            files["var/run/log/vmkernel.0.gz"] = gzip.compress(old, 6, mtime=0)
        return files

    def _write_log(self, log: str, count: int, age: int = 0) -> str:
        """Return `count` ordinary lines of the six hours before, and the scenario's events in their place."""
        dice = self.dice
        step = 21_600 / count
        lines = []
        for n in range(count):
            lines.append((21_600 + age - step * n, self._make_line(log, dice)))
        if not age:
            lines += [(float(before), text) for kind, before, text in self.events if kind == log]
            lines.sort(key=lambda one: -one[0])
        new = self.release[0] >= "8"  # 8.0 puts a syslog head before the line
        vmkernel, vobd = (" In(182) vmkernel:", " In(14) vobd[2097635]: ") if new else ("", ":")
        head = {"vmkernel": vmkernel, "vobd": vobd, "hostd": ""}[log]
        return "".join(f"{self._format_stamp(before)}{head} {text}\n" for before, text in lines)

    @staticmethod
    def _make_line(log: str, dice: random.Random) -> str:
        number = dice.getrandbits(24)
        if log == "vobd":
            nic = f"vmnic{number % 4}"
            return f"[netCorrelator] {3541602000000 + number}us: [vob.net.vmnic.linkstate.up] vmnic {nic} linkstate up"
        if log == "hostd":
            message = (
                "Task Created : haTask-",
                "Task Completed : haTask-",
                "Refresh of datastore finished for ",
                "Ticket issued for client ",
            )[number % 4]
            sub = f"[Originator@6876 sub=Vimsvc.TaskManager opID={number:x}]"
            return f"info hostd[{2_099_000 + number % 40}] {sub} {message}{number % 90}"
        module = (
            "NetPort: 1879: disabled port 0x",
            "ScsiPath: 5115: enabled path 0x",
            "Uplink: 9893: reset statistics of 0x",
            "Vmxnet3: 15204: updated state of 0x",
        )[number % 4]
        return f"cpu{number % 32}:{33_000 + number % 4000}){module}{0x2000010 + number % 50:x}"


def new_host(dice: random.Random, number: int, when: datetime) -> Host:
    """Return a healthy host with one to four VMs, its make-up drawn from `dice`."""
    site = dice.choice(SITES)
    host = Host(
        dice,
        number,
        when,
        name=f"esx{number % 10_000:04d}.{site}.example",
        release=dice.choice(RELEASES),
    )
    driver = dice.choice(list(DRIVERS))
    host.driver = (driver, dice.choice(DRIVERS[driver]), dice.choice(FIRMWARE))
    for index in range(dice.randrange(1, 5)):
        host.vms.append(
            Vm(
                name=f"{dice.choice(ROLES)}{number % 1000:03d}{'abcd'[index]}",
                port=33_554_440 + index,
                mac=f"00:50:56:a6:{number % 256:02x}:{index:02x}",
                guest=dice.choice(GUESTS),
                vcpus=dice.choice((1, 2, 4)),
                ring=(dice.choice((256, 512, 1024, 4096)), 256),
            )
        )
    return host
