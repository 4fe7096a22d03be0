"""Writes a draft rule whose examples hold, from the source the author gave.

Customer data is masked on the way; the author has to fill in what only an engineer knows, marked TO_DO.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from typing import Any

from analyzer.artefacts.tables import Table
from analyzer.authoring.draft import generalise, short_draft
from analyzer.authoring.draft.draftexamples import MATCHES, Examples
from analyzer.authoring.draft.generalise import MOST_GROUPS, CleanLine, DraftSignature
from analyzer.authoring.draft.mask import Mask
from analyzer.authoring.draft.pairs import begins, paired
from analyzer.authoring.draft.signature_rows import ALIASES, HitRows, column_text, hit_rows
from analyzer.authoring.draft.signs import Sign, asked, said
from analyzer.authoring.draft.skeleton import SCHEMA, TO_DO, head, laid_out, modeline
from analyzer.authoring.draft.source import DraftSource, masked_cell
from analyzer.authoring.fmt.yamltext import comment, flow, quoted, scalar
from analyzer.facts.database import version_key
from analyzer.runtime.errors import UsageError

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


def draft(
    rule_id: str,
    title: str,
    made: DraftSource,
    remarks: Remarks | None = None,
    schema: str = SCHEMA,
) -> Draft:
    """Return the rule drafted from material; the same material gives the same text.

    schema  where an editor finds the schema, seen from the file

    UsageError when the rule would not even find the lines it was made of.
    """
    plain = replace(
        made, only="", joins={name: _without(body, "where") for name, body in made.joins.items()}
    )
    gates = (
        [made] if plain == made else [made, plain]
    )  # the gate may ask for more than its evidence shows
    for one in gates:
        if found := _matching(rule_id, title, one, remarks or Remarks(), schema):
            return found
    raise UsageError(
        "the chosen lines do not make a rule that finds them again",
        why="no machine shows all of these signs together",
        do="Choose fewer lines, about one object on one machine, and draft a separate rule for the others.",
    )


def _matching(
    rule_id: str, title: str, made: DraftSource, remarks: Remarks, schema: str
) -> Draft | None:
    """Return a draft that matches its own lines, None without any: of a thing they all name, else of the machine."""
    for passed in range(MOST_GROUPS + 2):
        drafter = _Drafter(rule_id, title, made, remarks, schema, passed)
        found = drafter.draft()
        if found.examples[MATCHES]:
            return found
        if drafter.hits is None or drafter.hits.column == "node":
            break
    return None


def _without(body: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name != key}


class _Drafter:
    """One attempt at a draft; `passed` tells how many things of the first signature cannot be the subject."""

    def __init__(
        self,
        rule_id: str,
        title: str,
        made: DraftSource,
        remarks: Remarks,
        schema: str,
        passed: int = 0,
    ) -> None:
        self.passed = passed
        self.rule_id, self.title, self.remarks, self.schema = rule_id, title, remarks, schema
        self.mask = Mask(made.names)
        signs = [sign for sign in made.signs if self._sayable(sign)]
        if not signs and not made.lines:  # nothing but the gate is left: then it is the condition
            signs = [sign for sign in made.also if sign.name in made.gate and self._sayable(sign)]
            made = replace(made, only="")
        beside = [sign for sign in (*made.also, *made.signs) if sign not in signs]
        self.made = replace(made, signs=signs, also=beside)
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
        self._sign()
        return self._short() or self._long()

    def _short(self) -> Draft | None:
        """Return the draft in the short form; None where this cannot say what the evidence shows."""
        names = short_draft.renamed(self.hits, self.signatures)
        beside = self.made.signs or self.made.also or self.made.only or self.made.joins
        if (
            not names
            or self.hits is None
            or beside
            or any(self._apart(one) for one in self.signatures)
        ):
            return None
        begin, *ended = [replace(one, name=names[one.name]) for one in self.signatures]
        tables = {names[name]: table for name, table in self.tables.items() if name in names}
        notes = {one.name: self._about(one) for one in (begin, *ended)}
        keys = short_draft.body(self.hits, begin, ended[0] if ended else None, notes, tables)
        examples = Examples(self.made, self.mask, self._lines_by_table(), self._harmless)
        home = tables[begin.name]
        over = (
            [line for some in self._lines_by_table(ends=True).values() for line in some]
            if ended
            else []
        )
        quiet = [some.get(home, []) for some in (examples.quiet(), examples.made_up())]
        top = head(self.rule_id, self.title, kb=False)
        found = short_draft.with_examples(top, keys, examples.logs[home], over, quiet)
        if found is None:
            return None
        lines = [modeline(self.schema), *self._heading(), *top, *found.body, *found.shown]
        text = laid_out("\n".join(lines) + "\n", f"{self.rule_id}.yaml")
        return Draft(text, [begin, *ended], tables, found.held, self.mask.counts(), self.notes)

    def _long(self) -> Draft:
        let = self.hits.let() if self.hits else []
        body = [*self._subject(), *self._logs(), *let, *self._condition(), *self._answers()]
        examples = Examples(self.made, self.mask, self._lines_by_table(), self._harmless)
        if self.hits and self.hits.ended:
            examples.over = self._lines_by_table(ends=True)
        top = head(self.rule_id, self.title)
        shown, held = examples.lines("\n".join([*top, *body]))
        lines = [modeline(self.schema), *self._heading(), *top, *body, *shown]
        self.notes += examples.notes
        text = laid_out("\n".join(lines) + "\n", f"{self.rule_id}.yaml")
        return Draft(text, self.signatures, self.tables, held, self.mask.counts(), self.notes)

    def _heading(self) -> list[str]:
        told = ", ".join(self.mask.counts()) or "nothing needed it"
        return [
            comment(
                f"Drafted from {self.made.origin}. Treat everything here as a guess until an engineer has read it."
            ),
            comment(f"Masked: {told}."),
            comment(
                "READ EVERY LINE BEFORE YOU SHIP IT: a name that only you know may still be here."
            ),
        ]

    # -- signatures

    def _sign(self) -> None:
        """Generalise the chosen lines, table by table, and order the signatures by their first line."""
        by_table: dict[str, list[CleanLine]] = {}
        tables = {line.table.name: line.table for line in self.made.lines}
        for number, line in enumerate(self.made.lines):
            told = generalise.clean_line(line.text, self.mask, line.start, line.end, number)
            by_table.setdefault(line.table.name, []).append(told)
        taken = {self.made.each[0], *self.made.joins, "order", *ALIASES}
        found: list[tuple[float, int, DraftSignature, str]] = []
        for name, members in by_table.items():
            for one in generalise.signatures(members, tables[name], taken):
                taken.add(one.name)
                first = min(self._time(told.number) for told in one.lines)
                found.append((first, one.lines[0].number, one, name))
        found.sort(key=lambda item: item[:2])
        if len(found) > MOST_SIGNATURES:
            self.notes.append(
                f"the lines are of {len(found)} kinds; the first {MOST_SIGNATURES} became signatures"
            )
        for _, _, one, name in found[:MOST_SIGNATURES]:
            self.signatures.append(one)
            self.tables[one.name] = name
        timed = all(first < math.inf for first, *_ in found)
        self.order = "order" if len(self.signatures) > 1 and timed else ""
        if self.made.by_hits and self.signatures:
            first_one = self.signatures[0]
            log = tables[self.tables[first_one.name]]
            self.hits = hit_rows(
                first_one, log, self.tables, timed=self._timed(first_one), passed=self.passed
            )
            self._pair(log)
            if self.passed:
                self.notes.append(
                    "the chosen lines are about different things: the draft judges each "
                    f"{column_text(self.hits.column)}; for a verdict on each thing choose lines of one, and draft a "
                    "rule for each sort"
                )
            if self.hits:
                self.made = replace(self.made, rows={})
        self.notes += [self.made.lacks] if self.made.lacks and self.hits is None else []

    def _pair(self, log: Table) -> None:
        """Let a rule of two lines, one of which ends what the other begins, speak of what did not end."""
        pair = paired(self.signatures)
        if pair is None:
            if any(begins(one) for one in self.signatures):
                self.notes.append(
                    "such a problem ends with a line esx.clear.…: choose one too, if there is one"
                )
            return
        begin, end = pair
        found = hit_rows(begin, log, self.tables, timed=self._timed(begin), passed=self.passed)
        known = (
            found.column == "node"
            or found.column in end.groups
            or log.column(found.column) is not None
        )
        same_log = self.tables[begin.name] == self.tables[end.name]
        if not (known and same_log and self._timed(begin) and self._timed(end)):
            self.notes.append(
                f"{end.name} ends what {begin.name} begins, but does not say which {found.column}"
            )
            return
        self.hits, self.signatures, self.order = replace(found, ended=end.name), [begin, end], ""

    def _time(self, number: int) -> float:
        time = self.made.lines[number].time
        return math.inf if time is None else time

    def _timed(self, one: DraftSignature) -> bool:
        return all(self._time(told.number) < math.inf for told in one.lines)

    def _apart(self, one: DraftSignature) -> bool:
        """Tell whether another machine than the subject writes the lines of a signature."""
        if self.hits is None:
            return self.tables[one.name] in self.made.apart
        lines = self.made.lines
        home = {lines[told.number].node for told in self.signatures[0].lines}
        return not {lines[told.number].node for told in one.lines} <= home

    def _lines_by_table(self, *, ends: bool = False) -> dict[str, list[str]]:
        """Return the masked lines of the signatures, log by log, in the order of time, else of the case.

        ends  with those that tell the end of the trouble
        """
        found: dict[str, list[CleanLine]] = {}
        ended = self.hits.ended if self.hits and not ends else ""
        for one in (one for one in self.signatures if one.name != ended):
            found.setdefault(self.tables[one.name], []).extend(one.lines)
        return {
            table: [
                told.shown()
                for told in sorted(lines, key=lambda told: (self._time(told.number), told.number))
            ]
            for table, lines in found.items()
        }

    def _harmless(self, table: str, line: str) -> bool:
        return not any(
            re.search(one.pattern, line)
            for one in self.signatures
            if self.tables[one.name] == table
        )

    # -- the parts of the file

    def _subject(self) -> list[str]:
        if self.hits:
            return self.hits.head()
        alias, table = self.made.each
        lines = ["", f"each: {alias} in {table.name}  # one verdict for each row"]
        if self.made.joins:
            lines += [
                "join:",
                *(f"  {name}: {flow(body)}" for name, body in self.made.joins.items()),
            ]
        lines.append(f"subject: {scalar(self.made.subject)}  # what is affected")
        if self.made.object:
            lines.append(f"object: {scalar(self.made.object)}")
        return lines

    def _logs(self) -> list[str]:
        if not self.signatures:
            return []
        lines = ["", "logs:"]
        for one in self.signatures:
            lines += [f"  {one.name}:", *(f"    {comment(text)}" for text in self._about(one))]
            lines += [f"    in: {self.tables[one.name]}", f"    match: {quoted(one.pattern)}"]
            lines += self.hits.columns() if self.hits and one is self.signatures[0] else []
            if self._apart(one):
                lines.append("    nodes: any  # another machine than the subject writes it")
        if self.order:
            within, told = self._window()
            names = ", ".join(one.name for one in self.signatures)
            lines += [
                "seen:",
                f"  {comment(f'a guess: {told} from the first to the last of the chosen lines')}",
            ]
            lines += [f"  {comment(text)}" for text in self._nameless()]
            lines.append(f"  {self.order}: {{sequence: [{names}], within: {within}}}")
        return lines

    def _nameless(self) -> list[str]:
        """Return a remark on the signatures whose lines do not tell whose they are, where there are any."""
        if (
            self.hits is None
            or self.hits.column == "node"
            or self.hits.log.column(self.hits.column) is not None
        ):
            return []
        names = [one.name for one in self.signatures if self.hits.column not in one.groups]
        thing = self.hits.column.replace("_", " ")
        return (
            [f"their lines name no {thing}, so any line of the machine counts: {', '.join(names)}"]
            if names
            else []
        )

    def _about(self, one: DraftSignature) -> list[str]:
        told = [f"{name}: {', '.join(values)}" for name, values in one.groups.items()]
        lines = (
            [f"columns of its hits in the chosen lines: {'; '.join(told)[:300]}"] if told else []
        )
        if one.shared:
            lines.append(
                f"required, because all chosen lines have it: {', '.join(one.shared)}"[:300]
            )
        times = [self._time(told.number) for told in one.lines]
        if len(times) > 2 and max(times) < math.inf:
            within = _span(max(times) - min(times))
            lines.append(
                f"this many under `seen`: often: {{log: {one.name}, at_least: {len(times)}, within: {within}}}"
            )
        return [*lines, *self.remarks.of.get(one.name, [])]

    def _window(self) -> tuple[str, str]:
        times = [line.time for line in self.made.lines if line.time is not None]
        measured = max(times) - min(times)
        return _span(measured), f"{measured:.0f} s" if measured >= 1 else "less than 1 s"

    def _condition(self) -> list[str]:
        parts = [asked(sign) for sign in self.made.signs]
        parts += [self.order] if self.order else [one.name for one in self.signatures]
        if self.hits and not self.order:
            parts[len(self.made.signs)] = self.hits.asked()
            parts = [part for part in parts if part != self.hits.ended]
        lines = (
            ["", f"only: {scalar(self.made.only)}  # from the rule it starts with"]
            if self.made.only
            else [""]
        )
        lines.append(comment("a guess: the signs of the chosen lines, all of them"))
        lines.append(f"when: {scalar(' and '.join(parts)) if parts else 'true'}")
        if beside := self._beside():
            lines.append(comment(f"beside them: {beside}"))
        return lines

    def _sayable(self, sign: Sign) -> bool:
        """Tell whether a value may stand in a condition: not when it had to be masked, or is not a version."""
        if sign.column.kind == "version" and version_key(sign.value) is None:
            return False
        return (
            not isinstance(sign.value, str)
            or masked_cell(self.mask, sign.column.name, sign.value) == sign.value
        )

    def _beside(self) -> str:
        told = []
        for sign in self.made.also[:12]:
            value = sign.value
            shown = (
                masked_cell(self.mask, sign.column.name, value) if isinstance(value, str) else value
            )
            told.append(f"{sign.name} = {shown}")
        return ", ".join(told)

    def _answers(self) -> list[str]:
        shown = [sign.name for sign in (*self.made.signs, *self.made.also)][:12]
        shown += self.hits.evidence() if self.hits else []
        beside = self._besides()
        shown += [self.order] if self.order else [one.name for one in beside]
        where = "host" if self.made.each[1].product in ("esxi", "esxtop") else "where to do it"
        return [
            "",
            "outcomes:",
            "  - when: true",
            "    severity: warning  # a guess: critical, major, warning or info",
            "    confidence: possible  # confirmed: sign and cause were both seen",
            f"    say: {scalar(self._say())}",
            f"evidence: [{', '.join(shown)}]",
            "fix:",
            f"  - where: {where}",
            f"    do: {quoted(f'{TO_DO}: one step of the remedy')}",
            f"not_this: [{quoted(f'{TO_DO}: what looks the same but is not')}]",
            f"ask: {scalar(self._ask())}",
        ]

    def _say(self) -> str:
        told = [said(sign) for sign in self.made.signs] + (self.hits.said() if self.hits else [])
        if self.order:
            told.append(
                f"{{{self.order}.count}} times one after the other, first at {{{self.order}.first}}"
            )
        else:
            told += [
                f"{{{one.name}.count}} lines of {self.tables[one.name]} from {{{one.name}.first}} on"
                for one in self._besides()
            ]
        return "; ".join(told)[:400] + "." if told else f"{TO_DO}: what was found, with its values"

    def _besides(self) -> list[DraftSignature]:
        """Return the signatures that the subject and its join do not speak of."""
        ended = self.hits.ended if self.hits else ""
        return [one for one in self.signatures[bool(self.hits) :] if one.name != ended]

    def _ask(self) -> str:
        tables: list[Table] = [line.table for line in self.made.lines] or [self.made.each[1]]
        return tables[0].ask


def _span(measured: float) -> str:
    """Return a span of time that holds what was measured, with some room."""
    for most, text in _SPANS:
        if measured * 1.5 <= most:
            return text
    return f"{math.ceil(measured * 1.5 / 86400)}d"
