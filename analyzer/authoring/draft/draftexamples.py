"""The examples of a draft: one that matches, one that does not, one that cannot be told.

Several forms are tried for each, the one nearest to what a host prints first; the first that holds is taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from analyzer import rules
from analyzer.artefacts import parsing
from analyzer.authoring.draft.mask import Mask
from analyzer.authoring.draft.signs import Sign, harmless
from analyzer.authoring.draft.source import DraftSource, Raw, masked_cell
from analyzer.authoring.fmt.yamltext import block, flow, scalar
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


class Examples:
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
        self.over: Mapping[
            str, Sequence[str]
        ] = {}  # the lines with those that tell the end, where there are any
        self.notes: list[str] = []
        self._model: list[str] = []  # the tables of the matching example, when it has them

    def lines(self, body: str) -> tuple[list[str], dict[str, bool]]:
        """Return the lines of the key `examples` for the rule that `body` is the text of, and which hold."""
        found: list[list[str]] = []
        held: dict[str, bool] = {}
        wanted = (
            (MATCHES, "match", "{result: match, severity: warning}", self._matching()),
            (NOT, "no_match", "{result: no_match}", self._calm()),
            (UNSURE, "cannot_tell", "{result: cannot_tell}", self._unsure()),
        )
        for name, result, expect, forms in wanted:
            made = self._first(body, name, result, expect, forms)
            held[name] = made is not None
            if made is None:
                self.notes.append(
                    f"no example could be drafted whose result is {result}; write one"
                )
            else:
                found.append(made)
        return ["", "examples:", *(line for lines in found for line in lines)], held

    def _first(
        self, body: str, name: str, result: str, expect: str, forms: Iterator[list[str]]
    ) -> list[str] | None:
        """Return the first form that gives the wanted result."""
        tables = self._tables(self._rows(self.made.rows))
        for form in forms:
            lines = [f"  - name: {scalar(name)}", *form]
            got = self._result(body, [*lines, f"    expect: {expect}"])
            if got.get("result") != result:
                continue
            if name == MATCHES:
                plain = form[: len(tables)] == tables and "    files:" not in form
                self._model = tables if plain else []
            elif self._model and form[: len(tables)] == tables:
                lines[1 : 1 + len(tables)] = [f"    like: {scalar(MATCHES)}"]
            missing = str(got.get("missing") or "")
            if result == "cannot_tell" and re.fullmatch(r"[a-z][\w.]*", missing):
                expect = f"{{result: cannot_tell, missing: {missing}}}"
            return [*lines, f"    expect: {expect}"]
        return None

    @staticmethod
    def _result(body: str, example: list[str]) -> dict[str, Any]:
        try:
            rule = rules.parse("\n".join([body, "examples:", *example]) + "\n")
            return runner.run_one(rule, rule.examples[0]).got
        except BadRuleError as error:
            return {"result": "error", "say": str(error)}

    # -- forms

    def _matching(self) -> Iterator[list[str]]:
        if not self.made.lines:
            yield from self._printed()
        elif not self.made.signs and not self.made.apart and (bundled := self._bundled()):
            yield bundled
        yield [*self._tables(self._rows(self.made.rows)), *self._log_texts(self.logs)]

    def _calm(self) -> Iterator[list[str]]:
        calm = self._rows(self._with_signs(harmless))
        if not self.made.lines:
            yield self._tables(calm)
            return
        for logs in (*([self.over] if self.over else []), self.quiet(), self.made_up()):
            yield [*self._tables(self._rows(self.made.rows)), *self._log_texts(logs)]
            yield [*self._tables(calm), *self._log_texts(logs)]

    def _unsure(self) -> Iterator[list[str]]:
        if self.made.lines:
            absent = ["    logs:", *(f"      {table}: null" for table in self.logs)]
            yield [*self._tables(self._rows(self.made.rows)), *absent]
        blank = self._rows(self._with_signs(lambda _: None))
        yield [*self._tables(blank), *self._log_texts(self.logs)]
        yield [
            "    tables: {" + ", ".join(f"{name}: null" for name in self.made.rows) + "}",
            *self._log_texts(self.logs),
        ]

    def _printed(self) -> Iterator[list[str]]:
        """Yield the raw text as a session on the host, by its commands, and by its parsers."""
        raws = self.made.raws
        if raws and all(raw.command for raw in raws):
            session = [line for raw in raws for line in (self._prompt(raw), *self._text(raw))]
            yield ["    files:", "      - path: session.txt", *block("text", session, 8)]
            yield self._each_file(
                raws, lambda raw: f"command: {scalar(self.mask.text(raw.command))}"
            )
        if raws:
            yield self._each_file(raws, lambda raw: f"parser: {raw.parser}")

    def _bundled(self) -> list[str]:
        """Return the log lines as members of a small bundle; nothing where a bundle has no such log or row."""
        top, first, text = _BUNDLES.get(self.made.each[1].name, ("", "", []))
        lines = ["    files:", f"      - path: {top}/{first}", *block("text", text, 8)]
        for table, log in self.logs.items():
            parser = next(
                one
                for one in parsing.registry().values()
                if one.log and one.tables[0].name == table
            )
            places = (path.format(parser.name) for path in _MEMBERS)
            place = next((path for path in places if parser.matches_file(path)), "")
            if not top or not place:
                return []
            lines += [f"      - path: {top}/{place}", *block("text", log, 8)]
        return lines

    def _each_file(self, raws: Sequence[Raw], start: Callable[[Raw], str]) -> list[str]:
        lines = ["    files:"]
        for raw in raws:
            lines += [f"      - {start(raw)}", *block("text", self._text(raw), 8)]
        return lines

    def _prompt(self, raw: Raw) -> str:
        return _PROMPTS.get(raw.kind, _PROMPTS["esxi"]) + self.mask.text(raw.command)

    def _text(self, raw: Raw) -> list[str]:
        lines = [self.mask.text(line).rstrip() for line in raw.lines]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    # -- parts of a form

    @staticmethod
    def _tables(rows: Rows) -> list[str]:
        lines = ["    tables:"] if rows else []
        for name, members in rows.items():
            if len(members) == 1:
                lines.append(f"      {name}: [{flow(members[0])}]")
            else:
                lines += [f"      {name}:", *(f"        - {flow(row)}" for row in members)]
        return lines

    @staticmethod
    def _log_texts(logs: Mapping[str, Sequence[str]]) -> list[str]:
        lines = ["    logs:"] if logs else []
        for table, text in logs.items():
            lines += block(table, text, 6)
        return lines

    def _rows(self, rows: Rows) -> dict[str, list[dict[str, Any]]]:
        return {
            name: [{key: self._cell(key, cell) for key, cell in row.items()} for row in some]
            for name, some in rows.items()
        }

    def _cell(self, column: str, value: Any) -> Any:
        if not isinstance(value, str) or value in self.made.made_up:
            return value
        return masked_cell(self.mask, column, value)[:200]

    def _with_signs(self, value: Callable[[Sign], Any]) -> dict[str, list[dict[str, Any]]]:
        """Return the rows with every sign of the condition replaced."""
        tables = {self.made.each[0]: self.made.each[1].name}
        tables |= {name: body["table"] for name, body in self.made.joins.items()}
        changed = {name: [dict(row) for row in members] for name, members in self.made.rows.items()}
        for sign in self.made.signs:
            for row in changed.get(tables[sign.alias], []):
                row[sign.column.name] = value(sign)
        return changed

    def quiet(self) -> dict[str, list[str]]:
        """Return lines that stood beside the chosen ones and that no signature finds, masked."""
        found = {}
        for table in self.logs:
            lines = [
                self.mask.text(line, guess=True)[:400]
                for line in self.made.quiet.get(table, [])
                if line.strip()
            ]
            found[table] = [
                line for line in dict.fromkeys(lines) if self.harmless_line(table, line)
            ][:QUIET_LINES]
        return {table: lines or self.made_up()[table] for table, lines in found.items()}

    def made_up(self) -> dict[str, list[str]]:
        """Return a line for each log that says that it was made up."""
        stamps = {
            table: re.match(r"[\d<>: TZ.+-]{10,40}", lines[0])
            for table, lines in self.logs.items()
            if lines
        }
        return {
            table: [f"{stamp.group().strip() if stamp else ''} (made up) nothing to see".strip()]
            for table, stamp in stamps.items()
        }
