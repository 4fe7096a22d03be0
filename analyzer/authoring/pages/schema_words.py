"""Hover texts of the editor: meaning and example for every key of a rule below the top level.

The meanings of the top level are those of the loader (`rules.keys.KEYS`); here they get their examples.
"""

from __future__ import annotations

from analyzer.verdicts import Verdict

# Key at the top level -> further sentences for the hover text, and an example.
TOP: dict[str, tuple[str, str]] = {
    "rule": ("The file is named `<rule>.yaml`.", "rule: kb-2039495"),
    "title": (
        "At most 90 characters, no full stop. It heads the finding in every report.",
        "title: VMXNET3 receive ring runs full and frames to the guest are dropped",
    ),
    "kb": ("Whole numbers; an empty list when there is none.", "kb: [2039495, 1010071]"),
    "issues": ("Whole numbers, as release notes print them.", "issues: [1955855]"),
    "source": (
        "One text or a list. A threshold that is our own says so.",
        "source: VMware KB 1010071 for the meaning of %DRPRX; the share of samples is our own threshold",
    ),
    "checked": ("Written YYYY-MM-DD. A KB article changes without notice.", "checked: 2026-11-20"),
    "owner": ("`backline rules list --owner` finds its rules.", "owner: storage team"),
    "tags": (
        "Words of a-z and 0-9 with dashes, for `backline rules list --tag`.",
        "tags: [vmxnet3, packet-loss]",
    ),
    "status": ("Without it a rule is `test`.", "status: test"),
    "proven": (
        "A rule that is `stable` needs it; docs/writing-rules.md has the criteria.",
        'proven: "2026-11-20: back-test over 1,200 cases, 31 findings read, none wrong"',
    ),
    "replaced_by": ("", "replaced_by: kb-2039495"),
    "replaces": ("None of them may be in use any more.", "replaces: [our-old-ring]"),
    "revised": ("Written YYYY-MM-DD.", "revised: 2026-11-20"),
    "needs": ("", 'needs: "0.2"'),
    "about": (
        "",
        "about: >-\n  The guest drains its receive ring slower than frames arrive. Every further frame is lost\n"
        "  until the guest catches up.",
    ),
    "product": (
        "A host that does not run it is not asked for anything. A table of nsx or nsxt says it already.",
        "product: nsxt",
    ),
    "sign": (
        "The short form of a rule: one verdict for each value of `per`, or for each machine without it. In texts and "
        "conditions `sign.count`, `sign.first`, `sign.last`, the columns of the earliest line by their names, and "
        "`hit.column` for all lines; with `at_least` or `within` also `often`.",
        "sign:\n  in: esxi.vobd\n  match: '\\[vob\\.net\\.vmnic\\.linkstate\\.down\\] vmnic (?P<vmnic>\\S+)'\n"
        "  per: vmnic",
    ),
    "cleared": (
        "Without `severity` the rule says nothing about what is over; `over` is true where such a line follows the "
        "last line of the sign. It names the subject by the same groups as `sign`.",
        "cleared: '\\[vob\\.net\\.vmnic\\.linkstate\\.up\\] vmnic (?P<vmnic>\\S+)'",
    ),
    "each": (
        "The alias is a name of your own; columns are then written `alias.column`. Of a signature under `logs`: "
        "`dev in late per device`. All tables with their columns and "
        "units are in docs/tables.md.",
        "each: port in esxi.client_stats",
    ),
    "join": (
        "A row that is not there makes its columns unknown, not zero.",
        "join:\n  who: {table: esxi.net_stats, by: [port_id]}\n"
        "  queue: {table: esxi.vmxnet3_rx_queue, by: [switch, port_id], rows: many}",
    ),
    "fact": (
        "The row is named by its alias under `join`. With `rows: each` it is known without this key.",
        "fact: means",
    ),
    "population": (
        'A thing of this list without a row in `each` is "cannot tell", with the `ask`.',
        'population: {table: esxi.net_stats, as: p, by: [port_id], where: p.type == 5, subject: "{p.client_name}"}',
    ),
    "subject": (
        "Fields in braces; without it the key columns of `each`.",
        'subject: "{who.client_name}, port {port.port_id}"',
    ),
    "object": (
        "Findings on the same object are shown together. In a list the first is the object; the others are what it "
        "rests on: findings of `explained_by` on them explain this one too.",
        'object: "{who.client_vm}"',
    ),
    "logs": (
        "Named groups of the pattern become columns of its hits. The name itself is true when the log has a hit.",
        "logs:\n  link_down:\n    in: esxi.vobd\n    match: '\\[esx\\.problem\\.net\\.vmnic\\.linkstate\\.down\\]'",
    ),
    "seen": (
        "Each name is true, false or unknown, and has `.count`, `.first` and `.last` for texts.",
        "seen:\n  burst: {log: api_error, at_least: 3, within: 10m}\n"
        "  order: {sequence: [mgr_start, api_error], within: 30m}\n  quiet: {none: api_error, for: 24h}",
    ),
    "affected": (
        "A build is written behind its version and compared only inside it. Several ranges: any; several products: "
        "each. Outside the rule is not applicable; without a known version it cannot tell.",
        'affected:\n  esxi: [">=6.5.0 <6.5.0-7388607", "6.7.0"]\n  nsx: ["6.3.3"]',
    ),
    "fixed_in": ("Shown with the rule; none of them may be affected.", "fixed_in:\n  nsx: [6.3.4]"),
    "only": ("False: the rule is not applicable. Unknown: it cannot tell.", 'only: mgr.version == "6.3.3"'),
    "let": (
        "A plain number is a threshold that `backline.toml` can change.",
        "let:\n  lost: port.dropped_rx / (port.pkts_rx_ok + port.dropped_rx)\n"
        "  waiting: share(cpu.rdy_pct / vm.vcpus >= 10)",
    ),
    "when": (
        "Names, numbers, texts, comparisons, `in [...]`, `and or not`, `+ - * /` and `sum max min mean count share any "
        "all known`. Columns of a join with `rows: many` go inside such a function. "
        "A value that is not there is unknown.",
        "when: port.dropped_rx > 0 and (ring_full > 0 or rx.out_of_buffers > 0)",
    ),
    "severity": ("With `sign`, in the place of `outcomes`.", "severity: warning"),
    "confidence": ("With `sign`, in the place of `outcomes`; `likely` without it.", "confidence: likely"),
    "say": ("With `sign`, in the place of `outcomes`.", 'say: "{sign.count} events of {device} from {sign.first} on."'),
    "grade": ("", "grade:\n  - {when: lost >= 0.001, severity: major}\n  - {when: lost < 0.001, severity: warning}"),
    "outcomes": (
        '1 to 50 of them. One above that is unknown is shown as "may be worse".',
        "outcomes:\n  - when: true\n    severity: warning\n    confidence: likely\n"
        '    say: "{lost:.3%} of frames lost."',
    ),
    "notes": ("", 'notes:\n  - when: lro > 0\n    say: "LRO merges frames before they are counted."'),
    "evidence": ("Names and columns; the lines they were read from are shown.", "evidence: [port.dropped_rx, lost]"),
    "chart": ("Number columns of a join with `rows: many`.", "chart: [cpu.rdy_pct, cpu.mlmtd_pct]"),
    "fix": ("", "fix:\n  - where: guest, Linux\n    run: ethtool -G eth0 rx 4096\n    note: Not kept over a reboot."),
    "caution": ("", "caution: The change resets the adapter. Plan a window."),
    "not_this": ("One text or a list.", "not_this:\n  - One sample above zero in a long capture is noise."),
    "explained_by": ("Ids of rules.", "explained_by: [cpu-limit-starves-vm]"),
    "ask": (
        "A command or a file, in words that can go to the customer; or one for each table.",
        "ask: vsish -e get /net/portsets/<switch>/ports/<port>/vmxnet3/rxSummary",
    ),
    "examples": (
        "At least one for match, no match and cannot tell, and one through `files`.",
        "examples:\n  - name: two uplinks\n    tables:\n      esxi.teaming: [{switch: vSwitch0, n_uplinks: 2}]\n"
        "    expect: {result: match, severity: warning}",
    ),
}

