"""What `esxcli software vib|profile|component install|update|remove|apply` printed: what changed, or why nothing did.

Source: public captures of 5.0 to 8.0. `Installation Result`, `Update Result` and `Removal Result` head an answer, whose
copies lose the indent; a failure begins with `[DependencyError]`, `[HardwareError]`, … on a line of its own, and the
reason is below. No file of a bundle holds either.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, Parser, fault_at
from analyzer.artefacts.tables import Block, Column, Row, Table, Value

TABLE = Table.of(
    "esxi.update_result",
    "Changes of the host's software as the command answered them, one row an answer.",
    "esxcli software vib install, update, remove; esxcli software profile update, install; component apply",
    Column(
        "update_kind",
        "str",
        "what was done, as the title says: Installation, Update, Removal, …; Error: it failed",
    ),
    Column("update_message", "str", "the answer in its own words; of a failure the reason"),
    Column(
        "update_error", "str", "kind of failure between brackets: DependencyError, HardwareError, …"
    ),
    Column("update_failed", "bool", "it failed, and the host was not changed"),
    Column("update_dry_run", "bool", "it was only tried (--dry-run), and the host was not changed"),
    Column("reboot_required", "bool", "the change takes effect with the next boot"),
    Column("vibs_installed", "str", "packages that were installed, by commas, as printed"),
    Column("vibs_removed", "str", "packages that were removed, by commas, as printed"),
    ask="`esxcli software vib list`, and /var/log/esxupdate.log",
)

_TITLE = r"(?P<kind>Installation|Update|Removal|Remediation|Apply) Result:?"
_ERROR = r"\[(?P<error>[A-Z]\w{2,60}(?:Error|Warning|Exception|NotFound))\]"
_LABELS = {
    "Message": "update_message",
    "Reboot Required": "reboot_required",
    "VIBs Installed": "vibs_installed",
    "VIBs Removed": "vibs_removed",
    "Components Installed": "vibs_installed",
    "Components Removed": "vibs_removed",
}
_IGNORED = r"VIBs Skipped|Components Skipped|DPU Results|Id|Status"
_LABEL = re.compile(
    rf"\s*(?P<label>{'|'.join(map(re.escape, _LABELS))}|{_IGNORED}):\s*(?P<value>.*?)\s*$"
)
_BEGIN = re.compile(rf"\s*(?:{_TITLE}\s*$|{_ERROR}\s*(?P<reason>.*?)\s*$)")
_COMMAND = (
    r"\b(?:esxcli|localcli)\s+(?:-\S+\s+(?:[^-\s]\S*\s+)?){0,9}"
    r"software\s+(?:vib|profile|component|addon|baseimage)\s+(?:install|update|remove|apply)\b"
)
_REBOOT = re.compile(r"needs? to be rebooted")
_BROKEN = re.compile(
    r"[a-z]"
)  # the rest of a sentence: at the left edge, and no sentence of its own
_HINT = re.compile(r"Please refer to the log file|To change the host acceptance level")


def parse_block(block: Block) -> Output:
    """Read the answers of a text; words below an error are its reason."""
    row: Row | None = None
    for number, line in enumerate(block.lines, block.first_line):
        if begin := _BEGIN.match(line):
            if row is not None:
                yield _finish_row(row)
            values: dict[str, Value] = dict.fromkeys(
                (column.name for column in TABLE.columns), None
            )
            values["update_kind"] = begin["kind"] or "Error"
            values["update_failed"] = begin["error"] is not None
            values["update_error"] = begin["error"]
            values["update_message"] = begin["reason"] or None
            row = Row(TABLE, values, block, number)
        elif not line.strip():
            if row is not None and row.values["update_error"] and row.values["update_message"]:
                yield _finish_row(row)  # what is below a blank line is no reason
                row = None
        elif row is None or not _read_line(row, line):
            yield fault_at(
                block,
                number,
                PARSER.name,
                "this is neither a label of the answer nor the reason of a failure",
            )
    if row is not None:
        yield _finish_row(row)


def _read_line(row: Row, line: str) -> bool:
    """Put what a line says into a row; False where it says nothing that is known."""
    values, found = row.values, _LABEL.match(line)
    message = str(values["update_message"] or "")
    if values["update_error"]:
        if not _HINT.search(line):
            values["update_message"] = " ".join(filter(None, (message, line.strip())))
    elif found:
        name = _LABELS.get(found["label"], "")
        if name == "reboot_required":
            values[name] = {"true": True, "false": False}.get(found["value"].lower())
            return values[name] is not None
        if name and found["value"]:
            values[name] = found["value"]
    elif (
        message
        and values["reboot_required"] is None
        and _BROKEN.match(line)
        and not message.endswith(".")
    ):
        values["update_message"] = f"{message}{line.strip()}"  # a terminal broke the line
    else:
        return False
    return True


def _finish_row(row: Row) -> Row:
    """Return a row; where the label was left out, the message says that a boot is needed."""
    message = str(row.values["update_message"] or "")
    if row.values["reboot_required"] is None and _REBOOT.search(message):
        row.values["reboot_required"] = True
    row.values["update_dry_run"] = message.lower().startswith("dryrun")
    return row


PARSER = Parser(
    name="update_results",
    tables=(TABLE,),
    parse=parse_block,
    node="esxi",
    commands=(_COMMAND,),
    shape=rf"^\s*(?:(?:Installation|Update|Removal|Remediation) Result:?\s*$|{_ERROR.replace('?P<error>', '?:')}\s*$)",
    body=rf"^\s*(?:(?:{'|'.join(map(re.escape, _LABELS))}|{_IGNORED}):|[A-Z(<'\[/]|ed\b|\w+ = ).*$",
)
