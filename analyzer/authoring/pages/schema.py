"""JSON Schema (draft-07) of a rule file for editors, built from the lists the loader uses.

What the loader refuses by its form (unknown and missing keys, fixed words, tables, columns, kinds of value) the
schema refuses as well, at the same place. What needs the language (names in expressions, types, patterns)
stays with `backline rules lint`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from analyzer.artefacts.tables import ORIGIN_COLUMNS, Column, Kind, Table
from analyzer.authoring.pages import schema_parts as parts
from analyzer.authoring.pages import schema_short
from analyzer.authoring.pages import schema_snippets as snippets
from analyzer.authoring.pages import schema_words as words
from analyzer.authoring.pages.schema_parts import TEXT, Schema
from analyzer.case.verdicts import CONFIDENCES, SEVERITIES, Verdict
from analyzer.rules import STATUSES, bounds, examples, logs, model, short, short_examples
from analyzer.rules import keys as rule_keys
from analyzer.rules import tables as rule_tables
from analyzer.rules import values as rule_values
from analyzer.rules.affected import PRODUCTS

_LINE_MOST = 200

_EXPRESSION: Schema = {"type": ["string", "number", "boolean"], "minLength": 1}
_FLAG: Schema = {"type": "boolean"}
_TEXTS: Schema = {"type": ["string", "array", "null"], "items": TEXT}
_NUMBERS: Schema = {"type": ["integer", "array", "null"], "items": {"type": "integer"}}
_BY: Schema = {
    "type": ["string", "array", "object", "null"],
    "items": TEXT,
    "additionalProperties": TEXT,
}

# Keys that hold one text of any content.
_PLAIN = (
    "title", "checked", "owner", "proven", "replaced_by", "revised", "needs", "about", "fact", "subject",
    "say", "caution",
)  # fmt: skip


def schema(tables: Mapping[str, Table]) -> Schema:
    """Return the schema of a rule over these tables; plain values only, the same for the same tables."""
    return _Maker(tables).whole()


def text(tables: Mapping[str, Table]) -> str:
    """Return the schema as the text of a file, one line feed at its end."""
    return _written(schema(tables), "") + "\n"


def _written(value: Any, margin: str) -> str:
    """Return JSON in which what is short stands on one line: it is read in diffs."""
    flat = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or len(margin) + len(flat) <= _LINE_MOST:
        return flat
    inner = margin + " "
    if isinstance(value, list):
        return "[\n" + ",\n".join(inner + _written(item, inner) for item in value) + f"\n{margin}]"
    rows = (f"{inner}{json.dumps(key)}: {_written(item, inner)}" for key, item in value.items())
    return "{\n" + ",\n".join(rows) + f"\n{margin}}}"


_FACTS: Schema = {
    "type": "string",
    "pattern": r"^kb\.[a-z][a-z0-9_]*$",
}  # also those of a private catalog


def _ranges() -> Schema:
    """Return the schema of `affected` and `fixed_in`: product -> versions."""
    several = {"anyOf": [TEXT, parts.list_of(TEXT, least=1)]}
    return {
        "type": ["object", "null"],
        "propertyNames": {"enum": list(PRODUCTS)},
        "additionalProperties": several,
    }


class _Maker:
    def __init__(self, tables: Mapping[str, Table]) -> None:
        self.tables = {name: tables[name] for name in sorted(tables)}
        self.facts = [table for table in self.tables.values() if table.given is not None]
        self.tables = {name: table for name, table in self.tables.items() if table.given is None}
        self.rows = [table for table in self.tables.values() if not table.log]
        self.logs = [table for table in self.tables.values() if table.log]

    def whole(self) -> Schema:
        """Return the schema of the file."""
        keys = self._properties()
        found = {
            key: parts.described(parts.bounded(key, keys[key]), meaning, *words.TOP[key])
            for key, meaning in rule_keys.KEYS.items()
        }
        severe = {"properties": {"outcomes": {"items": {"required": ["severity"]}}}}
        return {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "description": "One rule of Backline: what it looks at, when it speaks, what it says, and its proof.",
            "type": "object",
            "additionalProperties": False,
            "required": ["rule", "title"],
            "properties": found,
            **schema_short.forms(severe),
            **snippets.RULE,
            "definitions": self._definitions(),
        }

    def _definitions(self) -> Schema:
        cells = {f"a cell of {kind}": cell for kind, cell in _cells().items()}
        rows = {
            name: {
                "type": ["array", "null"],
                "items": parts.ref(f"row of {name}"),
                "description": table.meaning,
            }
            for name, table in self.tables.items()
        }
        logs = {
            table.name: {"type": ["string", "null"], "description": table.meaning}
            for table in self.logs
        }
        closed = {"type": ["object", "null"], "additionalProperties": False}
        cells |= {
            "rows of tables": closed | {"properties": rows},
            "texts of logs": closed | {"properties": logs},
        }
        # The schema of one example that stands below its result
        expect = _expect()["properties"]
        case = parts.mapping(
            "case", short_examples.CASE_KEYS, schema_short.case(expect), ("lines",)
        )
        asked = parts.mapping("expect", short_examples.ASKED_KEYS, expect, ())
        own = self._example()["properties"] | {
            "rows": {"type": ["array", "object", "null"]},
            "expect": asked,
        }
        by_rows = parts.mapping("rows", short_examples.ROW_KEYS, own, ())
        cells["example below its result"] = {
            "anyOf": [case | {"type": [*TEXT["type"], "object"]}, by_rows]
        }
        return cells | {f"row of {table.name}": _row(table) for table in self.tables.values()}

    def _properties(self) -> dict[str, Schema]:
        named = {"type": ["object", "null"], "propertyNames": parts.name_used()}
        word = TEXT | {"pattern": f"^{parts.body(rule_keys.ID)}$", "maxLength": 100}
        log = parts.mapping("logs", logs.LOG_KEYS, self._log_keys(), ("in", "match"))
        keys = {"when": _EXPRESSION, "severity": parts.choice("severity", SEVERITIES)}
        grade = parts.mapping("grade", rule_keys.GRADE_KEYS, keys, rule_keys.GRADE_KEYS)
        keys = schema_short.sign(self._log_keys(), _counts())
        sign = parts.mapping("sign", short.SIGN_KEYS, keys, ("in", "match")) | snippets.SIGN
        note = parts.mapping(
            "notes", rule_keys.NOTE_KEYS, {"when": _EXPRESSION, "say": TEXT}, rule_keys.NOTE_KEYS
        )
        outcome = (
            parts.mapping(
                "outcomes", rule_keys.OUTCOME_KEYS, {"when": _EXPRESSION} | _answers(), ()
            )
            | snippets.OUTCOME
        )
        most = bounds.ENTRIES["examples"]
        cases = parts.list_of(self._example()) | {"maxItems": most}
        either = schema_short.bare_examples(cases, parts.ref("example below its result"))
        bare = parts.mapping("bare", schema_short.EXAMPLE_KEYS, either, ())
        examples = cases | bare | {"type": ["array", "object", "null"]}
        return dict.fromkeys(_PLAIN, TEXT) | {
            "rule": word,
            "kb": _NUMBERS,
            "issues": _NUMBERS,
            "source": {"anyOf": [TEXT, parts.list_of(TEXT)]},
            "tags": parts.list_of(word),
            "status": parts.choice("status", STATUSES),
            "replaces": _TEXTS,
            "product": parts.choice("product", model.PRODUCTS),
            "sign": sign,
            "cleared": self._cleared(),
            "each": self._each(),
            "join": named | {"additionalProperties": self._join()} | snippets.JOIN,
            "population": self._population(),
            "logs": named | {"additionalProperties": log} | snippets.LOG,
            "seen": named | {"additionalProperties": _seen()} | snippets.SEEN,
            "affected": _ranges(),
            "fixed_in": _ranges(),
            "only": _EXPRESSION,
            "let": named | {"additionalProperties": _EXPRESSION},
            "when": _EXPRESSION | snippets.WHEN,
            "severity": parts.choice("severity", SEVERITIES),
            "confidence": parts.choice("confidence", CONFIDENCES),
            "grade": parts.list_of(grade),
            "outcomes": parts.list_of(outcome, least=1) | {"type": "array"},
            "notes": parts.list_of(note),
            "evidence": parts.list_of({"anyOf": [{"enum": list(short.NAMES)}, _EXPRESSION]}),
            "chart": parts.list_of(_EXPRESSION),
            "fix": {"type": ["array", "object", "null"], "items": _fix(), "additionalProperties": TEXT},
            "object": _TEXTS | {"type": [*TEXT["type"], "array", "null"]},
            "not_this": _TEXTS,
            "explained_by": _TEXTS,
            "ask": TEXT | {"type": ["string", "number", "boolean", "object", "null"]}
            | {"propertyNames": {"enum": list(self.tables)}, "additionalProperties": TEXT},
            "examples": examples,
        }  # fmt: skip

    def _cleared(self) -> Schema:
        keys = schema_short.cleared(self._log_keys(), _counts()["within"], _answers())
        whole = parts.mapping("cleared", short.CLEARED_KEYS, keys, ("match",))
        return whole | {
            "type": ["object", "string"],
            "minLength": 1,
            "dependencies": {"say": ["severity"]},
        }

    def _each(self) -> Schema:
        names = "|".join(re.escape(table.name).replace("\\_", "_") for table in self.rows)
        every = []
        for table in self.rows:
            every.append(
                {
                    "label": f"… in {table.name}",
                    "description": table.meaning,
                    "body": f"${{1:{parts.alias_of(table)}}} in {table.name}",
                }
            )
        advice = (
            "Write `alias in table` with a table that a parser makes, for example: port in esxi.client_stats; "
            "or, of a signature under `logs`: dev in late per device"
        )
        column = "[a-z][a-z0-9_]*"
        signature = f"{column}(?:\\s+per\\s+{column}(?:\\s*,\\s*{column}){{0,{rule_tables.MANY_KEYS - 1}}})?"
        shape = parts.shaped(f"^\\s*{column}\\s+in\\s+(?:{names}|{signature})\\s*$", advice)
        return shape | {"defaultSnippets": every}

    def _by(self) -> Schema:
        """Return the schema of equal columns; a column of any table is offered."""
        names = {column.name for table in self.rows for column in table.columns}
        return _BY | {"items": {"anyOf": [{"enum": ["node", *sorted(names)]}, TEXT]}}

    def _join(self) -> Schema:
        keys = {
            "table": {
                "type": "string",
                "anyOf": [parts.table_names([*self.rows, *self.facts]), _FACTS, parts.signature()],
            },
            "by": self._by(),
            "rows": parts.choice("rows", ("one", "many", "each")),
            "nodes": parts.choice("nodes", ("same", "any")),
            "where": _EXPRESSION,
        }
        return parts.mapping("join", rule_keys.JOIN_KEYS, keys, ("table",))

    def _population(self) -> Schema:
        keys = {
            "table": parts.table_names(self.rows),
            "as": parts.name_used(),
            "by": self._by(),
            "where": _EXPRESSION,
            "subject": TEXT,
        }
        return parts.mapping("population", rule_keys.POPULATION_KEYS, keys, ("table", "by"))

    def _log_keys(self) -> Schema:
        return {
            "in": parts.table_names(self.logs),
            "match": {"type": "string", "minLength": 1},
            "ignore_case": _FLAG,
            "columns": {
                "type": ["object", "null"],
                "additionalProperties": parts.choice("columns", logs.GROUP_KINDS),
            },
            "otherwise": {"type": ["object", "null"], "additionalProperties": TEXT},
            "where": _EXPRESSION,
            "keep": {"type": "integer", "minimum": 1, "maximum": 50},
            "nodes": parts.choice("nodes", ("same", "any")),
        }

    def _example(self) -> Schema:
        names = {"type": "string", "enum": list(self.tables)}
        file = parts.mapping(
            "files", examples.FILE_KEYS, dict.fromkeys(examples.FILE_KEYS, TEXT), ("text",)
        )
        keys = {
            "name": TEXT,
            "like": TEXT,
            "tables": {"allOf": [parts.ref("rows of tables")]},
            "logs": {"allOf": [parts.ref("texts of logs")]},
            "files": {
                "type": ["array", "object", "null"],
                "items": file,
                "additionalProperties": TEXT,
            },
            "cut": {"anyOf": [names, parts.list_of(names)]},
            "expect": _expect(),
            "gap": _FLAG,
        }
        return (
            parts.mapping("examples", examples.EXAMPLE_KEYS, keys, ("name", "expect"))
            | snippets.EXAMPLE
        )


# -- parts that need no table


def _answers() -> Schema:
    return {
        "severity": parts.choice("severity", SEVERITIES),
        "confidence": parts.choice("confidence", CONFIDENCES),
        "say": TEXT,
    }


def _fix() -> Schema:
    keys = dict.fromkeys(rule_keys.FIX_KEYS, TEXT) | {"when": _EXPRESSION, "releases": _ranges()}
    found = parts.mapping("fix", rule_keys.FIX_KEYS, keys, ())
    found |= {
        "dependencies": {"unsure": {"anyOf": [{"required": ["when"]}, {"required": ["releases"]}]}}
    }
    return found | {"anyOf": [{"required": ["run"]}, {"required": ["do"]}]} | snippets.FIX


def _seen() -> Schema:
    """Return the schema of one question: exactly one of three kinds, each with its own further keys."""
    keys = _counts() | {
        "log": TEXT,
        "per": TEXT,
        "sequence": {"type": "array", "items": TEXT, "minItems": 2, "maxItems": 10},
        "none": TEXT,
        "for": _counts()["within"],
        "until": TEXT,
        "longer_than": _counts()["within"],
    }
    others = schema_short.any_of(("at_least", "within", "distinct", "per"))
    ended = {"required": ["log", "until", "longer_than"], "not": others}
    counted = {"not": {"required": ["none"]}}
    return parts.mapping("seen", logs.SEEN_KEYS, keys, ()) | {
        "oneOf": [{"required": [kind]} for kind in ("log", "sequence", "none")],
        "dependencies": {
            "at_least": ["log"],
            "distinct": ["log"],
            "for": ["none"],
            "within": counted,
            "per": counted,
            "until": ended,
            "longer_than": ended,
        },
    }


def _counts() -> Schema:
    return {
        "at_least": {"type": "integer", "minimum": 1, "maximum": 1_000_000},
        "within": parts.shaped(
            f"^\\s*{parts.body(rule_values._SPAN)}\\s*$", "Write 90s, 10m, 24h or 2d."
        ),
        "distinct": TEXT,
    }


def _expect() -> Schema:
    several = {"type": ["string", "number", "boolean", "array"], "items": TEXT}
    keys = dict.fromkeys(examples.EXPECT_KEYS, several) | {
        "result": parts.choice("result", tuple(Verdict)),
        "severity": parts.choice("severity", SEVERITIES),
        "confidence": parts.choice("confidence", CONFIDENCES),
        "count": {"type": "integer"},
    }
    return parts.mapping("expect", examples.EXPECT_KEYS, keys, ("result",))


def _row(table: Table) -> Schema:
    """Return the schema of one row by hand: the table's columns and where it comes from."""
    origin = [Column(name, kind, words.ORIGIN[name]) for name, kind in ORIGIN_COLUMNS.items()]
    columns = {column.name: column for column in (*origin, *table.columns)}
    ordered = [column.name for column in table.columns] + [
        name for name in ORIGIN_COLUMNS if not table.column(name)
    ]
    return {
        "type": ["object", "null"],
        "description": f"a row of {table.name}: {table.meaning}",
        "additionalProperties": False,
        "properties": {name: _cell(columns[name]) for name in ordered},
    }


