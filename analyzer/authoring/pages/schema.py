"""JSON Schema (draft-07) of a rule file for editors, built from the lists the loader uses.

What the loader refuses by its form (unknown and missing keys, fixed words, tables, columns, kinds of value) the
schema refuses as well, at the same place. What needs the language (names in expressions, types, patterns)
stays with `backline rules lint`.
"""

from __future__ import annotations

import json
import re
from typing import Any

from analyzer.artefacts.tables import ORIGIN_COLUMNS, Column, Kind, Table, Tables
from analyzer.authoring.pages import schema_parts as parts
from analyzer.authoring.pages import schema_short
from analyzer.authoring.pages import schema_snippets as snippets
from analyzer.authoring.pages import schema_words as words
from analyzer.authoring.pages.schema_parts import TEXT
from analyzer.case.articles import URL
from analyzer.case.verdicts import CONFIDENCES, SEVERITIES, Verdict
from analyzer.rules import (
    STATUSES,
    bounds,
    cited_sources,
    examples,
    logs,
    model,
    short,
    short_examples,
)
from analyzer.rules import keys as rule_keys
from analyzer.rules import tables as rule_tables
from analyzer.rules import values as rule_values
from analyzer.rules.affected import PRODUCTS

_LINE_MOST = 200

_EXPRESSION: dict[str, Any] = {"type": ["string", "number", "boolean"], "minLength": 1}
_FLAG: dict[str, Any] = {"type": "boolean"}
_TEXTS: dict[str, Any] = {"type": ["string", "array", "null"], "items": TEXT}
_NUMBERS: dict[str, Any] = {"type": ["integer", "array", "null"], "items": {"type": "integer"}}
_BY: dict[str, Any] = {
    "type": ["string", "array", "object", "null"],
    "items": TEXT,
    "additionalProperties": TEXT,
}

# Keys that hold one text of any content.
_PLAIN = (
    "title", "checked", "owner", "proven", "replaced_by", "revised", "needs", "about", "fact", "subject",
    "say", "caution",
)  # fmt: skip


def make_schema(tables: Tables) -> dict[str, Any]:
    """Return the schema of a rule over these tables; plain values only, the same for the same tables."""
    return _Maker(tables).make_whole()


def write_schema(tables: Tables) -> str:
    """Return the schema as the text of a file, one line feed at its end."""
    return _type_written(make_schema(tables), "") + "\n"


def _type_written(value: Any, margin: str) -> str:
    """Return JSON in which what is short is on one line: it is read in diffs."""
    flat = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or len(margin) + len(flat) <= _LINE_MOST:
        return flat
    inner = margin + " "
    if isinstance(value, list):
        return (
            "[\n"
            + ",\n".join(inner + _type_written(item, inner) for item in value)
            + f"\n{margin}]"
        )
    rows = (
        f"{inner}{json.dumps(key)}: {_type_written(item, inner)}" for key, item in value.items()
    )
    return "{\n" + ",\n".join(rows) + f"\n{margin}}}"


_FACTS: dict[str, Any] = {
    "type": "string",
    "pattern": r"^kb\.[a-z][a-z0-9_]*$",
}  # also those of a private catalog


def _type_ranges() -> dict[str, Any]:
    """Return the schema of `affected` and `fixed_in`: product -> versions."""
    several = {"anyOf": [TEXT, parts.list_of(TEXT, least=1)]}
    return {
        "type": ["object", "null"],
        "propertyNames": {"enum": list(PRODUCTS)},
        "additionalProperties": several,
    }


