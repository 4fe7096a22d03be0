"""Parts of the rule schema that need no rule file: closed mappings, choices, shapes, lists, names of tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from analyzer.artefacts.tables import Table
from analyzer.authoring.pages import schema_words as words
from analyzer.rules import bounds
from analyzer.rules import values as rule_values

# Text is what is written: the loader takes `6.3`, `true` and `text` alike where it wants text.
TEXT: dict[str, Any] = {"type": ["string", "number", "boolean"]}


def type_mapping(
    parent: str, order: Sequence[str], keys: Mapping[str, dict[str, Any]], needed: Iterable[str]
) -> dict[str, Any]:
    """Return a closed mapping with its keys in the loader's order, each with its meaning."""
    properties = {}
    for key in order:
        properties[key] = add_words(
            keys[key], words.BELOW[f"{parent}.{key}"][0], "", words.BELOW[f"{parent}.{key}"][1]
        )
    found: dict[str, Any] = {
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
    }
    return found | ({"required": list(needed)} if needed else {})


def add_words(part: dict[str, Any], meaning: str, more: str, example: str) -> dict[str, Any]:
    """Return a part with what the editor shows when the pointer rests on its key."""
    first = meaning[:1].upper() + meaning[1:]
    if first.endswith((".", "…", "}")):
        sentence = first
    else:
        sentence = f"{first}."
    shown = " ".join(filter(None, (sentence, more)))
    values = []
    for value, said in zip(part.get("enum", ()), part.get("enumDescriptions", ()), strict=False):
        values.append(f"- `{value}`: {said}")
    blocks = [shown, "\n".join(values), f"```yaml\n{example}\n```" if example else ""]
    return part | {"description": shown, "markdownDescription": "\n\n".join(filter(None, blocks))}


def type_choice(name: str, values: Sequence[str]) -> dict[str, Any]:
    """Return the schema of a fixed word, each with its meaning."""
    return {
        "type": "string",
        "enum": [str(value) for value in values],
        "enumDescriptions": [words.VALUES[name][value] for value in values],
    }


def type_body(pattern: re.Pattern[str]) -> str:
    """Return a pattern without its end: editors read JavaScript's, which has no `\\Z`."""
    return pattern.pattern.removesuffix("$").removesuffix("\\Z")


def type_shaped(pattern: str, advice: str) -> dict[str, Any]:
    """Return the schema of a text of one shape, with what the editor says when it has another."""
    return {"type": "string", "pattern": pattern, "patternErrorMessage": advice}


def type_bounded(key: str, part: dict[str, Any]) -> dict[str, Any]:
    """Return a part with the number of entries it may have at most."""
    most = bounds.ENTRIES.get(key)
    if most is None:
        return part
    return part | {"maxItems": most, "maxProperties": most}


def list_of(items: dict[str, Any], least: int = 0) -> dict[str, Any]:
    """Return the schema of a list; an empty one may be left blank."""
    found: dict[str, Any] = {"type": ["array", "null"], "items": items}
    return found | ({"minItems": least} if least else {})


def name_used() -> dict[str, Any]:
    """Return the schema of a name that expressions use."""
    shape = type_shaped(f"^{type_body(rule_values._WORD)}$", "Use a-z, 0-9 and _, a letter first.")
    return shape | {"maxLength": 60, "not": {"enum": list(rule_values._RESERVED)}}


def make_ref(name: str) -> dict[str, Any]:
    """Return a reference to a definition of the schema."""
    return {"$ref": f"#/definitions/{name}"}


def write_signature() -> dict[str, Any]:
    """Return the schema of a signature's name where a table may stand: a table has a dot in its name."""
    return type_shaped(
        "^[a-z][a-z0-9_]*$", "Name a table that a parser makes, or a signature under `logs`."
    )


def table_names(tables: Iterable[Table]) -> dict[str, Any]:
    """Return the schema of a table's name; each name comes with its columns and units."""
    tables = list(tables)
    lines = []
    for table in tables:
        columns = []
        for column in table.columns:
            unit = ""
            if column.unit:
                unit = f" ({column.unit})"
            columns.append(f"`{column.name}`{unit}")
        lines.append(f"{table.meaning} Columns: {', '.join(columns)}")
    return {
        "type": "string",
        "enum": [table.name for table in tables],
        "enumDescriptions": [table.meaning for table in tables],
        "markdownEnumDescriptions": lines,
    }


def alias_of(table: Table) -> str:
    """Return a short name for rows of a table: the last word of its name."""
    last = table.name.rpartition("_")[2].rpartition(".")[2]
    if last not in rule_values._RESERVED:
        return last
    return "row"
