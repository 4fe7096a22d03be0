"""Writes a draft rule whose examples hold, from the source the author gave.

Customer data is masked on the way; the author has to fill in what only an engineer knows, marked TO_DO.
A draft has the short form where its lines are those of one trouble, and of its end at the most.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from analyzer import rules
from analyzer.artefacts.tables import Table
from analyzer.authoring.draft.draftexamples import MATCHES, NOT, UNSURE, ExampleDrafter
from analyzer.authoring.draft.generalise import (
    MOST_GROUPS,
    DraftSignature,
    draft_signatures,
)
from analyzer.authoring.draft.mask import Mask
from analyzer.authoring.draft.pairs import begins_problem, find_pair
from analyzer.authoring.draft.signature_rows import (
    ALIASES,
    HIT,
    HitRows,
    describe_column,
    use_as_rows,
)
from analyzer.authoring.draft.signs import Sign, describe_sign, write_condition
from analyzer.authoring.draft.skeleton import (
    TO_DO,
    format_draft,
    write_head,
)
from analyzer.authoring.draft.source import DraftSource, mask_cell
from analyzer.authoring.draft.tokens import CleanLine, cut_line
from analyzer.authoring.fmt.yamltext import (
    write_block,
    write_comment,
    write_flow,
    write_quoted,
    write_scalar,
)
from analyzer.facts.database import version_key
from analyzer.pipeline import examples as runner
from analyzer.rules import short
from analyzer.rules.short_examples import MADE
from analyzer.runtime.errors import BacklineError, UsageError

MOST_SIGNATURES = 10  # a sequence has no more

_SPANS = (
    (60, "1m"),
    (120, "2m"),
    (300, "5m"),
    (600, "10m"),
    (1800, "30m"),
    (3600, "1h"),
    (7200, "2h"),
    (21600, "6h"),
)
_SHORT_NAMES = {short.SIGN, short.CLEARED, *short.MADE}  # that the short form gives itself


@dataclass(slots=True)
class Draft:
    """A drafted rule file.

    text        the file
    signatures  those of its `logs`, in order; tables: the log table of each, by name
    examples    name -> whether it holds
    masked      what was masked, in words
    notes       what the author should know
    """

    text: str
    signatures: list[DraftSignature]
    tables: dict[str, str]
    examples: dict[str, bool]
    masked: list[str]
    notes: list[str]


@dataclass(slots=True)
class Remarks:
    """What was found out about a draft in its case: signature -> comments for the file."""

    of: dict[str, list[str]] = field(default_factory=dict)


def draft_rule(
    rule_id: str,
    title: str,
    made: DraftSource,
    remarks: Remarks | None = None,
) -> Draft:
    """Return the rule drafted from material; the same material gives the same text.


    UsageError when the rule would not even find the lines it was made of.
    """
    # The gate may ask for more than its evidence shows.
    joins: dict[str, dict[str, Any]] = {}
    for name, body in made.joins.items():
        joins[name] = {key: value for key, value in body.items() if key != "where"}
    plain = replace(made, only="", joins=joins)
    for source in [made] if plain == made else [made, plain]:
        # The subject is a thing that all lines name, else the machine.
        for passed in range(MOST_GROUPS + 2):
            drafter = _Drafter(rule_id, title, source, remarks or Remarks(), passed)
            found = drafter.draft()
            if found.examples[MATCHES]:
                return found
            if drafter.hits is None or drafter.hits.column == "node":
                break
    raise UsageError(
        "the chosen lines do not make a rule that finds them again",
        why="no machine shows all of these signs together",
        do="Choose fewer lines, about one object on one machine, and draft a separate rule for the others.",
    )


class _Drafter:
    """One attempt at a draft; `passed` tells how many things of the first signature cannot be the subject."""

    def __init__(
        self,
        rule_id: str,
        title: str,
        made: DraftSource,
        remarks: Remarks,
        passed: int = 0,
    ) -> None:
        self.passed = passed
        self.rule_id = rule_id
        self.title = title
        self.remarks = remarks
        self.mask = Mask(made.names)
        signs = [sign for sign in made.signs if self.can_ask_for(sign)]
        if not signs and not made.lines:  # only the gate is left: then it is the condition
            signs = []
            for s in made.also:
                if s.name in made.gate and self.can_ask_for(s):
                    signs.append(s)
            made = replace(made, only="")
        also = []
        for sign in (*made.also, *made.signs):
            if sign not in signs:
                also.append(sign)
        self.made = replace(made, signs=signs, also=also)
        self.signatures: list[DraftSignature] = []
        self.tables: dict[str, str] = {}
        self.order = ""  # name of the sequence
        self.hits: HitRows | None = None  # the first signature, when its lines are the subjects
        self.notes = list(made.notes)
        if not signs and not made.lines:
            self.notes.append(
                "nothing in this evidence can be a condition: it holds only names, times and ids; choose other lines"
            )

    def draft(self) -> Draft:
        self.find_signatures()
        return self.draft_short() or self.draft_long()

    def draft_long(self) -> Draft:
        """Return the draft with all keys spelled out."""
        if self.hits:
            subject = self.hits.write_subject()
        else:
            subject = self.write_subject()
        if self.hits:
            lets = self.hits.write_lets()
        else:
            lets = []
        body = [*subject, *self.write_logs(), *lets, *self.write_condition(), *self.write_answers()]
        examples = ExampleDrafter(self.made, self.mask, self.list_lines(), self.is_harmless)
        if self.hits and self.hits.ended:
            examples.over = self.list_lines(ends=True)
        top = write_head(self.rule_id, self.title)
        shown, held = examples.draft_all("\n".join([*top, *body]))
        self.notes += examples.notes
        return self.finish([*top, *body, *shown], self.signatures, self.tables, held)

    def finish(
        self,
        lines: list[str],
        signatures: list[DraftSignature],
        tables: dict[str, str],
        held: dict[str, bool],
    ) -> Draft:
        """Return the draft of these lines below a heading that warns its reader."""
        counts = self.mask.list_counts()
        heading = [
            f"Drafted from {self.made.origin}. Treat everything here as a guess until an engineer has read it.",
            f"Masked: {', '.join(counts) or 'nothing needed it'}.",
            "READ EVERY LINE BEFORE YOU SHIP IT: a name that only you know may still be here.",
        ]
        whole = [*map(write_comment, heading), *lines]
        text = format_draft("\n".join(whole) + "\n", f"{self.rule_id}.yaml")
        return Draft(text, signatures, tables, held, counts, self.notes)

    # -- signatures

    def find_signatures(self) -> None:
        """Generalise the chosen lines, table by table, and order the signatures by their first line."""
        by_table: dict[str, list[CleanLine]] = {}
        tables: dict[str, Table] = {}
        for number, line in enumerate(self.made.lines):
            name = line.table.name
            tables[name] = line.table
            clean = cut_line(line.text, self.mask, line.start, line.end, number)
            by_table.setdefault(name, []).append(clean)
        taken = {self.made.each[0], *self.made.joins, "order", *ALIASES}
        found: list[tuple[float, int, DraftSignature, str]] = []
        for name, members in by_table.items():
            for one in draft_signatures(members, tables[name], taken):
                taken.add(one.name)
                first = min(self.time_of(line) for line in one.lines)
                found.append((first, one.lines[0].number, one, name))
        found.sort(key=lambda item: item[:2])
        if len(found) > MOST_SIGNATURES:
            kinds = f"the lines are of {len(found)} kinds"
            self.notes.append(f"{kinds}; the first {MOST_SIGNATURES} became signatures")
        for _, _, one, name in found[:MOST_SIGNATURES]:
            self.signatures.append(one)
            self.tables[one.name] = name
        timed = all(first < math.inf for first, *_ in found)
        if len(self.signatures) > 1 and timed:
            self.order = "order"
        if self.made.by_hits and self.signatures:
            first_table = found[0][3]
            self.use_lines_as_rows(tables[first_table])
        if self.made.lacks and self.hits is None:
            self.notes.append(self.made.lacks)

    def use_lines_as_rows(self, log: Table) -> None:
        """Judge what the lines of the first signature name."""
        self.hits = self.rows_of(self.signatures[0], log)
        self.pair_signatures(log)
        if self.passed:
            self.notes.append(
                "the chosen lines are about different things: the draft judges each "
                f"{describe_column(self.hits.column)}; for a verdict on each thing choose lines of one, and draft a "
                "rule for each sort"
            )
        self.made = replace(self.made, rows={})

    def rows_of(self, one: DraftSignature, log: Table) -> HitRows:
        timed = self.is_timed(one)
        return use_as_rows(one, log, self.tables, timed=timed, passed=self.passed)

    def pair_signatures(self, log: Table) -> None:
        """Let a rule of two lines, one of which ends what the other begins, speak of what did not end."""
        pair = find_pair(self.signatures)
        if pair is None:
            if any(begins_problem(one) for one in self.signatures):
                self.notes.append(
                    "such a problem ends with a line esx.clear.…: choose one too, if there is one"
                )
            return
        begin, end = pair
        found = self.rows_of(begin, log)
        column = found.column
        known = column == "node" or column in end.groups or log.column(column) is not None
        same_log = self.tables[begin.name] == self.tables[end.name]
        if not (known and same_log and self.is_timed(begin) and self.is_timed(end)):
            self.notes.append(
                f"{end.name} ends what {begin.name} begins, but does not say which {column}"
            )
            return
        self.hits = replace(found, ended=end.name)
        self.signatures = [begin, end]
        self.order = ""

    def time_of(self, line: CleanLine) -> float:
        """Return when a line was written; one without a time comes last."""
        time = self.made.lines[line.number].time
        if time is None:
            return math.inf
        return time

    def is_timed(self, one: DraftSignature) -> bool:
        return all(self.time_of(line) < math.inf for line in one.lines)

    def is_elsewhere(self, one: DraftSignature) -> bool:
        """Say whether another machine than the subject writes the lines of a signature."""
        if self.hits is None:
            return self.tables[one.name] in self.made.apart
        lines = self.made.lines
        home = set()
        for line in self.signatures[0].lines:
            home.add(lines[line.number].node)
        return not {lines[line.number].node for line in one.lines} <= home

    def list_lines(self, *, ends: bool = False) -> dict[str, list[str]]:
        """Return the masked lines of the signatures, log by log, in the order of time, else of the case.

        ends  with those that tell the end of the trouble
        """
        by_table: dict[str, list[CleanLine]] = {}
        for one in self.signatures:
            if ends or not self.hits or one.name != self.hits.ended:
                by_table.setdefault(self.tables[one.name], []).extend(one.lines)
        found = {}
        for table, lines in by_table.items():
            lines.sort(key=lambda line: (self.time_of(line), line.number))
            found[table] = [line.show_masked() for line in lines]
        return found

    def is_harmless(self, table: str, line: str) -> bool:
        """Say whether no signature of a table finds a line."""
        own = []
        for one in self.signatures:
            if self.tables[one.name] == table:
                own.append(one)
        return not any(re.search(one.pattern, line) for one in own)

    def can_ask_for(self, sign: Sign) -> bool:
        """Say whether a value may be in a condition: not when it had to be masked, or is not a version."""
        value = sign.value
        if sign.column.kind == "version" and version_key(value) is None:
            return False
        return not isinstance(value, str) or self.show_value(sign) == value

    def show_value(self, sign: Sign) -> Any:
        """Return the value of a sign, with names masked."""
        if not isinstance(sign.value, str):
            return sign.value
        return mask_cell(self.mask, sign.column.name, sign.value)

    # -- the parts of the long form

    def write_subject(self) -> list[str]:
        """Return the keys `each`, `join`, `subject` and `object`."""
        alias, table = self.made.each
        lines = ["", f"each: {alias} in {table.name}  # one verdict for each row"]
        if self.made.joins:
            lines.append("join:")
        for name, body in self.made.joins.items():
            lines.append(f"  {name}: {write_flow(body)}")
        lines.append(f"subject: {write_scalar(self.made.subject)}  # what is affected")
        if self.made.object:
            lines.append(f"object: {write_scalar(self.made.object)}")
        return lines

    def write_logs(self) -> list[str]:
        """Return the keys `logs` and `seen`."""
        if not self.signatures:
            return []
        lines = ["", "logs:"]
        for one in self.signatures:
            lines.append(f"  {one.name}:")
            for text in self.list_remarks(one):
                lines.append(f"    {write_comment(text)}")
            lines.append(f"    in: {self.tables[one.name]}")
            lines.append(f"    match: {write_quoted(one.pattern)}")
            if self.hits and one is self.signatures[0]:
                lines += self.hits.write_columns()
            if self.is_elsewhere(one):
                lines.append("    nodes: any  # another machine than the subject writes it")
        if not self.order:
            return lines
        times = [line.time for line in self.made.lines if line.time is not None]
        measured = max(times) - min(times)
        span = "less than 1 s"
        if measured >= 1:
            span = f"{measured:.0f} s"
        guess = f"a guess: {span} from the first to the last of the chosen lines"
        lines += ["seen:", f"  {write_comment(guess)}"]
        hits = self.hits
        if hits and hits.column != "node" and hits.log.column(hits.column) is None:
            nameless = [one.name for one in self.signatures if hits.column not in one.groups]
            if nameless:
                thing = hits.column.replace("_", " ")
                reason = f"their lines name no {thing}, so any line of the machine counts"
                comment = write_comment(f"{reason}: {', '.join(nameless)}")
                lines.append(f"  {comment}")
        names = ", ".join(one.name for one in self.signatures)
        within = _round_span(measured)
        lines.append(f"  {self.order}: {{sequence: [{names}], within: {within}}}")
        return lines

    def list_remarks(self, one: DraftSignature) -> list[str]:
        """Return what the author should know of a signature."""
        lines = []
        groups = []
        for name, values in one.groups.items():
            groups.append(f"{name}: {', '.join(values)}")
        if groups:
            lines.append(f"columns of its hits in the chosen lines: {'; '.join(groups)[:300]}")
        if one.shared:
            shared = f"required, because all chosen lines have it: {', '.join(one.shared)}"
            lines.append(shared[:300])
        times = [self.time_of(line) for line in one.lines]
        if len(times) > 2 and max(times) < math.inf:
            within = _round_span(max(times) - min(times))
            lines.append(
                f"this many under `seen`: often: {{log: {one.name}, at_least: {len(times)}, within: {within}}}"
            )
        return [*lines, *self.remarks.of.get(one.name, [])]

    def write_condition(self) -> list[str]:
        """Return the keys `only` and `when`."""
        parts = [write_condition(sign) for sign in self.made.signs]
        if self.order:
            parts += [self.order]
        else:
            parts += [one.name for one in self.signatures]
        if self.hits and not self.order:
            parts[len(self.made.signs)] = self.hits.write_condition()
            parts = [part for part in parts if part != self.hits.ended]
        lines = [""]
        if self.made.only:
            lines.append(f"only: {write_scalar(self.made.only)}  # from the rule it starts with")
        lines.append(write_comment("a guess: the signs of the chosen lines, all of them"))
        condition = "true"
        if parts:
            condition = write_scalar(" and ".join(parts))
        lines.append(f"when: {condition}")
        also = []
        for sign in self.made.also[:12]:
            also.append(f"{sign.name} = {self.show_value(sign)}")
        if also:
            lines.append(write_comment(f"beside them: {', '.join(also)}"))
        return lines

    def write_answers(self) -> list[str]:
        """Return the keys from `severity` to `not_this`."""
        # The signatures that the subject and its join do not speak of.
        if self.hits:
            ended = self.hits.ended
        else:
            ended = ""
        others = []
        for one in self.signatures[bool(self.hits) :]:
            if one.name != ended:
                others.append(one)
        shown = [sign.name for sign in (*self.made.signs, *self.made.also)][:12]
        words = [describe_sign(sign) for sign in self.made.signs]
        if self.hits:
            shown += self.hits.list_evidence()
            words += self.hits.describe_rows()
        if self.order:
            shown.append(self.order)
            words.append(
                f"{{{self.order}.count}} times one after the other, first at {{{self.order}.first}}"
            )
        else:
            shown += [one.name for one in others]
            words += [
                f"{{{one.name}.count}} lines of {self.tables[one.name]} from {{{one.name}.first}} on"
                for one in others
            ]
        say = f"{TO_DO}: what was found, with its values"
        if words:
            say = "; ".join(words)[:400] + "."
        if self.made.lines:
            table = self.made.lines[0].table
        else:
            table = self.made.each[1]
        return [
            "",
            "outcomes:",
            "  - when: true",
            "    severity: warning  # a guess: critical, major, warning or info",
            "    confidence: possible  # confirmed: sign and cause were both seen",
            f"    say: {write_scalar(say)}",
            f"evidence: [{', '.join(shown)}]",
            "fix:",
            f"  - where: {_name_place(self.made.each[1])}",
            f"    do: {write_quoted(f'{TO_DO}: one step of the remedy')}",
            f"not_this: [{write_quoted(f'{TO_DO}: what looks the same but is not')}]",
            f"ask: {write_scalar(table.ask)}",
        ]

    # -- the short form

    def draft_short(self) -> Draft | None:
        """Return the draft in the short form; None where this cannot say what the evidence shows."""
        hits = self.hits
        if hits is None or len(self.signatures) != 1 + bool(hits.ended):
            return None
        groups = {name for one in self.signatures for name in one.groups}
        if groups & _SHORT_NAMES or (hits.column == "node" and hits.ended):
            return None
        made = self.made
        if made.signs or made.also or made.only or made.joins:
            return None
        if any(self.is_elsewhere(one) for one in self.signatures):
            return None
        renamed = {one.name: short.SIGN for one in self.signatures}
        if hits.ended:
            renamed[hits.ended] = short.CLEARED
        signatures = [replace(one, name=renamed[one.name]) for one in self.signatures]
        tables = {}
        for name, table in self.tables.items():
            if name in renamed:
                tables[renamed[name]] = table
        examples = ExampleDrafter(made, self.mask, self.list_lines(), self.is_harmless)
        home = tables[signatures[0].name]
        over: list[str] = []
        if hits.ended:
            over = []
            for lines in self.list_lines(ends=True).values():
                over += lines
        quiet = []
        for some in (examples.find_quiet(), examples.make_up()):
            quiet.append(some.get(home, []))
        body = [
            *write_head(self.rule_id, self.title, kb=False),
            *self.write_sign(hits, signatures, tables),
        ]
        tried = _try_examples(body, examples.logs[home], over, quiet)
        if tried is None:
            return None
        shown, held = tried
        return self.finish([*body, *shown], signatures, tables, held)

    def write_sign(
        self, hits: HitRows, signatures: Sequence[DraftSignature], tables: dict[str, str]
    ) -> list[str]:
        """Return the keys of the short form from `sign` to `not_this`."""
        begin, *ended = signatures
        lines = ["", "sign:"]
        for text in self.list_remarks(begin):
            lines.append(f"  {write_comment(text)}")
        lines.append(f"  in: {tables[begin.name]}")
        lines.append(f"  match: {write_quoted(begin.pattern)}")
        lines += [line[2:] for line in hits.write_columns()]
        if hits.column != "node":
            lines.append(f"  per: {hits.column}  # one verdict for each")
        for end in ended:
            lines.append("cleared:  # the lines that say it is over")
            for text in self.list_remarks(end):
                lines.append(f"  {write_comment(text)}")
            if tables[end.name] != tables[begin.name]:
                lines.append(f"  in: {tables[end.name]}")
            lines.append(f"  match: {write_quoted(end.pattern)}")
        if hits.timed:
            since = f", the first at {{{short.SIGN}.first}}"
        else:
            since = ""
        over = ""
        if hits.ended:
            over = ", and no line has said since that it is over"
        words = [f"{{{short.SIGN}.count}} lines of {hits.log.name}{since}{over}"]
        for name in list(hits.measured)[:3]:
            spoken = name.replace("_", " ")
            words.append(f"{spoken} up to {{max({HIT}.{name})}}")
        step = write_quoted(f"{TO_DO}: one step of the remedy")
        return [
            *lines,
            "",
            "severity: warning  # a guess: critical, major, warning or info",
            "confidence: possible  # confirmed: sign and cause were both seen",
            f"say: {write_scalar('; '.join(words)[:400] + '.')}",
            "",
            f"fix: {{{_name_place(hits.log)}: {step}}}",
            f"not_this: [{write_quoted(f'{TO_DO}: what looks the same but is not')}]",
        ]


def _try_examples(
    body: Sequence[str],
    lines: Sequence[str],
    over: Sequence[str],
    quiet: Sequence[Sequence[str]],
) -> tuple[list[str], dict[str, bool]] | None:
    """Return bare lines as the examples of a rule and which of them hold; None where they do not.

    lines  those of the trouble; over: those with the lines that end it
    quiet  lines that are no sign, the better ones first
    """
    if any(line[:1] in ("", " ", "\t") for line in [*lines, *over]):
        return None
    for calm in quiet:
        shown = ["", "examples:", *write_block("match", lines, 2)]
        if over:
            shown += write_block("cleared", over, 2)
        shown += write_block("no_match", calm, 2)
        try:
            rule = rules.parse("\n".join([*body, *shown]) + "\n")
            results = {one.name: one.ok for one in runner.run(rule)}
        except BacklineError:
            return None
        if all(results.values()):
            made = [name for name in results if name.startswith(MADE)]
            unsure = any(name.endswith("is not in the case") for name in made)
            return shown, {MATCHES: True, NOT: True, UNSURE: unsure}
    return None


def _name_place(table: Table) -> str:
    """Return where a remedy is carried out."""
    if table.product in ("esxi", "esxtop"):
        return "host"
    return "where to do it"


def _round_span(measured: float) -> str:
    """Return a span of time that holds what was measured, with some room."""
    for most, text in _SPANS:
        if measured * 1.5 <= most:
            return text
    return f"{math.ceil(measured * 1.5 / 86400)}d"
