"""The examples of a rule file: rows by hand, log text, raw text of files, and the expected answer.

`like` starts from an earlier example and replaces whole tables, logs and files. A numeric
cell may be a series for samples: `2x30 70+0.1x60` is thirty times 2, then sixty values from
70 on in steps of 0.1; `_` is an unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from analyzer.artefacts.tables import (
    ORIGIN_COLUMNS,
    Column,
    ColumnValueError,
    Table,
    Tables,
    convert_cell,
)
from analyzer.case.verdicts import CONFIDENCES, SEVERITIES, Verdict
from analyzer.rules.bounds import EXAMPLE_ROWS, path_fault
from analyzer.rules.language.rulefile import FileSpan, RuleItem, RuleText, did_you_mean
from analyzer.rules.model import Example

EXAMPLE_KEYS = ("name", "like", "tables", "logs", "files", "cut", "expect", "gap")
EXPECT_KEYS = (
    "result", "severity", "confidence", "say", "missing", "maybe_worse", "count", "subject", "object", "also",
    "fix", "no_fix", "evidence", "reason",
)  # fmt: skip
FILE_KEYS = ("path", "command", "parser", "text", "node", "kind")
SERIES_MOST = 5000

_STEP = re.compile(r"(_|-?\d+(?:\.\d+)?)(?:([+-]\d+(?:\.\d+)?))?(?:x(\d{1,4}))?$")


def read_examples(item: RuleItem | None, text: RuleText, tables: Tables) -> list[Example]:
    """Return the examples of a rule; raises BadRuleError for unknown tables, columns and wrong types."""
    if item is None or item.value is None:
        return []
    if not isinstance(item.value, list):
        raise text.error(f"examples must be a list, not {item.what}", item.place)
    found: dict[str, Example] = {}
    reader = _Reader(text, tables)
    for child in item.value:
        example = reader.example(child, found)
        if example.name in found:
            raise text.error(f"two examples are named `{example.name}`", child.place)
        found[example.name] = example
    return list(found.values())


def _end_line(text: str) -> str:
    return f"{text}\n" if text and not text.endswith("\n") else text


class _Reader:
    def __init__(self, text: RuleText, tables: Tables) -> None:
        self.text, self.known = text, tables
        self.rows_left = EXAMPLE_ROWS

    def example(self, item: RuleItem, earlier: Mapping[str, Example]) -> Example:
        keys = self.text.mapping(item, EXAMPLE_KEYS, "an example")
        for key in ("name", "expect"):
            if key not in keys:
                raise self.text.error(f"an example has no {key}", item.place)
        name = self.text.string(keys["name"], "name")
        if not name or len(name) > 200 or "\n" in name:
            raise self.text.error(
                "the name of an example is one line of at most 200 characters", keys["name"].place
            )
        tables = self._read_tables(keys.get("tables"))
        logs = self._read_logs(keys.get("logs"))
        files = self._read_files(keys.get("files"))
        cut: list[RuleItem] = []
        if "cut" in keys and keys["cut"].value is not None:
            cut = keys["cut"].value if isinstance(keys["cut"].value, list) else [keys["cut"]]
        for child in cut:
            if child.text not in self.known:
                near = did_you_mean(child.text, self.known)
                message = f"no parser makes table `{child.text[:80]}`"
                raise self.text.error(message, child.place, near)
        cut_tables = tuple(child.text for child in cut)
        expect = self._read_expect(keys["expect"])
        own = Example(name, item.place, tables, logs, files, cut_tables, expect)
        if "gap" in keys:
            gap = keys["gap"]
            if not isinstance(gap.value, bool):
                raise self.text.error(f"gap is true or false, not {gap.what}", gap.place)
            own = replace(own, gap=gap.value)
        if "like" not in keys:
            return own
        model = earlier.get(self.text.string(keys["like"], "like"))
        if model is None:
            near = did_you_mean(keys["like"].text, earlier) or "it must come before this one"
            raise self.text.error(
                f"no example `{keys['like'].text[:60]}`", keys["like"].place, near
            )
        return replace(
            own,
            tables={**model.tables, **own.tables},
            logs={**model.logs, **own.logs},
            files=own.files if "files" in keys else model.files,
            cut=own.cut if "cut" in keys else model.cut,
        )

    def _read_tables(self, item: RuleItem | None) -> dict[str, list[dict[str, Any]] | None]:
        out: dict[str, list[dict[str, Any]] | None] = {}
        for name, place, body in self.text.list_entries(item, "tables"):
            table = self.known.get(name)
            if table is None:
                near = did_you_mean(name, self.known)
                raise self.text.error(f"no parser makes table `{name[:80]}`", place, near)
            if body.value is None:
                out[name] = None
                continue
            if not isinstance(body.value, list):
                raise self.text.error(
                    f"rows of `{name}` are a list, not {body.what}", body.place, "write [] for none"
                )
            out[name] = [row for child in body.value for row in self._read_rows(child, table)]
        return out

    def _read_rows(self, item: RuleItem, table: Table) -> list[dict[str, Any]]:

        row: dict[str, Any] = {}
        series: dict[str, list[float | None]] = {}
        for name, place, cell in self.text.list_entries(item, "a row"):
            column = table.column(name)
            if column is None and name in ORIGIN_COLUMNS:
                column = Column(name, ORIGIN_COLUMNS[name], "")
            if column is None:
                near = did_you_mean(name, [one.name for one in table.columns])
                raise self.text.error(
                    f"table `{table.name}` has no column `{name[:60]}`", place, near
                )
            value = self._read_cell(cell, column)
            if isinstance(value, list):
                series[name] = value
            else:
                row[name] = value
        self.rows_left -= len(next(iter(series.values()), "1"))
        if self.rows_left < 0:
            raise self.text.error(
                f"examples of more than {EXAMPLE_ROWS:,} rows", item.place, "shorten the series"
            )
        if not series:
            return [row]
        lengths = {len(values) for values in series.values()}
        if len(lengths) > 1:
            raise self.text.error(f"series of different lengths: {sorted(lengths)}", item.place)
        whole = {column.name for column in table.columns if column.kind == "int"}
        time = table.column("time")
        timed = time is not None and time.kind == "time" and "time" not in row
        numbered = table.column("sample") is not None and "sample" not in row
        rows = []
        for number in range(lengths.pop()):
            one = dict(row)
            for name, values in series.items():
                value = values[number]
                one[name] = int(value) if name in whole and value is not None else value
            if numbered:
                one["sample"] = number + 1
            if timed:
                minute, second = divmod(number * 5, 60)
                one["time"] = f"2017-10-09 {minute // 60:02d}:{minute % 60:02d}:{second:02d}"
            rows.append(one)
        return rows

    def _read_cell(self, item: RuleItem, column: Column) -> Any:
        value, kind = item.value, column.kind
        if value is None:
            return None
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if kind in ("int", "float"):
            if number and (kind == "float" or isinstance(value, int)):
                return value
            if isinstance(value, str) and (found := self._read_numbers(value)):
                return found
            raise self.text.error(f"`{column.name}` is a number, not {item.what}", item.place)
        if kind == "bool":
            if isinstance(value, bool):
                return value
            raise self.text.error(f"`{column.name}` is true or false, not {item.what}", item.place)
        if not isinstance(value, str):
            help_text = f'write {column.name}: "{item.text}"'
            raise self.text.error(
                f"`{column.name}` is {kind}, not {item.what}", item.place, help_text
            )
        if kind == "time":
            try:
                return convert_cell(column, value)
            except ColumnValueError:
                help_text = "write it like 2017-10-02 08:05:00"
                raise self.text.error(f"`{column.name}` is a time", item.place, help_text) from None
        return value

    @staticmethod
    def _read_numbers(text: str) -> list[float | None] | None:
        """Return the values of a series, or None when the text is none."""
        out: list[float | None] = []
        for step in text.split():
            found = _STEP.match(step)
            if found is None:
                return None
            count = int(found[3] or 1)
            if len(out) + count > SERIES_MOST:
                return None
            if found[1] == "_":
                out += [None] * count
                continue
            start, by = float(found[1]), float(found[2] or 0)
            out += [round(start + by * number, 9) for number in range(count)]
        return out

    def _read_logs(self, item: RuleItem | None) -> dict[str, str | None]:
        out: dict[str, str | None] = {}
        for name, place, body in self.text.list_entries(item, "logs"):
            table = self.known.get(name)
            if table is None or not table.log:
                logs = [one.name for one in self.known.values() if one.log]
                raise self.text.error(
                    f"`{name[:80]}` is not a log", place, did_you_mean(name, logs)
                )
            if body.value is not None and not isinstance(body.value, str):
                raise self.text.error(f"`{name}` is text of a log, not {body.what}", body.place)
            # A last line that is written without its end has one all the same.
            out[name] = None if body.value is None else _end_line(body.text)
        return out

    def _read_files(self, item: RuleItem | None) -> tuple[dict[str, str], ...]:
        if item is None or item.value is None:
            return ()
        if isinstance(item.value, dict):
            self._check_paths(item.keys.items())
            return tuple(
                {
                    "path": name,
                    "command": name,
                    "text": self.text.string(body, "text of a file") + "\n",
                }
                for name, body in item.value.items()
            )
        out = []
        paths = []
        for child in item.value if isinstance(item.value, list) else [item]:
            keys = self.text.mapping(child, FILE_KEYS, "a file")
            if "text" not in keys:
                raise self.text.error("a file has no text", child.place)
            for key, body in keys.items():
                self.text.string(body, f"`{key}` of a file")
            out.append({key: body.text for key, body in keys.items()})
            paths += [(keys["path"].text, keys["path"].place)] if "path" in keys else []
        self._check_paths(paths)
        return tuple(out)

    def _check_paths(self, paths: Iterable[tuple[str, FileSpan]]) -> None:
        """Refuse names under which a file cannot be written into a folder of the example's own."""
        taken: list[str] = []
        for path, place in paths:
            if fault := path_fault(path, taken):
                raise self.text.error(
                    f"the path {path[:60]!r} {fault}", place, "write it like log/vmkernel.log"
                )
            taken.append(path)

    def _read_expect(self, item: RuleItem) -> dict[str, Any]:
        keys = self.text.mapping(item, EXPECT_KEYS, "expect")
        if "result" not in keys:
            raise self.text.error("expect has no result", item.place)
        choices = {"result": [*Verdict], "severity": [*SEVERITIES], "confidence": [*CONFIDENCES]}
        out: dict[str, Any] = {}
        for name, child in keys.items():
            if name in choices and child.text not in choices[name]:
                near = did_you_mean(child.text, choices[name])
                raise self.text.error(f"unknown {name} `{child.text[:60]}`", child.place, near)
            if name == "count":
                if not isinstance(child.value, int) or isinstance(child.value, bool):
                    raise self.text.error("count is a number", child.place)
                out[name] = child.value
            elif child.value is False:
                out[name] = []
            elif isinstance(child.value, list):
                out[name] = [self.text.string(one, "an expectation") for one in child.value]
            else:
                out[name] = self.text.string(child, "an expectation")
        return out
