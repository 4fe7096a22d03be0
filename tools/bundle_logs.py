"""Synthetic ESXi log text with the entropy of real logs, and signatures that find planted events in it.

Line forms follow the format reference (ESXi 6.x/7.x). Three of four lines repeat the last event on
the same object, so that gzip reaches ratios of 6 to 10. Nothing here is copied from a real log; the
planted events are made up and mean nothing outside the benchmark.
"""

# ruff: noqa: SIM905 - lists of words read better as text

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime

START = datetime(2021, 3, 1, tzinfo=UTC)
_EPOCH = int(START.timestamp())
PLANTED_SHARE = 0.004  # of all lines

_MODULES = (
    "ScsiDeviceIO NetPort NMP Tcpip VSCSI Uplink FSS Swap Migrate LVM Vmxnet3 Net ScsiPath Res3 J3 HBX "
    "DVFilter Team IntrCookie WorldSched"
).split()
_ACTIONS = (
    "enabled port|disabled port|command on path|completed request for|queue depth of|"
    "renewed lease on|mapped region of|updated state of|"
    "reset statistics of|checked link of|resumed world of|opened handle for|"
    "flushed buffers of|read heartbeat of|set filter on|released lock on"
).split("|")
_SUBS = (
    "Vimsvc.TaskManager Hostsvc.Tpm20Provider Solo.Vmomi Statssvc.vim.PerformanceManager "
    "Vmsvc.vm:/vmfs/volumes/5b0c/vm{0}/vm{0}.vmx Hostsvc.StorageSystem Default PropertyProvider "
    "vpxLro VpxaHalCnxHostagent VpxaInvtHost Cluster Invt Election"
).split()
_MESSAGES = (
    "State Transition (VM_STATE_ON -> VM_STATE_RECONFIGURING) of|Task Created : haTask-|"
    "Task Completed : haTask-|Got property change for session|RecordOp ASSIGN: info.state, task|"
    "Ticket issued for client|"
    "Refresh of datastore finished for|Received callback in WaitForUpdatesDone for|Sent heartbeat to host|"
    "Reading performance counter block of|Guest tools status unchanged for|Throttled invocation of method on"
).split("|")
_NOUNS = (
    "ring buffer|lease table|path claim|heap region|queue pair|offload engine|uplink watchdog|portset lock|"
    "scratch area|journal slot|timer wheel|filter chain"
).split("|")
_STATES = (
    "ran out of slots|was torn down early|did not answer in time|returned stale data|lost its owner|could not be grown"
).split("|")


