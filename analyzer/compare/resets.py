"""Tells a counter that started again from one that went on: reboot, vMotion, reconnect, another card.

A counter only grows. When it is smaller later it started again in between, and its two values cannot be subtracted.
Nothing here is taken for better because a number fell: first there must be a reason why it could start again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from analyzer.artefacts.tables import Row, Table
from analyzer.compare.machines import ComparedMachine, to_seconds
from analyzer.compare.subjects import ComparedSubject, KnownNames
from analyzer.compare.witnesses import Witness, ask_witnesses

State = Literal["went on", "started again", "not known"]
UNSURE = "boot or clock change"
DRIFT_S = (
    300.0  # own threshold: clocks of a capture and of a host differ; two boots lie further apart
)
DRIFT_SHARE = 0.0005  # of the interval: a clock that was wrong by this much all the time


@dataclass(slots=True)
class CounterStart:
    """Whether counters of one kind went on from one side to the next, why we think so, and the rows that say it.

    if_fell  of a state that is not known: the reason, where a counter that fell proves that counting started again
    another  another card counts: what it lost says nothing of the one before
    unsure   "boot or clock change" where the uptimes allow both and nothing tells which
    """

    state: State
    why: str
    rows: list[Row] = field(default_factory=list)
    if_fell: str = ""
    another: bool = False
    unsure: str = ""

    def after(self, *, fell: bool) -> CounterStart:
        """Return what is known when a counter of the row fell, or none of them did."""
        if fell and self.if_fell:
            return CounterStart("started again", self.if_fell, self.rows)
        return self


@dataclass(slots=True)
class SidePair:
    """Two sides that follow each other, and who is behind their names."""

    names: tuple[KnownNames, KnownNames]
    moved: bool = False  # what is compared was on one machine, and is on another one later
    mode: Literal["time", "hosts"] = "time"


def measure_wall(earlier: ComparedMachine, later: ComparedMachine) -> float | None:
    """Return the seconds between two captures by the clocks, below 0 where it was set back; None when one is missing."""
    first = to_seconds(earlier.captured)
    last = to_seconds(later.captured)
    if first is None or last is None:
        return None
    return last - first


def measure_interval(earlier: ComparedMachine, later: ComparedMachine) -> float | None:
    """Return the seconds from one capture of a machine to the next, None when not known.

    Where its clock was set in between and it was not booted, its uptime tells.
    """
    wall = measure_wall(earlier, later)
    if wall is None:
        return None
    if measure_clock_change(earlier, later):
        assert later.uptime is not None and earlier.uptime is not None
        return later.uptime - earlier.uptime
    return wall if wall > 0 else None


def measure_clock_change(earlier: ComparedMachine, later: ComparedMachine) -> float:
    """Return by how many seconds a clock was set forward between two captures without a boot, below 0 for back.

    The uptime runs on whatever the clock says: when it is at least the interval there was no boot, and what it grew by
    is how long it was. When it is less and grew, a third witness has to say that there was none. 0.0 where the clock
    agrees, and where the host was booted or nobody knows.
    """
    wall = measure_wall(earlier, later)
    if wall is None or earlier.uptime is None or later.uptime is None:
        return 0.0
    grew = later.uptime - earlier.uptime
    if grew <= 0 or (later.uptime < wall and judge_boot(earlier, later)[0] != "not booted"):
        return 0.0
    change = wall - grew
    return change if abs(change) > allow_drift(wall) else 0.0


def judge_boot(earlier: ComparedMachine, later: ComparedMachine) -> Witness:
    """Say whether a host was booted between two captures, by what is neither clock nor uptime."""
    return ask_witnesses(earlier.boot_marks, later.boot_marks, earlier.captured)


def allow_drift(wall: float) -> float:
    """Return the seconds by which clock and uptime may differ over an interval though nobody set the clock."""
    return DRIFT_S + DRIFT_SHARE * abs(wall)


def boot_between(earlier: ComparedMachine, later: ComparedMachine) -> CounterStart:
    """Say whether a host was booted between two captures: by its uptime against the interval, the clock as second witness."""
    rows = [row for row in (earlier.uptime_row, later.uptime_row) if row is not None]
    if earlier.uptime is None or later.uptime is None:
        lacking = []
        for word, one in (("earlier", earlier), ("later", later)):
            if one.uptime is None:
                lacking.append(word)
        return CounterStart(
            "not known", f"there is no uptime of the {' and of the '.join(lacking)} side", rows
        )
    wall = measure_wall(earlier, later)
    grew = later.uptime - earlier.uptime
    if wall is None:
        if grew < 0:
            fell = f"from {show_span(earlier.uptime)} to {show_span(later.uptime)}"
            why = f"the host was rebooted in between: its uptime fell {fell}"
            return CounterStart("started again", why, rows)
        why = "without capture times the uptimes cannot be compared"
        return CounterStart("not known", why, rows)
    if abs(wall - grew) <= allow_drift(wall):
        return CounterStart("went on", "the host was not rebooted in between", rows)
    change = measure_clock_change(earlier, later)
    if change:
        way = "forward" if change > 0 else "back"
        why = (
            f"the host was not rebooted in between, its clock was set {way} by {show_span(abs(change))}: "
            f"its uptime grew by {show_span(grew)}, the clock went {show_course(wall)}"
        )
        if later.uptime < wall:
            why += f"; {judge_boot(earlier, later)[1]}"
        return CounterStart("went on", why, rows)
    since = f"{show_span(abs(wall))} {'after' if wall >= 0 else 'before'} the earlier capture"
    why = f"the host was rebooted in between: up for {show_span(later.uptime)}, {since}"
    if grew > 0 and later.uptime < wall:
        state, witness = judge_boot(earlier, later)
        if state == "not known":
            unsure = f"{UNSURE}: up for {show_span(earlier.uptime)}, and {since} for {show_span(later.uptime)}"
            why += ": a counter that runs since the boot fell"
            return CounterStart("not known", unsure, rows, if_fell=why, unsure=UNSURE)
        why += f"; {witness}"
    if later.uptime - max(wall, 0.0) > allow_drift(wall):
        back = show_span(later.uptime - wall)
        why += f"; its clock was set back by {back} or more as well"
    return CounterStart("started again", why, rows)


def show_course(wall: float) -> str:
    """Return how a clock went from one capture to the next."""
    return f"{show_span(abs(wall))} {'on' if wall >= 0 else 'back'}"


def start_of(
    table: Table,
    earlier: ComparedSubject,
    later: ComparedSubject,
    machines: Sequence[ComparedMachine],
    sides: SidePair,
) -> CounterStart:
    """Say whether the counters of a subject went on; `machines` are those of the earlier and of the later side."""
    first, last = machines
    if sides.mode == "hosts":
        return CounterStart("not known", "these are two different hosts")
    if table.counts_since == "guest":
        return check_guest(first, last, sides)
    booted = boot_between(first, last)
    if table.counts_since == "port":
        return check_port(earlier, later, machines, booted, moved=sides.moved)
    card = check_card(table, earlier, later, sides)
    if card is not None:
        return card
    return booted


def check_port(
    earlier: ComparedSubject,
    later: ComparedSubject,
    machines: Sequence[ComparedMachine],
    booted: CounterStart,
    *,
    moved: bool,
) -> CounterStart:
    """Return whether a port counts anew: its machine was booted, or the VM moved or was restarted."""
    rows = [earlier.rows[-1], later.rows[-1]]
    first, last = machines
    if moved:
        why = f"the VM moved from {first.name} to {last.name} (vMotion, or powered on there)"
        return CounterStart("started again", why, rows)
    old, new = (row.values.get("port_id") for row in rows)
    if booted.state == "started again":
        return booted
    if old != new:
        why = (
            f"port {old} became port {new}: the adapter was reconnected (the guest or the VM was restarted, or the "
            "VM was moved away and back)"
        )
        return CounterStart("started again", why, rows)
    if booted.state == "not known":
        return booted
    return CounterStart("went on", f"port {old} stayed connected", booted.rows)


def check_card(
    table: Table, earlier: ComparedSubject, later: ComparedSubject, sides: SidePair
) -> CounterStart | None:
    """Return whether another card counts now, for a counter of a card."""
    column = ""
    for name in ("pnic", "vmnic", "hba"):
        if name in table.key:
            column = name
            break
    if not column:
        return None
    which = [names.nics if column != "hba" else names.adapters for names in sides.names]
    models = [names.models for names in sides.names]
    for how in (which, models):  # a blade gives a new card the address of the old one
        old, new = (
            known.get((one.node, one.value(column)))
            for known, one in zip(how, (earlier, later), strict=True)
        )
        if old and new and old != new:
            rows = [earlier.rows[-1], later.rows[-1]]
            why = f"{later.value(column)} is another card: {old} became {new}"
            return CounterStart("started again", why, rows, another=True)
    return None


def check_guest(first: ComparedMachine, last: ComparedMachine, sides: SidePair) -> CounterStart:
    """A guest prints no uptime next to its counters, and vMotion gives its VM another port without touching them.

    A counter that fell proves that they started again; another port of its VM then says why.
    """
    old, new = (
        sorted(
            str(place[1])
            for place, port in names.ports.items()
            if port.client.lower() == one.name.lower()
        )
        for names, one in zip(sides.names, (first, last), strict=True)
    )
    if old and new and old != new:
        ports = f"{', '.join(old)} became {', '.join(new)}"
        fell = f"its counters fell and the port of VM {last.name} changed ({ports}): the guest was most likely restarted"
        return CounterStart(
            "not known", f"the port of VM {last.name} changed ({ports})", if_fell=fell
        )
    if first.uptime is not None and last.uptime is not None:
        return boot_between(first, last)
    return CounterStart("not known", "the guest's boot time is not known")


def show_span(length: float) -> str:
    """Return a length of time in words, whole units only."""
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if length >= 2 * size:
            return f"{length / size:.0f} {unit}"
    return f"{length:.0f} s"
