"""The case document: the only thing kept of an analysis (docs/case.md).

One declaration gives the records of the program, the bytes of case.json, its JSON Schema and the checks of a
file that is read back. A field with a default is one that documents of earlier versions lack.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from analyzer.case.fields import (
    Address,
    Count,
    Customer,
    DocumentRecord,
    Number,
    Product,
    Stamp,
    Template,
    one_of,
)
from analyzer.case.verdicts import Cut, Finding

SCHEMA = "backline/case-1"


class CaseSpan(DocumentRecord, kw_only=True):
    """First and last time of a stretch."""

    first: Stamp
    last: Stamp


class GivenFile(DocumentRecord, kw_only=True):
    """One thing that was dropped in."""

    name: Annotated[Customer, Meta(description="Its name as given.")]
    size: Annotated[Count | None, Meta(description="Bytes, null when not known.")]
    sha256: Annotated[
        Product, Meta(description="Of its bytes, in hexadecimal; empty for a folder.")
    ]


class CaseHead(DocumentRecord, kw_only=True):
    """What was dropped in."""

    name: Annotated[Customer, Meta(description="Name of the case.")]
    files: list[GivenFile]
    created: Stamp
    span: Annotated[CaseSpan | None, Meta(description="First and last time stamp of all logs.")]
    complete: Annotated[
        bool,
        Meta(
            description="False when something was cut, damaged or left out because of a limit: absence "
            "proves nothing then."
        ),
    ]
    masked: Annotated[bool, Meta(description="Names and addresses were replaced.")]
    incident: Stamp = ""
    map: Annotated[
        Product | UnsetType,
        Meta(
            description="Of a redacted document: the state of the map of names that was used; no name "
            "stands in it."
        ),
    ] = UNSET


class Tool(DocumentRecord, kw_only=True):
    """Who made the document."""

    name: Annotated[Product, one_of("backline")]
    version: Annotated[Product, Meta(description="Version of the tool.")]
    catalog: Annotated[Product, Meta(description="Hash of all rules.")]
    rules: Annotated[Count, Meta(description="Number of rules judged.")]


class MutedEntry(DocumentRecord, kw_only=True):
    """A decision to fold findings away, and what became of it."""

    rule: Annotated[Product, Meta(description="Id of the rule.")]
    subject: Annotated[
        Customer, Meta(description="Name, or a pattern between slashes; empty for all.")
    ]
    node: Annotated[Customer, Meta(description="Name of the node, with * and ?; empty for all.")]
    reason: Annotated[Customer, Meta(description="Why it was muted.")]
    until: Annotated[Product, Meta(description="The last day on which it holds.")]
    state: Annotated[
        Product,
        one_of("holds", "ran out", "undated"),
        Meta(
            description="undated: it holds, but nothing in the material has a date to judge its end by."
        ),
    ]
    findings: Annotated[
        Count, Meta(description="Findings it folds away; of one that ran out: would have.")
    ]
    unknowns: Annotated[Count, Meta(description="Subjects that cannot be judged, likewise.")]


class Threshold(DocumentRecord, kw_only=True):
    """A named number of a rule that local settings changed."""

    rule: Annotated[Product, Meta(description="Id of the rule.")]
    name: Annotated[Product, Meta(description="Its name under `let`.")]
    value: Annotated[Number, Meta(description="As it was used.")]
    shipped: Annotated[Number, Meta(description="As the rule has it.")]
    reason: Annotated[Customer, Meta(description="Why it was changed.")]


class CatalogPart(DocumentRecord, kw_only=True):
    """One place rules came from."""

    kind: Annotated[
        Product,
        one_of("shipped", "folder", "file", "pack"),
        Meta(description="shipped: came with the tool; pack: an installed distribution."),
    ]
    name: Annotated[
        Customer, Meta(description="Name of the folder, file or pack; empty for shipped.")
    ]
    version: Annotated[Product, Meta(description="Of a pack.")]
    sha256: Annotated[Product, Meta(description="Hash of the rule files in their order.")]
    rules: Annotated[Count, Meta(description="Rules judged.")]
    broken: Annotated[Count, Meta(description="Files that could not be used.")]


class CaseSettings(DocumentRecord, kw_only=True):
    """What local settings changed in this case, and which rules were used."""

    file: Annotated[Customer, Meta(description="Name of the settings file, or empty.")]
    sha256: Annotated[Product, Meta(description="Hash of the settings file, or empty.")]
    day: Annotated[
        Product,
        Meta(
            description="The day by which mutes run out: the newest one in the material. Empty when there "
            "is no mute, or no time in the material."
        ),
    ]
    mutes: Annotated[
        list[MutedEntry],
        Meta(description="All of them in the order of the file, those that muted nothing as well."),
    ]
    thresholds: Annotated[
        list[Threshold], Meta(description="Numbers of rules that are not as shipped.")
    ]
    unused: Annotated[
        list[Template],
        Meta(
            description="Thresholds of the settings file that changed nothing, each in a sentence with "
            "the reason."
        ),
    ]
    catalogs: Annotated[list[CatalogPart], Meta(description="Where the rules came from.")]


class NodeLog(DocumentRecord, kw_only=True):
    """One log table of a node."""

    table: Annotated[Product, Meta(description="Name of the table, e.g. `esxi.vmkernel`.")]
    first: Stamp
    last: Stamp
    lines: Annotated[Count, Meta(description="Lines read.")]
    members: Annotated[
        Count, Meta(description="Members the lines came from, rotated ones included.")
    ]
    parts: Annotated[
        list[CaseSpan],
        Meta(
            description="The stretches of time that its members cover, in their order; empty when not "
            "known."
        ),
    ] = []


class CaseNode(DocumentRecord, kw_only=True):
    """A host, manager, controller, edge or guest of the case."""

    id: Annotated[Customer, Meta(description="Key of the node in this case.")]
    kind: Annotated[
        Product,
        Meta(
            description="esxi, nsx_manager, nsx_controller, nsx_edge, nsx_t, vcenter, guest, loose, …"
        ),
    ]
    name: Annotated[Customer, Meta(description="Host name; empty when not known.")]
    product: Annotated[Product, Meta(description="e.g. `VMware ESXi`.")]
    version: Annotated[Product, Meta(description="e.g. `6.5.0`.")]
    build: Annotated[Product, Meta(description="Build number.")]
    release: Annotated[Product, Meta(description="Name of the release, e.g. `6.5 Update 1`.")]
    uptime_s: Annotated[
        Number | None, Meta(description="Seconds since boot at the time of capture.")
    ]
    captured: Stamp
    sources: Annotated[list[Address], Meta(description="What this node is known from.")]
    logs: list[NodeLog]
    warnings: Annotated[
        list[Template], Meta(description="What is odd about the node, e.g. two different builds.")
    ]
    bundle: Annotated[
        bool,
        Meta(
            description="Whether some of it comes from a support bundle; false for loose files and "
            "transcripts alone."
        ),
    ] = True


class CardItem(DocumentRecord, kw_only=True):
    """One thing of a host, e.g. an adapter or a datastore."""

    name: Annotated[Customer, Meta(description="Name of the object, empty for the host itself.")]
    text: Template
    address: Annotated[
        Customer, Meta(description="Where it was read; empty when it is worked out.")
    ]
    line: Count


class CardRow(DocumentRecord, kw_only=True):
    """What one part of the host is; without items its table holds nothing or was not sent."""

    title: Product
    items: Annotated[list[CardItem], Meta(description="By name; the first 100.")]
    total: Annotated[Count, Meta(description="How many items there are.")]
    missing: Annotated[
        list[Product], Meta(description="What to ask for to fill what is not known.")
    ]


class HostCard(DocumentRecord, kw_only=True):
    """The card of one host."""

    node: Annotated[Customer, Meta(description="Id of the node.")]
    rows: list[CardRow]


class UnreadOutput(DocumentRecord, kw_only=True):
    """A command of a transcript whose output nothing reads."""

    line: Annotated[int, Meta(description="Line on which the command was typed.")]
    command: Annotated[Customer, Meta(description="The command as typed.")]
    lines: Annotated[
        int, Meta(description="Lines of its output that nothing reads, blank ones not counted.")
    ]


class CaseSource(DocumentRecord, kw_only=True):
    """A member or loose file and what became of it."""

    address: Address
    size: Annotated[Count | None, Meta(description="Bytes, null when not known.")]
    state: Annotated[
        Product,
        one_of(
            "read",
            "searched",
            "duplicate",
            "listed",
            "skipped",
            "cut",
            "refused",
            "unknown",
            "other",
        ),
        Meta(
            description="read by a parser; searched for signatures; duplicate of another source, counted "
            "once; listed only, nobody reads it; skipped by choice; cut short; refused; "
            "unknown: came in by itself or looks like support material, and nothing "
            "understands it; other: lies beside the material, and nothing understands it."
        ),
    ]
    read_by: Annotated[Product, Meta(description="Parsers or log tables, comma separated.")]
    why: Annotated[
        Template,
        Meta(
            description="Reason for skipped, cut, refused; of a log how many lines were not understood."
        ),
    ]
    lines: Annotated[Count, Meta(description="Lines read.")]
    looked_at: Annotated[
        Count,
        Meta(
            description="Lines looked at one by one for such that are not understood: of a large log a "
            "part."
        ),
    ] = 0
    faults: Annotated[Count, Meta(description="Lines not understood, among those looked at.")]
    node: Annotated[Customer, Meta(description="Name of the node.")]
    unread_outputs: Annotated[
        list[UnreadOutput],
        Meta(
            description="Commands of a transcript whose output nothing reads, at most 1,000; why says how "
            "many there are."
        ),
    ] = []


class Ask(DocumentRecord, kw_only=True):
    """One thing to request: a file or a command."""

    what: Annotated[Template, Meta(description="Path or name of a file, or a command line.")]
    command: Annotated[bool, Meta(description="Whether it is a command to type.")]
    remark: Annotated[
        Template, Meta(description="Where, when or how, empty where nothing is to be said.")
    ]
    nodes: Annotated[
        list[Customer],
        Meta(description="Machines that did not send it; empty where no machine is known."),
    ]


class CannotTellGroup(DocumentRecord, kw_only=True):
    """What is missing, and everything it would decide."""

    missing: Annotated[Product, Meta(description="Table or column.")]
    reason: Annotated[
        Product, one_of("missing", "unreadable", "unparsed", "not_applicable", "outside")
    ]
    why: Annotated[Template, Meta(description="What happened, in words.")]
    ask: Annotated[Template, Meta(description="Command or file to ask the customer for.")]
    asks: Annotated[
        list[Ask],
        Meta(
            description="What to request, a record for each file or command, those left out that every "
            "machine sent already."
        ),
    ] = []
    commands: Annotated[
        list[Template],
        Meta(
            description="The commands in `ask`, bare: each can be run as it is, once names in <…> are "
            "filled in."
        ),
    ] = []
    rules: list[Product]
    subjects: list[Template]
    nodes: list[Customer]
    muted: Annotated[Customer, Meta(description="Why it was muted and until when, or empty.")]
    in_bundle: Annotated[
        bool, Meta(description="It is missing, and a support bundle of the host holds it.")
    ] = False
    settles: Annotated[
        list[Product], Meta(description="Rules whose findings an answer would settle.")
    ] = []


class QuietRule(DocumentRecord, kw_only=True):
    """A rule that found nothing."""

    rule: Annotated[Product, Meta(description="Id of the rule.")]
    title: Annotated[Product, Meta(description="Its title.")]
    kb: list[int]
    looked_at: Annotated[Count, Meta(description='Subjects it answered "no match" for.')]
    not_applicable: Annotated[Count, Meta(description="Subjects it does not apply to.")]


class KnownLabel(DocumentRecord, kw_only=True):
    """A rule that an engineer confirmed in stored cases."""

    rule: Annotated[Product, Meta(description="Id of the rule.")]
    cases: Annotated[
        Count, Meta(description="Stored cases with the sign in which somebody confirmed it.")
    ]


class KnownSign(DocumentRecord, kw_only=True):
    """What an archive of earlier cases knows of a kind of signal; the case itself does not count."""

    cases: Annotated[Count, Meta(description="Stored cases that have it.")]
    of: Annotated[Count, Meta(description="Stored cases whose signals are known.")]
    labels: Annotated[
        list[KnownLabel],
        Meta(description="What engineers said of these cases, the most said first."),
    ] = []


CHRONIC = frozenset({"all along", "steady"})  # ages of a signal that was there before the trouble
SHOWN_FROM = 3.0  # weight from which a signal that is not chronic is shown and not folded; our own


class Signal(DocumentRecord, kw_only=True):
    """A sign of trouble that no finding rests on: lines or cells of one kind on one machine. It has no severity."""

    node: Annotated[Customer, Meta(description="Id of the node, empty when it is not known.")]
    kind: Annotated[
        Product,
        one_of(
            "event", "alert", "backtrace", "core dump", "core dump file", "few lines", "line", "cell",
            "warning",
        ),
    ]  # fmt: skip
    what: Annotated[
        Customer,
        Meta(
            description="Id of the event, words of the ALERT with N for numbers, first frame of the "
            "backtrace, name of the dump, words of the line with # for names and numbers, what is wrong with the "
            "cell; empty for lines of further kinds, counted together."
        ),
    ]
    object: Annotated[
        Customer, Meta(description="What the event is about, where its text names it.")
    ]
    title: Annotated[
        Product,
        Meta(description="What the catalog says of the event, empty when it does not know it."),
    ]
    count: Count
    first: Stamp
    last: Stamp
    ended: Stamp
    address: Address
    line: Annotated[Count, Meta(description="Line of the first; 0 when it has none.")]
    text: Annotated[Customer, Meta(description="The first line.")]
    last_address: Annotated[
        Customer, Meta(description="Address of the last line, empty for a file.")
    ]
    last_line: Count
    module: Annotated[
        Customer,
        Meta(description="Subsystem, driver or program of the line; table and column of the cell."),
    ] = ""
    weight: Annotated[
        float, Meta(description="Where it ranks: 6 and more is heavy, 3 is light.")
    ] = 0.0
    why: Annotated[
        list[Product], Meta(description="What gave it its weight, the heaviest first.")
    ] = []
    age: Annotated[
        Product,
        Meta(
            description="new, grown, all along, steady, burst, known background, or empty where it is not known."
        ),
    ] = ""
    about: Annotated[
        Product,
        Meta(
            description="What its module is, where it goes on and what to ask for; empty where no row tells."
        ),
    ] = ""
    precedes: Annotated[
        list[Product],
        Meta(
            description="Rules whose finding of major or above on this machine begins within 15 s after the first line."
        ),
    ] = []
    known: Annotated[
        KnownSign | None,
        Meta(description="How often stored cases have it; null where no archive was given."),
    ] = None


class Event(DocumentRecord, kw_only=True):
    """One moment of the case."""

    time: Stamp
    node: Annotated[Customer, Meta(description="Name of the node.")]
    text: Annotated[Template, Meta(description="What happened.")]
    address: Address
    line: Annotated[Count, Meta(description="1-based line, 0 when it has none.")]
    kind: Annotated[Product, one_of("hit", "event", "boot", "capture", "incident")]
    rule: Annotated[Product, Meta(description="The rule whose signature hit, or empty.")]


class ChartLine(DocumentRecord, kw_only=True):
    """One line of the chart."""

    label: Annotated[Customer, Meta(description="Its name.")]
    values: Annotated[
        list[Number | None], Meta(description="One value a time; null when not known.")
    ]


class CaseChart(DocumentRecord, kw_only=True):
    """Values over time."""

    title: Annotated[Template, Meta(description="What is drawn.")]
    unit: Annotated[Product, Meta(description="e.g. `%`.")]
    node: Annotated[Customer, Meta(description="Name of the node.")]
    times: Annotated[
        list[Stamp | Number], Meta(description="ISO 8601 in UTC, or seconds since 1970.")
    ]
    lines: list[ChartLine]
    same_as: Annotated[
        Template,
        Meta(
            description="Key of the chart that holds the samples, when another draws the very same; then "
            "`times` and `lines` are empty. The title is this chart's own."
        ),
    ] = ""


class Port(DocumentRecord, kw_only=True):
    """The way of a frame from a VM to the wire."""

    node: Annotated[Customer, Meta(description="Host.")]
    vm: Annotated[Customer, Meta(description="VM.")]
    vnic: Annotated[Customer, Meta(description="Number or label of the adapter.")]
    adapter: Annotated[Product, Meta(description="Type, e.g. `vmxnet3`.")]
    port_id: Annotated[Customer, Meta(description="Port on the switch.")]
    switch: Annotated[Customer, Meta(description="Portset.")]
    portgroup: Annotated[Customer, Meta(description="Port group.")]
    uplinks: Annotated[list[Customer], Meta(description="Physical adapters of the switch.")]
    mac: Annotated[Customer, Meta(description="MAC address.")]


class SiteRow(DocumentRecord, kw_only=True):
    """One row of the picture of a site: a member, a channel or a clock."""

    what: Product
    name: Customer
    other: Customer
    channel: Customer
    state: Customer
    said: Customer
    said_by: Customer
    at: Product
    note: Template
    address: Customer
    line: int


class CaseFault(DocumentRecord, kw_only=True):
    """A line that a parser did not understand."""

    address: Address
    line: Annotated[Count, Meta(description="1-based line.")]
    text: Annotated[Customer, Meta(description="The line.")]
    parser: Annotated[Product, Meta(description="Who did not understand it.")]
    why: Annotated[Template, Meta(description="What was expected.")]


class CaseDamage(DocumentRecord, kw_only=True):
    """A place where the input is broken."""

    address: Address
    offset: Annotated[int | None, Meta(description="Byte in that member, null when not known.")]
    what: Annotated[Template, Meta(description="What is wrong.")]
    left_out: Annotated[Template, Meta(description="What could not be read because of it.")]


class HarmlessLine(DocumentRecord, kw_only=True):
    """How often a harmless line of kb.harmless_line is in the logs of a node."""

    id: Product
    node: Customer
    count: int
    first: Product
    last: Product
    title: Product
    text: Annotated[Product, Meta(description="Why it is harmless.")]
    unless: Annotated[Product, Meta(description="When it is worth a look after all.")]
    log: Product
    kb: list[int]
    source: list[Product]
    address: Customer
    line: Count


class CaseLogLine(DocumentRecord, kw_only=True):
    """A line of a log."""

    time: Annotated[
        Product,
        Meta(
            description="ISO 8601 in UTC, with the fraction that the log has; of a line without a time "
            "that of the line above it."
        ),
    ]
    node: Customer
    log: Annotated[Product, Meta(description="Name of the log: vmkernel, hostd, vobd, …")]
    level: Annotated[
        Product,
        Meta(description="Severity as the log states it, in one word; empty when it states none."),
    ]
    component: Annotated[
        Customer, Meta(description="Module, subsystem or program that the line names.")
    ]
    object: Annotated[
        Customer,
        Meta(description="Adapter, switch, path, device or volume that the line names first."),
    ]
    text: Annotated[Customer, Meta(description="The line, cut at 400 characters, without secrets.")]
    address: Address
    line: Count


class CaseDocument(DocumentRecord, kw_only=True):
    """What Backline knows of one support case. Written as case.json; every report is made of it alone."""

    schema: Annotated[Product, Meta(extra_json_schema={"const": SCHEMA})]
    case: CaseHead
    tool: Tool
    settings: CaseSettings
    nodes: list[CaseNode]
    hosts: Annotated[
        list[HostCard],
        Meta(
            description="ESXi hosts at a glance, in the order of the nodes; none for a host of which no "
            "table tells."
        ),
    ] = []
    sources: Annotated[
        list[CaseSource],
        Meta(description="Every member; above 2,000 the merely listed ones are folded by folder."),
    ]
    findings: Annotated[
        list[Finding], Meta(description="Worst first; those of one rule and weight side by side.")
    ]
    cannot_tell: Annotated[
        list[CannotTellGroup],
        Meta(description="Grouped by what is missing and what to ask for; the widest group first."),
    ]
    quiet: list[QuietRule]
    cuts: Annotated[
        list[Cut],
        Meta(
            description="Rules with more subjects than are told in full; empty when every subject is."
        ),
    ] = []
    signals: Annotated[
        list[Signal],
        Meta(
            description="Signs of trouble that no finding rests on, the likeliest first; what is over comes "
            "last. The first 60 of a machine."
        ),
    ] = []
    signals_total: Annotated[Count, Meta(description="How many there are.")] = 0
    timeline: Annotated[list[Event], Meta(description="By time.")]
    series: Annotated[dict[str, CaseChart], Meta(description="Charts by key, `finding id/column`.")]
    topology: list[Port]
    site: Annotated[
        list[SiteRow],
        Meta(
            description="An NSX for vSphere site: its members, what each says of its channels, and its "
            "clocks."
        ),
    ] = []
    faults: Annotated[list[CaseFault], Meta(description="The first 200.")]
    faults_total: Annotated[Count, Meta(description="How many there are.")]
    damage: list[CaseDamage]
    limits: Annotated[list[Template], Meta(description="Limits that were reached, as sentences.")]
    advice: Annotated[
        list[Template], Meta(description="What else would help, e.g. commands to run.")
    ]
    notes: Annotated[
        list[Template],
        Meta(description="What was odd of the sources and cost nothing of their content."),
    ] = []
    harmless: Annotated[
        list[HarmlessLine],
        Meta(
            description="Lines that look bad and are not, counted for each node; they hide no finding."
        ),
    ] = []
    log: Annotated[
        list[CaseLogLine],
        Meta(
            description="Lines of the logs of all nodes within five minutes of a finding or a moment, in "
            "order of time: those that the search of the logs kept, with their neighbours. At "
            "most 300; `backline log` prints all lines."
        ),
    ] = []
