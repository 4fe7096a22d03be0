"""Guest `free`: memory of a Linux guest, to weigh what larger receive rings cost.

Source: procps `free`, the old form (`-/+ buffers/cache:` line) and the new one (`buff/cache`,
`available`). Without an option it prints kB (1,024 bytes); `-b -k -m -g -h` change the unit, which the
numbers themselves do not show: it is taken from the command. Pasted without its command, the
text is read as kB unless the total were below 256 MB then, which is a fault instead of a guess.
"""

from __future__ import annotations

import re

from analyzer.artefacts.parsing import Output, fault_at
from analyzer.artefacts.signs import lies_above
from analyzer.artefacts.tables import Block, Column, Record, Row, Table, Value
from analyzer.forms import record_parser


def _size_column(name: str, meaning: str) -> Column:
    return Column(name, "int", meaning, "kB")


TABLE = Table.of(
    "guest.memory",
    "Memory and swap of a Linux guest at one moment.",
    "free, in the guest",
    _size_column("mem_total_kb", "memory of the guest"),
    _size_column("mem_used_kb", "memory in use; the old form counts buffers and cache in"),
    _size_column("mem_free_kb", "memory not used at all"),
    _size_column("mem_shared_kb", "memory shared between processes"),
    _size_column("mem_buffers_kb", "buffers (old form)"),
    _size_column("mem_cached_kb", "page cache (old form)"),
    _size_column("mem_buff_cache_kb", "buffers and page cache (new form)"),
    _size_column("mem_available_kb", "memory a new process could get (new form)"),
    _size_column("mem_used_net_kb", "memory in use without buffers and cache (old form)"),
    _size_column("mem_free_net_kb", "memory free when buffers and cache are given back (old form)"),
    _size_column("swap_total_kb", "swap space"),
    Column(
        "swap_used_kb",
        "int",
        "swap in use",
        "kB",
        sign=lies_above(0.5, of="swap_total_kb", weight=2.5),
    ),
    _size_column("swap_free_kb", "swap not used"),
    ask="`free` in the guest",
)

_OPTION = {"b": 1 / 1024, "k": 1.0, "m": 1024.0, "g": 1024.0**2, "-bytes": 1 / 1024, "-kibi": 1.0}
_OPTION |= {"-mebi": 1024.0, "-gibi": 1024.0**2}
_OPTION |= {"-kilo": 1000 / 1024, "-mega": 1e6 / 1024, "-giga": 1e9 / 1024}
_SUFFIX = {"B": 1 / 1024, "K": 1.0, "M": 1024.0, "G": 1024.0**2, "T": 1024.0**3, "P": 1024.0**4}
_CELL = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)(?:([BKMGTP])i?)?")
_LEAST_KB = 256 << 10
_MOST_KB = 2**53


def read_record(block: Block, record: Record) -> Output:
    """Yield the memory at one moment, in kB."""
    factor = _find_factor(block.command)
    values: dict[str, Value] = {}
    for column in TABLE.columns:
        values[column.name] = None
        size = _CELL.fullmatch(str(record.values[column.name.upper()]))
        if size:
            kilobytes = float(size[1]) * (_SUFFIX[size[2]] if size[2] else factor)
            if kilobytes < _MOST_KB:
                values[column.name] = round(kilobytes)
    total = values["mem_total_kb"]
    if not block.command and isinstance(total, int) and total < _LEAST_KB:
        why = "the unit of these numbers is not known: give the command with its option (free, free -m)"
        yield fault_at(block, record.line, PARSER.name, why)
        return
    for name, line in record.lines.items():
        if values.get(name.lower(), 0) is None:
            yield fault_at(block, line, PARSER.name, f"{name.lower()} is too large, or no number")
    yield Row(
        TABLE, values, block, record.line, {name.lower(): at for name, at in record.lines.items()}
    )


def _find_factor(command: str) -> float:
    """Return what one unit of the output is in kB, from the options of the command."""
    found = re.search(r"\bfree\b((?:\s+-[-\w]+)*)", command)
    for option in found[1].split() if found else []:
        if option.startswith("--"):
            letters = [option[1:]]
        else:
            letters = list(option[1:])
        for letter in letters:
            if letter in _OPTION:
                return _OPTION[letter]
    return 1.0


_NUMBER = r"\d[\d.]*(?:[BKMGTP]i?)?"

PARSER = record_parser(
    "guest_memory",
    (TABLE,),
    read_record,
    node="guest",
    commands=(r"(?:^|[\s;&|/])free(?:\s+-[-\w]+(?:\s+\d+)?)*\s*$",),
    shape=r"^\s*total\s+used\s+free\s+shared\s+(?:buffers\s+cached|buff/cache\s+available)\s*$",
    body=(
        rf"^\s*(?:total\s+used\s+free.*|(?:Mem|Swap|Low|High|Total):(?:\s+{_NUMBER})+"
        rf"|-/\+ buffers/cache:(?:\s+{_NUMBER})+)\s*$"
    ),
)
