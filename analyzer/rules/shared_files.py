"""The files of shared parts of the places that bring rules: each place has its own, and behind it that of the tool."""

from __future__ import annotations

from functools import cache

from analyzer.rules.fact_tables import SHIPPED
from analyzer.rules.language.rulefile import BadRuleError
from analyzer.rules.language.shared import SharedFiles
from analyzer.rules.sources import RuleSource, read_from, shared_files
from analyzer.runtime.limits import Limits


@cache
def read_shipped_parts() -> SharedFiles:
    """Return the parts that the rules of the tool share; rules of other places may name them as well."""
    return read_parts(SHIPPED, Limits())[0]


@cache
def of_no_place() -> SharedFiles:
    """Return what a rule may name that lies in no folder: the parts of the tool, and nothing of its own."""
    return SharedFiles((), read_shipped_parts())


def read_parts(source: RuleSource, limits: Limits) -> tuple[SharedFiles, list[BadRuleError], bytes]:
    """Return what the rules of a place share, the files that cannot be read, and the bytes of the others."""
    files, faults, all_bytes = [], [], b""
    for file in shared_files(source):
        try:
            text, raw = read_from(source, file, limits)
        except BadRuleError as error:
            faults.append(error)
            continue
        name = f"{source.name}/{text.name}" if source.kind == "folder" else text.name
        files.append((name, text.text))
        all_bytes += file.name.encode(errors="replace") + b"\0" + raw + b"\0"
    return (
        SharedFiles(tuple(files), None if source.kind == "shipped" else read_shipped_parts()),
        faults,
        all_bytes,
    )