# `parent.key` -> meaning, and an example; those of the short form are put to them below.
BELOW: dict[str, tuple[str, str]] = {
    "join.table": (
        "the table the rows come from, or a signature under `logs`, whose lines then are the rows",
        "table: esxi.net_stats",
    ),
    "join.by": (
        "columns in which both rows are equal: a list of common names, or mine -> theirs; `[]` takes every row",
        "by: {who.client_vm: vm_name}",
    ),
    "join.rows": (
        "`one` (the nearest row, as without this key), `many`, for functions such as sum(), or, of a table kb.…, "
        "`each`: one verdict for each row",
        "rows: many",
    ),
    "join.nodes": ("`same` node as the subject (as without this key) or `any` node of the case", "nodes: any"),
    "join.where": (
        "only rows for which this is true; columns are written `alias.column`",
        'where: guest.direction == "rx"',
    ),
    "population.table": ("the table that lists every subject there should be", "table: esxi.net_stats"),
    "population.as": ("alias of its rows, for `where` and `subject`", "as: p"),
    "population.by": ("columns in which a row of `each` and one of this list are equal", "by: [port_id]"),
    "population.where": ("only rows for which this is true", "where: p.type == 5 and p.subtype == 9"),
    "population.subject": ("text that names a subject without a row in `each`", 'subject: "{p.client_name}"'),
    "logs.in": ("the log to search", "in: esxi.vobd"),
    "logs.match": (
        "regular expression, in single quotes so that a backslash is a backslash; some plain letters make it quick",
        "match: '\\[esx\\.audit\\.(?:shell|ssh)\\.enabled\\]'",
    ),
    "logs.ignore_case": ("true: capital and small letters are the same", "ignore_case: true"),
    "logs.columns": (
        "kinds of the named groups, for lines that are used as a table: group -> kind; a group not named here is text",
        "columns: {latency: int}",
    ),
    "logs.otherwise": (
        "what a named group is in a line that has none: group -> words; such a line then speaks of that alone",
        "otherwise: {device: this host}",
    ),
    "logs.where": (
        "condition on the hit: columns of the log and named groups of the pattern",
        'where: level == "error"',
    ),
    "logs.keep": ("lines shown as evidence, 1 to 50; 3 without this key", "keep: 5"),
    "logs.nodes": ("`same` node as the subject (as without this key) or `any` node of the case", "nodes: any"),
    "seen.log": ("signature under `logs` whose hits are counted", "log: api_error"),
    "seen.at_least": ("number of hits that makes it true; 1 without this key", "at_least: 3"),
    "seen.within": ("length of the sliding window: a number with s, m, h or d", "within: 10m"),
    "seen.per": ("count for each value of this column or named group by itself", "per: controller"),
    "seen.distinct": ("count different values of this column or named group instead of hits", "distinct: controller"),
    "seen.sequence": ("2 to 10 signatures that follow one another in this order", "sequence: [mgr_start, api_error]"),
    "seen.none": ("signature that has no hit; unknown when the log does not cover the time", "none: heartbeat"),
    "seen.for": ("how long there was no hit, up to the end of the log: a number with s, m, h or d", "for: 24h"),
    "seen.until": ("signature whose line ends what a line of `log` begins", "until: link_up"),
    "seen.longer_than": ("true of what lasts longer, or goes on: a number with s, m, h or d", "longer_than: 60s"),
    "grade.when": ("condition for this severity; the first true one is taken", "when: lost >= 0.001"),
    "grade.severity": ("how severe the finding then is", "severity: major"),
    "outcomes.when": ("condition for this answer; without it the answer always holds", "when: ring1 >= 4096"),
    "outcomes.severity": ("how severe the finding is; may be left to `grade`", "severity: major"),
    "outcomes.confidence": ("how sure the finding is; `likely` without this key", "confidence: confirmed"),
    "outcomes.say": (
        "the finding in one or two sentences; `{name}` or `{name:format}` puts a value in, `{{` writes a brace",
        'say: "{lost:.3%} of frames lost; the smallest ring #1 holds {ring1} descriptors."',
    ),
    "notes.when": ("condition for the sentence", "when: rx.lro_pkts_rx_ok > 0"),
    "notes.say": ("the sentence; fields in braces as in an outcome", 'say: "The guest counts {guest_oob} as well."'),
    "fix.when": (
        "condition for the step; where it is false the step is left out, where it is unknown see `unsure`",
        "when: ring1 < ring1_most",
    ),
    "fix.unsure": (
        "words before the step where `when` is unknown; without them the step is then left out",
        'unsure: "if ring #1 is below its maximum (ethtool -g)"',
    ),
    "fix.where": ("machine or screen where the step is done", "where: guest, Linux"),
    "fix.run": (
        "a command that can be copied; `{name}` puts a value in, quoted, or leaves `<name>` where it is not harmless",
        "run: ethtool -G {dev.interface} rx {ring1_most}",
    ),
    "fix.do": ("what to do where there is no command; takes values as `say` does", "do: Set Limit to Unlimited."),
    "fix.note": ("what to know about the step; takes values as `say` does", "note: Not kept over a reboot."),
    "fix.caution": (
        "what the step interrupts or changes; shown with the step only; takes values as `say` does",
        "caution: Resets the adapter for a moment.",
    ),
    "examples.name": ("what is special about this case; used once in the file", "name: nothing dropped"),
    "examples.like": (
        "name of an example above; its tables, logs and files are taken over, those named here replaced",
        "like: two uplinks",
    ),
    "examples.tables": (
        "rows by hand: `[]` is a table that was read and is empty, `null` one that is not in the case",
        "tables:\n  esxi.teaming: [{switch: vSwitch0, n_uplinks: 2}]",
    ),
    "examples.logs": (
        "text of a log, line by line; `null`: the log is not in the case",
        "logs:\n  esxi.vobd: |\n    2021-02-02T19:26:34.577Z: …",
    ),
    "examples.files": (
        "text as a host prints it, read by the real parser",
        "files:\n  - path: esx.txt\n    text: |\n      [root@esx0:~] net-stats -l",
    ),
    "examples.cut": ("tables whose source ended early", "cut: esxi.net_stats"),
    "examples.expect": ("what the rule must say of this case", "expect: {result: match, severity: warning}"),
    "examples.gap": ("true: a known gap; the example must fail until the rule is fixed", "gap: true"),
    "files.path": ("path inside a bundle or name of a loose file, by which the parser is chosen", "path: esx.txt"),
    "files.command": ("command that printed the text; goes straight to its parser", "command: net-stats -l"),
    "files.parser": ("name of the parser, when neither path nor command identifies it", "parser: net_stats"),
    "files.text": ("the text itself", "text: |\n  PortNum          Type SubType SwitchName"),
    "files.node": ("name of the node the text comes from", "node: esx2"),
    "files.kind": ("kind of that node: esxi, guest, nsx_manager, nsx_controller, nsx_edge", "kind: guest"),
    "expect.result": ("the verdict", "result: match"),
    "expect.severity": ("severity of the finding", "severity: warning"),
    "expect.confidence": ("confidence of the finding", "confidence: likely"),
    "expect.say": ("words the finding holds; a list for several places", "say: holds 256 of at most 4096"),
    "expect.missing": ('table or column that "cannot tell" names', "missing: esxi.vmxnet3_rx_summary"),
    "expect.maybe_worse": ('table or column that "may be worse" names', "maybe_worse: esxtop.port"),
    "expect.count": ("number of subjects with this result", "count: 2"),
    "expect.subject": ("words of the subject", "subject: port 33554464"),
    "expect.object": ("name of the object", "object: lin-rx"),
    "expect.also": (
        "words of the sentences added to the finding: notes, and what could not be checked",
        "also: LRO merges frames",
    ),
    "expect.fix": ("words of the steps of the remedy that are shown", "fix: ethtool -G eth0 rx 4096"),
    "expect.no_fix": ("words that no step of the remedy holds", "no_fix: ethtool -G"),
    "expect.evidence": ("words of the evidence", "evidence: ring1_full = 7086"),
    "expect.reason": (
        "why the rule cannot tell: missing, unreadable, unparsed, not_applicable or outside (the log does not reach,"
        " or is an excerpt)",
        "reason: missing",
    ),
}