class _Maker:
    def __init__(self, tables: Tables) -> None:
        self.tables = {name: tables[name] for name in sorted(tables)}
        self.facts = [table for table in self.tables.values() if table.given is not None]
        self.tables = {name: table for name, table in self.tables.items() if table.given is None}
        self.rows = [table for table in self.tables.values() if not table.log]
        self.logs = [table for table in self.tables.values() if table.log]

    def make_whole(self) -> dict[str, Any]:
        """Return the schema of the file."""
        keys = self.make_properties()
        found = {}
        for key, meaning in rule_keys.KEYS.items():
            found[key] = parts.add_words(
                parts.type_bounded(key, keys[key]), meaning, *words.TOP[key]
            )
        severe = {"properties": {"outcomes": {"items": {"required": ["severity"]}}}}
        return {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "description": "One rule of Backline: what it looks at, when it speaks, what it says, and its proof.",
            "type": "object",
            "additionalProperties": False,
            "required": ["rule", "title"],
            "properties": found,
            **schema_short.type_forms(severe),
            **snippets.offer_snippets("rule"),
            "definitions": self.make_definitions(),
        }

    def make_definitions(self) -> dict[str, Any]:
        """Return the definitions that the keys refer to: cells, rows, tables and logs."""
        cells = {}
        for kind, cell in _type_cells().items():
            cells[f"a cell of {kind}"] = cell
        rows = {}
        for name, table in self.tables.items():
            rows[name] = {
                "type": ["array", "null"],
                "items": parts.make_ref(f"row of {name}"),
                "description": table.meaning,
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
        # An example that is below its result.
        expect = _type_expect()["properties"]
        case = parts.type_mapping(
            "case", short_examples.CASE_KEYS, schema_short.type_case(expect), ("lines",)
        )
        asked = parts.type_mapping("expect", short_examples.ASKED_KEYS, expect, ())
        own = self.type_example()["properties"] | {
            "rows": {"type": ["array", "object", "null"]},
            "expect": asked,
        }
        by_rows = parts.type_mapping("rows", short_examples.ROW_KEYS, own, ())
        cells["example below its result"] = {
            "anyOf": [case | {"type": [*TEXT["type"], "object"]}, by_rows]
        }
        return cells | {f"row of {table.name}": type_row(table) for table in self.tables.values()}

    def make_properties(self) -> dict[str, dict[str, Any]]:
        """Return the type of every key of a rule."""
        named = {"type": ["object", "null"], "propertyNames": parts.name_used()}
        word = TEXT | {"pattern": f"^{parts.type_body(rule_keys.ID)}$", "maxLength": 100}
        log = parts.type_mapping("logs", logs.LOG_KEYS, self._log_keys(), ("in", "match"))
        keys = {"when": _EXPRESSION, "severity": parts.type_choice("severity", SEVERITIES)}
        grade = parts.type_mapping("grade", rule_keys.GRADE_KEYS, keys, rule_keys.GRADE_KEYS)
        keys = schema_short.type_sign(self._log_keys(), _type_counts())
        sign = parts.type_mapping(
            "sign", short.SIGN_KEYS, keys, ("in", "match")
        ) | snippets.offer_snippets("sign")
        note = parts.type_mapping(
            "notes", rule_keys.NOTE_KEYS, {"when": _EXPRESSION, "say": TEXT}, rule_keys.NOTE_KEYS
        )
        outcome = parts.type_mapping(
            "outcomes", rule_keys.OUTCOME_KEYS, {"when": _EXPRESSION} | _type_answers(), ()
        ) | snippets.offer_snippets("outcome")
        most = bounds.ENTRIES["examples"]
        cases = parts.list_of(self.type_example()) | {"maxItems": most}
        either = schema_short.bare_examples(cases, parts.make_ref("example below its result"))
        bare = parts.type_mapping("bare", schema_short.EXAMPLE_KEYS, either, ())
        examples = cases | bare | {"type": ["array", "object", "null"]}
        return dict.fromkeys(_PLAIN, TEXT) | {
            "rule": word,
            "kb": _NUMBERS,
            "issues": _NUMBERS,
            "source": type_sources(),
            "tags": parts.list_of(word),
            "status": parts.type_choice("status", STATUSES),
            "replaces": _TEXTS,
            "product": parts.type_choice("product", model.PRODUCTS),
            "unasked": {"type": "boolean"},
            "sign": sign,
            "cleared": self.type_cleared(),
            "each": self.type_each(),
            "join": named | {"additionalProperties": self.type_join()} | snippets.offer_snippets("join"),
            "population": self.type_population(),
            "logs": named | {"additionalProperties": log} | snippets.offer_snippets("log"),
            "seen": named | {"additionalProperties": type_question()} | snippets.offer_snippets("seen"),
            "affected": _type_ranges(),
            "fixed_in": _type_ranges(),
            "only": _EXPRESSION,
            "let": named | {"additionalProperties": _EXPRESSION},
            "when": _EXPRESSION | snippets.offer_snippets("when"),
            "severity": parts.type_choice("severity", SEVERITIES),
            "confidence": parts.type_choice("confidence", CONFIDENCES),
            "grade": parts.list_of(grade),
            "outcomes": parts.list_of(outcome, least=1) | {"type": "array"},
            "notes": parts.list_of(note),
            "evidence": parts.list_of({"anyOf": [{"enum": list(short.NAMES)}, _EXPRESSION]}),
            "chart": parts.list_of(_EXPRESSION),
            "fix": {"type": ["array", "object", "null"], "items": type_fix(), "additionalProperties": TEXT},
            "object": _TEXTS | {"type": [*TEXT["type"], "array", "null"]},
            "not_this": _TEXTS,
            "explained_by": _TEXTS,
            "ask": TEXT | {"type": ["string", "number", "boolean", "object", "null"]}
            | {"propertyNames": {"enum": list(self.tables)}, "additionalProperties": TEXT},
            "examples": examples,
        }  # fmt: skip

    def type_cleared(self) -> dict[str, Any]:
        """Return the type of `cleared`."""
        keys = schema_short.type_cleared(
            self._log_keys(), _type_counts()["within"], _type_answers()
        )
        whole = parts.type_mapping("cleared", short.CLEARED_KEYS, keys, ("match",))
        return whole | {
            "type": ["object", "string"],
            "minLength": 1,
            "dependencies": {"say": ["severity"]},
        }

    def type_each(self) -> dict[str, Any]:
        """Return the type of `each`, with a completion for each table."""
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
        shape = parts.type_shaped(f"^\\s*{column}\\s+in\\s+(?:{names}|{signature})\\s*$", advice)
        return shape | {"defaultSnippets": every}

    def type_by(self) -> dict[str, Any]:
        """Return the schema of equal columns; a column of any table is offered."""
        names = set()
        for table in self.rows:
            names |= {column.name for column in table.columns}
        return _BY | {"items": {"anyOf": [{"enum": ["node", *sorted(names)]}, TEXT]}}

    def type_join(self) -> dict[str, Any]:
        """Return the type of an entry of `join`."""
        keys = {
            "table": {
                "type": "string",
                "anyOf": [
                    parts.table_names([*self.rows, *self.facts]),
                    _FACTS,
                    parts.write_signature(),
                ],
            },
            "by": self.type_by(),
            "rows": parts.type_choice("rows", ("one", "many", "each")),
            "nodes": parts.type_choice("nodes", ("same", "any")),
            "where": _EXPRESSION,
        }
        return parts.type_mapping("join", rule_keys.JOIN_KEYS, keys, ("table",))

    def type_population(self) -> dict[str, Any]:
        """Return the type of `population`."""
        keys = {
            "table": parts.table_names(self.rows),
            "as": parts.name_used(),
            "by": self.type_by(),
            "where": _EXPRESSION,
            "subject": TEXT,
        }
        return parts.type_mapping("population", rule_keys.POPULATION_KEYS, keys, ("table", "by"))

    def _log_keys(self) -> dict[str, Any]:
        """Return the keys of a signature."""
        keys = {"match": {"type": "string", "minLength": 1}, "source": TEXT}
        form = parts.type_mapping("also", logs.ALSO_KEYS, keys, logs.ALSO_KEYS)
        return {
            "in": parts.table_names(self.logs),
            "match": {"type": "string", "minLength": 1},
            "also": parts.list_of(form),
            "ignore_case": _FLAG,
            "columns": {
                "type": ["object", "null"],
                "additionalProperties": parts.type_choice("columns", logs.GROUP_KINDS),
            },
            "otherwise": {"type": ["object", "null"], "additionalProperties": TEXT},
            "where": _EXPRESSION,
            "keep": {"type": "integer", "minimum": 1, "maximum": 50},
            "nodes": parts.type_choice("nodes", ("same", "any")),
        }

    def type_example(self) -> dict[str, Any]:
        """Return the type of an example."""
        names = {"type": "string", "enum": list(self.tables)}
        file = parts.type_mapping(
            "files", examples.FILE_KEYS, dict.fromkeys(examples.FILE_KEYS, TEXT), ("text",)
        )
        keys = {
            "name": TEXT,
            "like": TEXT,
            "tables": {"allOf": [parts.make_ref("rows of tables")]},
            "logs": {"allOf": [parts.make_ref("texts of logs")]},
            "files": {
                "type": ["array", "object", "null"],
                "items": file,
                "additionalProperties": TEXT,
            },
            "cut": {"anyOf": [names, parts.list_of(names)]},
            "expect": _type_expect(),
            "gap": _FLAG,
        }
        return parts.type_mapping(
            "examples", examples.EXAMPLE_KEYS, keys, ("name", "expect")
        ) | snippets.offer_snippets("example")


# -- parts that need no table


def type_sources() -> dict[str, Any]:
    """Return the schema of `source`: one record or text, or a list of both."""
    number = {"type": "integer", "minimum": 1, "maximum": cited_sources.ARTICLE_MOST}
    keys = {
        "title": TEXT,
        "url": {"type": "string", "pattern": f"^{parts.type_body(URL)}$"},
        "article": {
            "type": ["integer", "array"],
            "minimum": 1,
            "maximum": cited_sources.ARTICLE_MOST,
            "items": number,
            "minItems": 1,
            "maxItems": cited_sources.ARTICLES,
        },
        "checked": TEXT | {"pattern": f"^{parts.type_body(cited_sources.DAY)}$"},
        "mark": parts.type_choice("mark", cited_sources.MARKS),
    }
    record = parts.type_mapping("source", cited_sources.SOURCE_KEYS, keys, ())
    named = {
        "anyOf": [{"required": [key]} for key in cited_sources.NAMES],
        "not": {"required": ["url", "article"]},
    }
    record |= {"if": {"type": "object"}, "then": named}
    either = record | {"type": [*TEXT["type"], "object"]}
    return record | {"type": [*TEXT["type"], "object", "array", "null"], "items": either}


def _type_answers() -> dict[str, Any]:
    """Return the keys of an answer: how bad, how sure, and the sentence."""
    return {
        "severity": parts.type_choice("severity", SEVERITIES),
        "confidence": parts.type_choice("confidence", CONFIDENCES),
        "say": TEXT,
    }


def type_fix() -> dict[str, Any]:
    """Return the schema of one step of the remedy."""
    keys = dict.fromkeys(rule_keys.FIX_KEYS, TEXT) | {
        "when": _EXPRESSION,
        "releases": _type_ranges(),
    }
    found = parts.type_mapping("fix", rule_keys.FIX_KEYS, keys, ())
    found |= {
        "dependencies": {"unsure": {"anyOf": [{"required": ["when"]}, {"required": ["releases"]}]}}
    }
    return (
        found
        | {"anyOf": [{"required": ["run"]}, {"required": ["do"]}]}
        | snippets.offer_snippets("fix")
    )


def type_question() -> dict[str, Any]:
    """Return the schema of one question: exactly one of three kinds, each with its own further keys."""
    keys = _type_counts() | {
        "log": TEXT,
        "per": TEXT,
        "sequence": {"type": "array", "items": TEXT, "minItems": 2, "maxItems": 10},
        "none": TEXT,
        "for": _type_counts()["within"],
        "until": TEXT,
        "longer_than": _type_counts()["within"],
    }
    others = schema_short.any_of(("at_least", "within", "distinct", "per"))
    ended = {"required": ["log", "until", "longer_than"], "not": others}
    counted = {"not": {"required": ["none"]}}
    return parts.type_mapping("seen", logs.SEEN_KEYS, keys, ()) | {
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


def _type_counts() -> dict[str, Any]:
    """Return the keys that count lines."""
    return {
        "at_least": {"type": "integer", "minimum": 1, "maximum": 1_000_000},
        "within": parts.type_shaped(
            f"^\\s*{parts.type_body(rule_values._SPAN)}\\s*$", "Write 90s, 10m, 24h or 2d."
        ),
        "distinct": TEXT,
    }


def _type_expect() -> dict[str, Any]:
    """Return the type of `expect` of an example."""
    several = {"type": ["string", "number", "boolean", "array"], "items": TEXT}
    keys = dict.fromkeys(examples.EXPECT_KEYS, several) | {
        "result": parts.type_choice("result", tuple(Verdict)),
        "severity": parts.type_choice("severity", SEVERITIES),
        "confidence": parts.type_choice("confidence", CONFIDENCES),
        "count": {"type": "integer"},
    }
    return parts.type_mapping("expect", examples.EXPECT_KEYS, keys, ("result",))


def type_row(table: Table) -> dict[str, Any]:
    """Return the schema of one row by hand: the table's columns and where it comes from."""
    origin = []
    for name, kind in ORIGIN_COLUMNS.items():
        origin.append(Column(name, kind, words.ORIGIN[name]))
    columns = {column.name: column for column in (*origin, *table.columns)}
    ordered = [column.name for column in table.columns]
    ordered += [name for name in ORIGIN_COLUMNS if not table.column(name)]
    types = _type_cells()
    cells = {}
    for name in ordered:
        column = columns[name]
        unit = ""
        if column.unit:
            unit = f", in {column.unit}"
        cells[name] = {
            "type": types[column.kind]["type"],  # an editor completes a key by its type
            "allOf": [parts.make_ref(f"a cell of {column.kind}")],
            "description": f"{column.meaning or name}{unit} ({words.KINDS[column.kind]})",
        }
    return {
        "type": ["object", "null"],
        "description": f"a row of {table.name}: {table.meaning}",
        "additionalProperties": False,
        "properties": cells,
    }


def _type_cells() -> dict[Kind, dict[str, Any]]:
    """Return the schemas of cells; a number may be a series of samples, and every cell unknown."""
    step = parts.type_body(examples._STEP)
    series = parts.type_shaped(
        f"^\\s*{step}(?:\\s+{step})*\\s*$", "Write a number, or a series like 2x30 70+0.1x60."
    )
    day, clock = r"\d{4}-\d\d-\d\d", r"\d\d:\d\d:\d\d"
    time = parts.type_shaped(
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