def _cell(column: Column) -> Schema:
    unit = f", in {column.unit}" if column.unit else ""
    meaning = f"{column.meaning or column.name}{unit} ({words.KINDS[column.kind]})"
    kind = _cells()[column.kind]["type"]  # told here as well: an editor completes a key by its type
    return {"type": kind, "allOf": [parts.ref(f"a cell of {column.kind}")], "description": meaning}


def _cells() -> dict[Kind, Schema]:
    """Return the schemas of cells; a number may be a series of samples, and every cell unknown."""
    step = parts.body(examples._STEP)
    series = parts.shaped(
        f"^\\s*{step}(?:\\s+{step})*\\s*$", "Write a number, or a series like 2x30 70+0.1x60."
    )
    day, clock = r"\d{4}-\d\d-\d\d", r"\d\d:\d\d:\d\d"
    time = parts.shaped(
        rf"^(?:{day}[T ]{clock}(\.\d{{1,9}})?Z?)?$", "Write it like 2017-10-02 08:05:00."
    )
    return {
        "str": {"type": ["string", "null"]},
        "int": series | {"type": ["integer", "string", "null"]},
        "float": series | {"type": ["number", "string", "null"]},
        "bool": {"type": ["boolean", "null"]},
        "version": {"type": ["string", "null"]},
        "time": time | {"type": ["string", "null"]},
    }