BELOW |= {f"rows.{key[9:]}": BELOW[key] for key in list(BELOW) if key.startswith("examples.")}
BELOW["rows.rows"] = ("rows of the table of `each`: a list, or one row", "rows: {used_pct: 91}")
BELOW["rows.expect"] = ("what else the rule must say", "expect: {count: 2}")
_LOG = {key.partition(".")[2]: words for key, words in BELOW.items() if key.startswith("logs.")}
_SEEN = {key.partition(".")[2]: words for key, words in BELOW.items() if key.startswith("seen.")}
_ANSWER = {key.partition(".")[2]: words for key, words in BELOW.items() if key.startswith("outcomes.")}
_CASES = "a text with lines of the log, or a list of such texts, one case each"
BELOW |= {f"case.{key[7:]}": BELOW[key] for key in list(BELOW) if key.startswith("expect.") and key != "expect.result"}
BELOW |= {f"sign.{key}": words for key, words in _LOG.items()}
BELOW |= {f"sign.{key}": _SEEN[key] for key in ("at_least", "within", "distinct")}
BELOW |= {f"cleared.{key}": words for key, words in _LOG.items()}
BELOW |= {f"cleared.{key}": _ANSWER[key] for key in ("severity", "confidence", "say")}
BELOW |= {
    "case.name": ("what is special about this case", "name: one second to the microsecond"),
    "case.lines": ("the lines of the log", "lines: |\n  2021-02-02T19:26:34.577Z: …"),
    "sign.per": ("named groups, or columns of the log, that tell what is ill; without it the machine", "per: device"),
    "cleared.in": ("the log of these lines; that of `sign` without this key", "in: esxi.vobd"),
    "cleared.longer_than": (
        "tell only of what lasts longer, or goes on: a number with s, m, h or d",
        "longer_than: 60s",
    ),
    "bare.match": (
        "lines that match: each on its own, or all together where `sign` counts lines; in a list, one case an entry; "
        "of a rule over rows a list of examples",
        "match: |\n  2021-02-02T19:26:34.577Z: …",
    ),
    "bare.not_applicable": (
        "examples of a rule over rows to which it does not apply",
        "not_applicable:\n  - {name: switched off, rows: {pnic: vmnic0, link_up: false}}",
    ),
    "bare.no_match": (f"lines that do not match: {_CASES}", "no_match: |\n  2021-02-02T19:26:34.577Z: …"),
    "bare.cleared": (f"lines of the trouble and of its end: {_CASES}", "cleared: |\n  2021-02-02T19:26:34.577Z: …"),
    "bare.cannot_tell": (f"lines that leave the answer open: {_CASES}", "cannot_tell: |\n  (a line without a time)"),
    "bare.more": ("examples of the long form", "more:\n  - name: two LUNs\n    expect: {result: match}"),
}