def make_event(number: int) -> tuple[str, str]:
    """Return (text with `{}` for an object, regex) of planted event `number`."""
    noun = _NOUNS[number % len(_NOUNS)]
    state = _STATES[number // len(_NOUNS) % len(_STATES)]
    if number < len(_NOUNS) * len(_STATES):
        kind = f"{noun} {state}"
    else:
        kind = f"{noun} {state} (case {number})"
    kind = kind.replace("(", "[").replace(")", "]")
    escaped = kind.replace("[", r"\[").replace("]", r"\]")
    head = f"Bench: {kind} on {{}}"
    if number % 5 < 3:  # three of five are plain literals
        return head, escaped
    if number % 5 == 3:
        regex = rf"Bench: \d+: {escaped} on (?P<object>\S+)"
        return f"Bench: {4000 + number}: {kind} on {{}}", regex
    return head + " after 17 tries", rf"(?:{escaped}|{state} twice) on \S+ .{{0,40}}tries"


def make_patterns(count: int) -> list[str]:
    """Return `count` signature patterns; the first 60 are planted in the logs, the rest never occur."""
    return [make_event(number)[1] for number in range(count)]


class LogText:
    """An endless log of one kind: vmkernel, vmkwarning, vobd, hostd, vpxa, fdm or controller."""

    def __init__(self, kind: str, seed: str, *, step_ms: int = 400) -> None:
        self._dice = random.Random(f"{kind}/{seed}")
        self._kind = kind
        self._steps = [self._dice.randrange(1, 2 * step_ms) for _ in range(997)]
        self._now = 0
        self._second = -1
        self._head = ""
        self._objects = [f"naa.6006016{self._dice.getrandbits(68):017x}" for _ in range(24)]
        self._objects += [f"vmnic{n}" for n in range(8)]
        self._objects += [f"0x{0x2000000 + n:x}" for n in range(1, 40)]
        self._rare = [make_event(number)[0] for number in range(60)]
        self._lines = self._write_lines()

    def take_lines(self, size: int) -> bytes:
        """Return about `size` bytes of whole lines, never more."""
        parts: list[str] = []
        left = size
        for line in self._lines:
            left -= len(line)
            if left < 0:
                break
            parts.append(line)
        return "".join(parts).encode("ascii")

    def fill_size(self, size: int) -> Iterator[bytes]:
        """Yield chunks of whole lines that add up to `size` bytes."""
        left = size
        while left > 512:
            chunk = self.take_lines(min(left - 100, 1 << 18))
            if not chunk:
                break
            left -= len(chunk)
            yield chunk
        filler = f"{self._format_stamp()} cpu0:33000)Log: 1: end of the synthetic text "
        yield (filler[: max(0, left - 1)].ljust(max(0, left - 1), ".") + "\n" * (left > 0)).encode(
            "ascii"
        )

    def take_chunks(self, size: int) -> Iterator[bytes]:
        """Yield chunks of whole lines, `size` bytes at most."""
        while chunk := self.take_lines(min(size, 1 << 18)):
            size -= len(chunk)
            yield chunk

    def stamp_line(self, line: str) -> bytes:
        """Return a line that is not the log's own: `@` is its stamp, `%` the processor and world of a vmkernel.log."""
        self._now += 1
        world = f"cpu{self._dice.randrange(32)}:{33000 + self._dice.randrange(400) * 7})"
        return (line.replace("@", self._format_stamp(), 1).replace("%", world, 1) + "\n").encode()

    def _format_stamp(self) -> str:
        second, milli = divmod(self._now, 1000)
        if second != self._second:
            self._second = second
            joint = " " if self._kind == "controller" else "T"
            when = datetime.fromtimestamp(_EPOCH + second, UTC)
            self._head = when.strftime(f"%Y-%m-%d{joint}%H:%M:%S")
        if self._kind == "controller":
            return f"{self._head},{milli:03d}"
        return f"{self._head}.{milli:03d}Z"

    def _write_lines(self) -> Iterator[str]:
        dice, steps = self._dice, self._steps
        forms = {"vobd": self._make_vobd_line, "controller": self._make_controller_line}
        forms |= dict.fromkeys(("hostd", "vpxa", "fdm"), self._make_hostd_line)
        burst = forms.get(self._kind, self._make_vmkernel_line)
        index = 0
        while True:
            before, after = burst("")
            number = dice.randrange(10**5, 10**6)
            for _ in range(dice.choice((1, 2, 3, 4, 5, 9))):  # four lines on average
                index = (index + 1) % 997
                self._now += steps[index]
                number += 7
                yield f"{self._format_stamp()}{before}{number}{after}\n"
            if dice.random() < 4 * PLANTED_SHARE:
                before, after = burst(dice.choice(self._rare).format(dice.choice(self._objects)))
                yield f"{self._format_stamp()}{before}{number}{after}\n"

    def _make_vmkernel_line(self, text: str) -> tuple[str, str]:
        dice = self._dice
        cpu = dice.randrange(32)
        world = 33000 + dice.randrange(400) * 7
        if text:
            return f" cpu{cpu}:{world})WARNING: {text}; request ", ""
        module = dice.choice(_MODULES)
        action = dice.choice(_ACTIONS)
        name = dice.choice(self._objects)
        if self._kind == "vmkwarning" or dice.random() < 0.1:
            warning = "WARNING: "
        else:
            warning = ""
        line = 200 + 13 * (len(module) * 7 + len(action)) % 4000
        tail = f" on {name}" + (
            f" H:0x0 D:0x{dice.choice((0, 2, 8))} P:0x0" if "Scsi" in module else ""
        )
        return f" cpu{cpu}:{world}){warning}{module}: {line}: {action} 0x", tail

    def _make_vobd_line(self, text: str) -> tuple[str, str]:
        name = self._dice.choice(self._objects)
        event = self._dice.choice(("net.vmnic.linkstate.up", "scsi.scsipath.add", "vm.registered"))
        correlator = "netCorrelator" if event.startswith("net") else "scsiCorrelator"
        return f": [{correlator}] 993", f"us: [vob.{event}] " + (text or f"seen for {name}")

    def _make_hostd_line(self, text: str) -> tuple[str, str]:
        dice = self._dice
        sub = dice.choice(_SUBS).format(dice.randrange(40))
        thread = f"{0x4A00 + dice.randrange(24):X}B70"
        level = dice.choice(("info", "info", "verbose", "warning"))
        more = "\n-->    key = 1\n-->    value = 2" if dice.random() < 0.05 else ""
        head = f" {level} {self._kind}[{thread}] [Originator@6876 sub={sub} opID={dice.getrandbits(24):x}-"
        return head, f" user=vpxuser] {text or dice.choice(_MESSAGES)} {dice.randrange(900)}{more}"

    def _make_controller_line(self, text: str) -> tuple[str, str]:
        dice = self._dice
        level = "WARN" if text else "INFO"
        name = dice.choice(
            ("persistence.FileLog", "server.SyncThread", "vnet.Directory", "roles.Election")
        )
        head = f" {self._now // 7} [SyncThread:{dice.randrange(4)}] {level} org.example.{name} - "
        return head + (f"{text}; request " if text else "session "), " renewed"
