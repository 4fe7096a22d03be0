"""A new rule as a commented skeleton: it loads, and its one example fails until the author has written the rule.

Also what drafts share with it: the head of a rule file, the check of a new id, and writing the file.
"""

from __future__ import annotations

import os
import re
import textwrap
from pathlib import Path

from analyzer import rules
from analyzer.artefacts import parsing
from analyzer.artefacts.tables import Column, Table
from analyzer.authoring.draft.signs import TROUBLE
from analyzer.authoring.draft.source import choose_alias, describe_subject, make_filler
from analyzer.authoring.fmt.layout import format_rule
from analyzer.authoring.fmt.yamltext import (
    write_block,
    write_comment,
    write_flow,
    write_quoted,
    write_scalar,
)
from analyzer.rules.keys import KEYS
from analyzer.rules.language.rulefile import did_you_mean
from analyzer.rules.short import ANSWER_KEYS, CLEARED, SIGN
from analyzer.runtime.errors import UsageError, WriteError
from analyzer.runtime.output import write_atomic

TO_DO = "TO DO by the author"
DEFAULT_TABLE = "esxi.client_stats"

_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_HEAD = list(KEYS)[: list(KEYS).index("about") + 1]
_FAILS = "fails on purpose: put the rows of your case here, then write `when` so that they match"
_SEVERITIES = "critical: outage now, major: users feel it, warning: will hurt soon, info"
_CONFIDENCE = "confirmed: sign and cause, likely: one of them, possible, exposed: version"
# Keys of one form that the other has not.
LONG_ONLY = ("each", "population")
SHORT_ONLY = (SIGN, CLEARED, *ANSWER_KEYS)


def write_skeleton(rule_id: str, table: str = "", log: str = "", title: str = "") -> str:
    """Return a rule file that says at each key what belongs there; the same arguments give the same text.

    table   name of the table to judge, with its columns filled in
    log     name of a log table to search; its hosts are judged

    Raises UsageError for a table or log that no parser makes.
    """
    if table and log:
        raise UsageError(
            "--table and --log do not go together",
            do="A table is judged row by row, a log is searched.",
        )
    others: tuple[str, ...]
    if log:
        made = write_log_keys(_find_table(log, log=True))
        others = LONG_ONLY
    else:
        made = write_table_keys(_find_table(table or DEFAULT_TABLE, log=False))
        others = SHORT_ONLY
    lines = [
        "A new rule. Go from top to bottom; docs/rule-guide.md explains each step with an example.",
        "A line that begins with `# key:` is a key you may need; remove the `#`, or the line.",
    ]
    if not (table or log):
        lines += [
            f"No table was named, so {DEFAULT_TABLE} stands for it. `backline tables BUNDLE` shows what a case holds,",
            "`backline tables --doc` all tables and columns. For log lines: backline rules new ID --log esxi.vmkernel",
        ]
    guide = [write_comment(line) for line in lines]
    lines = [*guide, *write_head(rule_id, title, comments=True)]
    for key in list(KEYS)[len(_HEAD) :]:
        lines += made.get(key) or ([] if key in others else [_write_optional(key)])
    return format_draft("\n".join(lines) + "\n", f"{rule_id}.yaml")


def write_head(rule_id: str, title: str, *, comments: bool = False, kb: bool = True) -> list[str]:
    """Return the first keys of a new rule, `rule` to `about`; the short form needs no `kb` where the id tells it."""
    number = re.match(r"kb-(\d{1,9})$", rule_id)
    words = {
        "rule": rule_id,
        "title": write_scalar(title) if title else write_quoted(f"{TO_DO}: the fault in one line"),
        "kb": f"[{number[1]}]" if number else "[]",
        "source": write_quoted(f"{TO_DO}: where the facts and every threshold come from"),
        "status": "draft",
        "revised": write_quoted(f"{TO_DO}: date of the last change, YYYY-MM-DD"),
        "about": write_quoted(f"{TO_DO}: cause, in two to four sentences"),
    }
    lines = []
    for key in _HEAD:
        if key == "kb" and not kb:
            continue
        if key in words:
            note = ""
            if comments and key in ("rule", "kb", "status"):
                note = f"  # {KEYS[key]}"
            lines.append(f"{key}: {words[key]}{note}")
        elif comments:
            lines.append(_write_optional(key))
    return lines


def _write_optional(key: str) -> str:
    """Return a key that most rules do not have, as a comment."""
    return f"# {_ELSE.get(key, f'{key}: …')}  # {KEYS[key]}"


def format_draft(text: str, name: str) -> str:
    """Return a new rule file in the layout of all rule files, after a look that it loads."""
    text = format_rule(text, name)
    rules.parse(text, name=name)
    return text


