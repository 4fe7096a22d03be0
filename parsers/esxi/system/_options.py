"""The table of advanced options: esxcli, esxcfg-advcfg, vsish and esx.conf fill it."""

from __future__ import annotations

import re

from analyzer.artefacts.tables import Block, Column, KeyColumn, Row, Table, Value

OPTIONS = Table.of(
    "esxi.advanced_option",
    'Advanced options of the host; a "-d" list and esx.conf hold the changed ones only.',
    "esxcli system settings advanced list; commands/localcli_system-settings-advanced-list--d.txt",
    KeyColumn("option", "str", "path of the option: /Net/CoalesceTxTimeout"),
    Column("option_type", "str", "integer or string, where printed"),
    Column("value", "int", "its value; empty where the text is no decimal number (registers)"),
    Column("text", "str", "value as text, for options that are strings"),
    Column("default_value", "int", "default of an integer option, where printed"),
    Column("default_text", "str", "default of a string option, where printed"),
    Column("changed", "bool", "differs from its default; empty where the default is not printed"),
    Column("delta_only", "bool", "from a list that holds changed options only"),
    ask="`esxcli system settings advanced list -d`",
)

_INTEGER = re.compile(r"-?\d{1,18}$")


def read_integer(text: str | None) -> int | None:
    """Return the text as a whole number, None where it is none."""
    if text and _INTEGER.match(text):
        return int(text)
    return None


def option_row(block: Block, line: int, values: dict[str, Value]) -> Row:
    """Return a row; `changed` follows from value and default, or from the kind of list."""
    full = OPTIONS.blank() | values
    if full["changed"] is None:
        if full["default_value"] is not None and full["value"] is not None:
            full["changed"] = full["value"] != full["default_value"]
        elif full["default_text"] is not None and full["text"] is not None:
            full["changed"] = full["text"] != full["default_text"]
    return Row(OPTIONS, full, block, line)