# Value -> meaning, for keys with a fixed list of values.
VALUES: dict[str, dict[str, str]] = {
    "status": {
        "draft": "used only when drafts are asked for",
        "test": "used; reports mark it as not proven in the field yet",
        "stable": "used; proven on real cases",
        "retired": "not used; `replaced_by` names the rule that took over",
    },
    "product": {
        "nsx": "NSX for vSphere (NSX-V)",
        "nsxt": "NSX-T Data Center and NSX 4",
    },
    "severity": {
        "critical": "outage or loss of data now",
        "major": "users feel it",
        "warning": "it will bite",
        "info": "worth knowing",
    },
    "confidence": {
        "confirmed": "the sign and its cause were both seen",
        "likely": "one of the two was seen",
        "possible": "it fits; other causes fit as well",
        "exposed": "this version has the fault; no sign of it was seen",
    },
    "result": {
        Verdict.MATCH: "the condition holds",
        Verdict.NO_MATCH: "the condition does not hold",
        Verdict.NOT_APPLICABLE: "`only` is false, or the case holds no such thing",
        Verdict.CANNOT_TELL: "a value that decides is not there",
        Verdict.ERROR: "the rule could not be evaluated",
    },
    "columns": {
        "int": "whole number",
        "float": "number",
        "str": "text",
        "version": "version, compared part by part",
        "time": "time in UTC",
    },
    "rows": {
        "one": "the nearest row",
        "many": "all rows, for functions such as sum()",
        "each": "one verdict for each row of a table kb.…",
    },
    "nodes": {"same": "the node of the subject", "any": "all nodes of the case"},
}

KINDS = {
    "str": "text",
    "int": "whole number",
    "float": "number",
    "bool": "true or false",
    "version": 'version, in quotes ("6.3.10")',
    "time": "time in UTC, like 2017-10-02 08:05:00",
}
ORIGIN = {"node": "name of the node the row comes from", "taken": "when the row was captured, UTC"}