# Keys a rule may have and most rules have not, as they would be written.
_ELSE = {
    "issues": "issues: [1955855]",
    "checked": "checked: 2026-11-20",
    "owner": "owner: storage team",
    "tags": "tags: [vmxnet3]",
    "replaced_by": "replaced_by: kb-2039495",
    "proven": 'proven: "2026-11-20: back-test over 1,200 cases, 31 findings read, none wrong"',
    "replaces": "replaces: [our-old-ring]",
    "needs": 'needs: "0.2"',
    "product": "product: nsxt",
    "unasked": "unasked: true",
    "cleared": "cleared: 'words of the line that ends it'",
    "outcomes": "outcomes: [{when: hit.number > 9, severity: major}, {when: true, severity: warning}]",
    "evidence": "evidence: [sign]",
    "when": "when: often",
    "subject": 'subject: "{node}"',
    "ask": "ask: the log",
    "join": "join: {other: {table: esxi.net_stats, by: [port_id]}}",
    "population": "population: {table: esxi.net_stats, by: [port_id]}",
    "object": 'object: "{vm.vm_name}"',
    "logs": "logs: {other: {in: esxi.vmkernel, match: 'words of the line'}}",
    "seen": "seen: {many: {log: other, at_least: 3, within: 10m}}",
    "only": "only: known(alias.column)",
    "let": "let: {lost: alias.dropped / alias.packets}",
    "grade": "grade: [{when: lost >= 0.01, severity: major}]",
    "notes": 'notes: [{when: lost > 0, say: "{lost:.2%} of frames are lost."}]',
    "chart": "chart: [samples.column]",
    "caution": "caution: The change cuts sessions. Plan a window.",
    "explained_by": "explained_by: [kb-1010071]",
}


def _find_table(name: str, *, log: bool) -> Table:
    """Return the table or log of a name; UsageError with the nearest names for one that is not there."""
    tables = {}
    for one in parsing.tables().values():
        if one.log == log:
            tables[one.name] = one
    if name in tables:
        return tables[name]
    if name in parsing.tables():
        what = "is a log"
        if log:
            what = "is not a log"
        option = "table" if log else "log"
        raise UsageError(f"{name} {what}", do=f"Give it with --{option}.")
    near = did_you_mean(name, tables)
    do = "`backline tables BUNDLE` and `backline tables --doc` list them."
    if near.startswith("did"):
        do = near[:1].upper() + near[1:]
    raise UsageError(f"no parser makes {'log' if log else 'table'} {name}", do=do)


# -- the two sorts of skeleton: key -> its lines


def write_table_keys(table: Table) -> dict[str, list[str]]:
    """Return the keys of a rule that judges a table row by row."""
    alias = choose_alias(table, ())
    # The column of the first condition: one that tells of trouble, else a number.
    plain = [column for column in table.columns if column.kind != "time"] or list(table.columns)
    free = [column for column in plain if column.name not in table.key] or plain
    numbers = [column for column in free if column.kind in ("int", "float")]
    trouble = [column for column in numbers if TROUBLE.search(column.name)]
    shown = next(iter(trouble or numbers or free))
    name = f"{alias}.{shown.name}"
    condition = {
        "bool": name,
        "int": f"{name} > 0",
        "float": f"{name} > 0",
        "version": f'{name} < "0.1"',
        "time": f'{name} < "2000-01-01 00:00:00"',
    }.get(shown.kind, f'{name} == "the bad value"')
    row = {key: make_filler(table.column(key)) for key in table.key}
    row[shown.name] = {"bool": False, "int": 0, "float": 0.0, "str": "a good value"}.get(
        shown.kind, make_filler(shown)
    )
    columns = ", ".join(column.name for column in table.columns)
    # A counter alone says little: its share of what was counted with it decides (lint R089).
    severity = "info" if shown.name in table.counters else "warning"
    words = write_condition_keys(alias, shown, condition, severity)
    examples = [
        "",
        "# Cases the rule must judge correctly. Add one whose result is no_match and one whose result is cannot_tell,",
        "# and in one of them, under `files`, put text as a host prints it.",
        "examples:",
        f"  - name: {write_scalar(_FAILS)}",
        f"    tables: {{{table.name}: [{write_flow(row)}]}}",
        "    expect: {result: match}",
    ]
    return words | {
        "each": [
            "",
            write_comment("Which rows are judged: one verdict for each."),
            *map(write_comment, textwrap.wrap(f"Columns of {table.name}: {columns}", 110)),
            f"each: {alias} in {table.name}",
        ],
        "subject": [
            f"subject: {write_scalar(describe_subject(alias, table))}  # {KEYS['subject']}"
        ],
        "ask": [f"ask: {write_scalar(table.ask)}  # {KEYS['ask']}"],
        "examples": examples,
    }


