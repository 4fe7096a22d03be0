"""How a comparison calls its counters and columns, and whose they are."""

from __future__ import annotations

import re

from analyzer.case.comparison import ComparedValue, Comparison
from analyzer.report.comparison_words import show_size

PLAIN = {
    "out_of_buffers": "times out of receive buffers",
    "segments_retransmitted": "TCP segments retransmitted",
    "ring1_size": "size of receive ring #1",
    "ring2_size": "size of receive ring #2",
    "pkts_rx_oob": "packets out of buffers in the guest",
    "mac": "MAC address",
}
# Columns whose meaning is written for a table, and reads badly in a sentence.
_NAMES = {
    ("esxi.release", "build"): "build number",
    ("esxi.release", "release"): "release",
    ("esxi.release", "version"): "version",
    ("esxi.vib", "version"): "VIB version",
    ("esxi.pnic", "pnic"): "name of the NIC",
    ("esxi.pnic_stats", "rx_crc_errors"): "frames with a bad checksum",
    ("esxi.net_stats", "client_vm"): "VM on the port",
    ("esxi.vm", "vmx_path"): "path of the .vmx file",
    ("esxi.pnic_info", "driver_version"): "driver version",
    ("esxi.pnic_info", "firmware_version"): "firmware version",
    ("esxi.filesystem", "total_bytes"): "size",
}
# How the paragraph on top says it: who, what it is now, what it was.
PHRASES = {
    "ring1_size": "receive ring #1 of {who} holds {now} descriptors instead of {was}",
    "ring2_size": "receive ring #2 of {who} holds {now} descriptors instead of {was}",
    "out_of_buffers": "{who} ran out of receive buffers {now} times instead of {was}",
    "segments_retransmitted": "{who} retransmitted {now} TCP segments instead of {was}",
}


# What a number says that fell to nothing, or rose from it: the subject, the value before, the value now.
_STOPPED = {
    ("esxi.ntp_peer", "ntp_answered"): (
        "NTP server {who} stopped answering ({was} of 8 polls, now {now})",
        "NTP server {who} answers again ({now} of 8 polls, {was} before)",
    ),
}


def describe_stop(record: ComparedValue) -> str:
    """Return in words that something stopped or began again, "" for a column that says no such thing."""
    words = _STOPPED.get((record.table, record.column))
    known = [value for value in record.values if value is not None]
    if words is None or len(known) < 2 or bool(known[0]) == bool(known[-1]):
        return ""
    return words[0 if known[0] else 1].format(who=record.subject, was=known[0], now=known[-1])


def name_with_machine(subject: str, machine: str) -> str:
    """Return a thing with its machine."""
    if subject and machine:
        return f"{subject} on {machine}"
    return subject or machine


def list_values(one: ComparedValue, made: Comparison) -> str:
    """Return the values of all sides: `256 → 4,096` in time, `256 on esx01, 4,096 on esx02` of two hosts."""
    if made.mode == "time":
        return " → ".join(show_size(value, one.unit) for value in one.values)
    parts = []
    for value, side in zip(one.values, made.sides, strict=True):
        if value is not None:
            parts.append(f"{show_size(value, one.unit)} on {side.name}")
    return ", ".join(parts)


def name_column(record: ComparedValue) -> str:
    """Return what a column is called: its plain name, else its meaning without remarks, else the column itself."""
    name = _NAMES.get((record.table, record.column)) or PLAIN.get(record.column)
    return name or re.split("[:;] ", record.meaning or record.column)[0]


def name_counter(record: ComparedValue) -> tuple[str, str]:
    """Return what a counter is called and whose it is; a table of counters by name has the name in its key."""
    whose, _, name = record.subject.rpartition(", ")
    if record.column == "value" and whose:
        return (name, whose)
    return (name_column(record), record.subject)
