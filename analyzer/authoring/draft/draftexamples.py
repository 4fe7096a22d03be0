"""The examples of a draft: one that matches, one that does not, one that leaves the answer open.

Several forms are tried for each, the one nearest to what a host prints first; the first that holds is taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from analyzer import rules
from analyzer.artefacts import parsing
from analyzer.authoring.draft.mask import Mask
from analyzer.authoring.draft.signs import Sign, find_harmless
from analyzer.authoring.draft.source import DraftSource, Raw, mask_cell
from analyzer.authoring.fmt.yamltext import write_block, write_flow, write_scalar
from analyzer.pipeline import examples as runner
from analyzer.rules.language.rulefile import BadRuleError

MATCHES, NOT, UNSURE = (
    "the chosen evidence, masked",
    "the same without the sign",
    "the sign cannot be seen",
)
QUIET_LINES = 3

_PROMPTS = {
    "esxi": "[root@esx-01:~] ", "guest": "root@guest-01:~# ", "nsx_controller": "nsx-controller # ",
    "nsx_manager": "nsxmgr-01> ",
}  # fmt: skip

# Table of a machine -> top directory of a bundle, the member that tells of the machine, and its text, made up.
_BUNDLES = {
    "esxi.bundle": (
        "esx-esx-01-2017-10-14--16.53-1",
        "README",
        [
            "Bundle name: esx-esx-01-2017-10-14--16.53-1",
            "Captured on: 2017-10-14 16:53:20.000000",
            "vm-support version: v3.3",
        ],
    ),
    "nsx.manager": ("nsxmgr-01-techsupport", "sys_info", ["System Version: 6.4.0 Build 7564187"]),
}
_MEMBERS = (
    "var/run/log/{}.log",
    "vmfs/volumes/datastore-01/vm-01/vmware.log",
    "var/run/log/shell.log",
    "logs/vsm.log",
)

Rows = Mapping[str, Sequence[Mapping[str, Any]]]


class ExampleDrafter:
    """Drafts the examples of one rule and runs them.

    logs      log table -> masked lines of the signatures
    harmless  tells whether a signature of a log table does not find a line
    """

    def __init__(
        self,
        made: DraftSource,
        mask: Mask,
        logs: Mapping[str, Sequence[str]],
        harmless_line: Callable[[str, str], bool],
    ) -> None:
        self.made, self.mask, self.logs, self.harmless_line = made, mask, logs, harmless_line
        # The lines with those that tell the end, where there are any.
        self.over: Mapping[str, Sequence[str]] = {}
        self.notes: list[str] = []
        self._model: list[str] = []  # the tables of the matching example, when it has them

    def draft_all(self, body: str) -> tuple[list[str], dict[str, bool]]:
        """Return the lines of the key `examples` for the rule that `body` is the text of, and which hold."""
        found: list[list[str]] = []
        held: dict[str, bool] = {}
        wanted = (
            (MATCHES, "match", "{result: match, severity: warning}", self.list_matching()),
            (NOT, "no_match", "{result: no_match}", self.list_calm()),
            (UNSURE, "cannot_tell", "{result: cannot_tell}", self.list_unsure()),
        )
        for name, result, expect, forms in wanted:
            made = self.find_first(body, name, result, expect, forms)
            held[name] = made is not None
            if made is None:
                self.notes.append(
                    f"no example could be drafted whose result is {result}; write one"
                )
            else:
                found.append(made)
        return ["", "examples:", *(line for lines in found for line in lines)], held

    def find_first(
        self, body: str, name: str, result: str, expect: str, forms: Iterator[list[str]]
    ) -> list[str] | None:
        """Return the first form that gives the wanted result."""
        tables = self.write_tables(self.mask_rows(self.made.rows))
        for form in forms:
            lines = [f"  - name: {write_scalar(name)}", *form]
            got = self.run_example(body, [*lines, f"    expect: {expect}"])
            if got.get("result") != result:
                continue
            if name == MATCHES:
                plain = form[: len(tables)] == tables and "    files:" not in form
                if plain:
                    self._model = tables
                else:
                    self._model = []
            elif self._model and form[: len(tables)] == tables:
                lines[1 : 1 + len(tables)] = [f"    like: {write_scalar(MATCHES)}"]
            missing = str(got.get("missing") or "")
            if result == "cannot_tell" and re.fullmatch(r"[a-z][\w.]*", missing):
                expect = f"{{result: cannot_tell, missing: {missing}}}"
            return [*lines, f"    expect: {expect}"]
        return None

    @staticmethod
    def run_example(body: str, example: list[str]) -> dict[str, Any]:
        """Return what one example of the rule gives; a rule that cannot be read gives an error."""
        try:
            rule = rules.parse("\n".join([body, "examples:", *example]) + "\n")
            return runner.run_one(rule, rule.examples[0]).got
        except BadRuleError as error:
            return {"result": "error", "say": str(error)}

    # -- forms

    def list_matching(self) -> Iterator[list[str]]:
        """Yield the forms of the example that matches."""
        if not self.made.lines:
            # The raw text as a session on the host, by its commands, and by its parsers.
            raws = self.made.raws
            if raws and all(raw.command for raw in raws):
                session = []
                for raw in raws:
                    prompt = _PROMPTS.get(raw.kind, _PROMPTS["esxi"]) + self.mask.mask_text(
                        raw.command
                    )
                    session += [prompt, *self.mask_raw(raw)]
                yield ["    files:", "      - path: session.txt", *write_block("text", session, 8)]
                yield self.write_files(
                    raws, lambda raw: f"command: {write_scalar(self.mask.mask_text(raw.command))}"
                )
            if raws:
                yield self.write_files(raws, lambda raw: f"parser: {raw.parser}")
        elif not self.made.signs and not self.made.apart:
            bundled = self.write_bundle()
            if bundled:
                yield bundled
        rows = self.mask_rows(self.made.rows)
        yield [*self.write_tables(rows), *self.write_logs(self.logs)]

    def list_calm(self) -> Iterator[list[str]]:
        """Yield the forms of the example without the sign."""
        calm = self.mask_rows(self.replace_signs(find_harmless))
        if not self.made.lines:
            yield self.write_tables(calm)
            return
        if self.over:
            over = [self.over]
        else:
            over = []
        for logs in (*over, self.find_quiet(), self.make_up()):
            rows = self.mask_rows(self.made.rows)
            yield [*self.write_tables(rows), *self.write_logs(logs)]
            yield [*self.write_tables(calm), *self.write_logs(logs)]

    def list_unsure(self) -> Iterator[list[str]]:
        """Yield the forms of the example in which the sign cannot be seen."""
        if self.made.lines:
            absent = ["    logs:", *(f"      {table}: null" for table in self.logs)]
            yield [*self.write_tables(self.mask_rows(self.made.rows)), *absent]
        blank = self.mask_rows(self.replace_signs(lambda _: None))
        yield [*self.write_tables(blank), *self.write_logs(self.logs)]
        tables = ", ".join(f"{name}: null" for name in self.made.rows)
        yield [f"    tables: {{{tables}}}", *self.write_logs(self.logs)]

    def write_bundle(self) -> list[str]:
        """Return the log lines as members of a small bundle; nothing where a bundle has no such log or row."""
        table = self.made.each[1].name
        top, first, text = _BUNDLES.get(table, ("", "", []))
        lines = ["    files:", f"      - path: {top}/{first}", *write_block("text", text, 8)]
        parsers: dict[str, parsing.Parser] = {}
        for parser in parsing.registry().values():
            if parser.log:
                parsers.setdefault(parser.tables[0].name, parser)
        for name, log in self.logs.items():
            parser = parsers[name]
            members = [path.format(parser.name) for path in _MEMBERS]
            places = list(filter(parser.matches_file, members))
            if not top or not places:
                return []
            lines.append(f"      - path: {top}/{places[0]}")
            lines += write_block("text", log, 8)
        return lines

    def write_files(self, raws: Sequence[Raw], start: Callable[[Raw], str]) -> list[str]:
        """Return each raw text as a file of its own."""
        lines = ["    files:"]
        for raw in raws:
            lines.append(f"      - {start(raw)}")
            lines += write_block("text", self.mask_raw(raw), 8)
        return lines

    def mask_raw(self, raw: Raw) -> list[str]:
        """Return the masked lines of a raw text, without empty ones at its end."""
        lines = [self.mask.mask_text(line).rstrip() for line in raw.lines]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    # -- parts of a form

    @staticmethod
    def write_tables(rows: Rows) -> list[str]:
        """Return the lines of `tables`."""
        lines = []
        if rows:
            lines = ["    tables:"]
        for name, members in rows.items():
            if len(members) == 1:
                lines.append(f"      {name}: [{write_flow(members[0])}]")
            else:
                lines.append(f"      {name}:")
                lines += [f"        - {write_flow(row)}" for row in members]
        return lines

    @staticmethod
    def write_logs(logs: Mapping[str, Sequence[str]]) -> list[str]:
        """Return the lines of `logs`."""
        lines = []
        if logs:
            lines = ["    logs:"]
        for table, text in logs.items():
            lines += write_block(table, text, 6)
        return lines

    def mask_rows(self, rows: Rows) -> dict[str, list[dict[str, Any]]]:
        """Return rows with their cells masked."""
        found = {}
        for name, some in rows.items():
            found[name] = [dict(row) for row in some]
        for row in [row for some in found.values() for row in some]:
            for column, value in row.items():
                if isinstance(value, str) and value not in self.made.made_up:
                    row[column] = mask_cell(self.mask, column, value)[:200]
        return found

    def replace_signs(self, value: Callable[[Sign], Any]) -> dict[str, list[dict[str, Any]]]:
        """Return the rows with every sign of the condition replaced."""
        tables = {self.made.each[0]: self.made.each[1].name}
        tables |= {name: body["table"] for name, body in self.made.joins.items()}
        changed = {}
        for name, members in self.made.rows.items():
            changed[name] = [dict(row) for row in members]
        for sign in self.made.signs:
            for row in changed.get(tables[sign.alias], []):
                row[sign.column.name] = value(sign)
        return changed

    def find_quiet(self) -> dict[str, list[str]]:
        """Return lines that stood next to the chosen ones and that no signature finds, masked."""
        found = {}
        for table in self.logs:
            lines = {}
            for line in self.made.quiet.get(table, []):
                if line.strip():
                    masked = self.mask.mask_text(line, guess=True)[:400]
                else:
                    masked = ""
                if masked and self.harmless_line(table, masked):
                    lines[masked] = True
            found[table] = list(lines)[:QUIET_LINES] or self.make_up()[table]
        return found

    def make_up(self) -> dict[str, list[str]]:
        """Return a line for each log that says that it was made up."""
        found = {}
        for table, lines in self.logs.items():
            if lines:
                stamp = re.match(r"[\d<>: TZ.+-]{10,40}", lines[0])
                if stamp:
                    head = stamp.group().strip()
                else:
                    head = ""
                found[table] = [f"{head} (made up) nothing to see".strip()]
        return found