def write_log_keys(log: Table) -> dict[str, list[str]]:
    """Return the keys of a rule that searches a log."""
    text = "2017-10-14T16:53:20.000Z (made up) no line of a host; replace it"
    calm = "2017-10-14T16:53:20.000Z (made up) a line of an ordinary day; replace it"
    return {
        "sign": [
            "",
            write_comment(
                "What is searched, a regular expression; a named group (?P<name>…) becomes a column of the lines."
            ),
            *map(
                write_comment,
                textwrap.wrap(
                    f"Columns of {log.name} for `where`: {', '.join(one.name for one in log.columns)}",
                    110,
                ),
            ),
            "sign:",
            f"  in: {log.name}",
            "  match: 'words of the line, as the log has them'",
            f"  {write_comment('per: name  # one verdict for each value of a named group; without it for each machine')}",
            f"  {write_comment('at_least: 3  # this many lines, and …')}",
            f"  {write_comment('within: 10m  # … within this time')}",
        ],
        "severity": [
            "",
            f"severity: warning  # {_SEVERITIES}",
        ],
        "confidence": [f"confidence: possible  # {_CONFIDENCE}"],
        "say": [f"say: {write_quoted(f'{TO_DO}: {{sign.count}} lines since {{sign.first}}')}"],
        "fix": ["", f"fix: {{host: {write_quoted(f'{TO_DO}: one step of the remedy')}}}"],
        "not_this": [f"not_this: [{write_quoted(f'{TO_DO}: what looks the same but is not')}]"],
        "examples": [
            "",
            write_comment(
                "Lines that match, each by itself, and lines that do not. The first fails on purpose."
            ),
            "examples:",
            *write_block("match", [text], 2),
            *write_block("no_match", [calm], 2),
        ],
    }


def write_condition_keys(
    alias: str, shown: Column, condition: str, severity: str
) -> dict[str, list[str]]:
    """Return the keys around one condition."""
    name = f"{alias}.{shown.name}"
    words = f"{shown.name.replace('_', ' ')} is {{{name}}}"
    return {
        "when": ["", f"when: {write_scalar(condition)}  # {KEYS['when']}"],
        "outcomes": [
            "",
            write_comment(f"{KEYS['outcomes']}."),
            "outcomes:",
            "  - when: true",
            f"    severity: {severity}  # {_SEVERITIES}",
            f"    confidence: possible  # {_CONFIDENCE}",
            f"    say: {write_quoted(f'{TO_DO}: {words}')}",
        ],
        "evidence": [f"evidence: [{name}]  # {KEYS['evidence']}"],
        "fix": [
            f"fix:  # {KEYS['fix']}",
            "  - where: host",
            f"    do: {write_quoted(f'{TO_DO}: one step of the remedy')}",
        ],
        "not_this": [f"not_this: [{write_quoted(f'{TO_DO}: what looks the same but is not')}]"],
    }


# -- the file


def check_id(rule_id: str) -> None:
    """Refuse what is no id, and the id of a rule that comes with the tool; raises UsageError."""
    if len(rule_id) > 100 or not _ID.fullmatch(rule_id):
        why = "an id is words of a-z and 0-9 with dashes between them"
        raise UsageError(
            "this is not an id of a rule",
            where=rule_id[:100],
            why=why,
            do="Write it like kb-2039495.",
        )
    shipped = {}
    for folder in rules.default_paths():
        for path in folder.rglob("*.y*ml"):
            shipped[path.stem] = path
    if rule_id in shipped:
        do = f"Choose another id, or read that rule: backline rules show {rule_id}"
        raise UsageError("a rule with this id comes with Backline", where=rule_id, do=do)


def find_target(folder: Path, rule_id: str, *, force: bool) -> Path:
    """Return the path of the new file after a look that it may be written; raises WriteError."""
    path = folder / f"{rule_id}.yaml"
    if path.is_symlink():
        raise WriteError(
            "left as it is",
            where=str(path),
            why="it is a symbolic link",
            do="Remove it or give another --kb.",
        )
    if path.is_dir():
        raise WriteError(
            "cannot be written", where=str(path), why="it is a folder", do="Give another --kb."
        )
    if os.path.lexists(path) and not force:
        raise UsageError(
            "the file already exists",
            where=str(path),
            do="Overwrite it with --force, or choose another id.",
        )
    if os.path.lexists(folder) and not folder.is_dir():
        raise UsageError(
            "--kb is not a folder", where=str(folder), do="Give the folder of your rules."
        )
    return path


def write_file(path: Path, text: str) -> None:
    """Write a new rule file, whole or not at all; its folder is made when it is not there."""
    try:
        write_atomic(path, text)
    except WriteError as error:
        raise WriteError(
            "cannot write the rule", where=error.where, why=error.why, do="Give another --kb."
        ) from None
