"""Limits on hostile or broken input, each with a safe default.

A limit that is reached is never silent: it is recorded with its name, value
and place, the rest is still read, and the report prints it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from analyzer.runtime.errors import UsageError

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


@dataclass(frozen=True, slots=True)
class Limits:
    """All limits of one run; the names are those of `--limit NAME=VALUE`."""

    bundle_bytes: int = 64 * GIB  # compressed size of one source
    expanded_bytes: int = 64 * GIB  # bytes after all decompression, whole case
    ratio: int = 200  # expansion ratio, looked at after ratio_floor
    ratio_floor: int = 256 * MIB
    member_bytes: int = 8 * GIB  # bytes scanned of one member
    members: int = 500_000
    member_metadata: int = 1 * MIB  # PAX and long-name bytes of one member, in sum
    header_chain: int = 64  # metadata headers in a row
    name_bytes: int = 4096
    nesting: int = 4  # archives in archives
    nested_expanded: int = 8 * GIB
    nested_zip: int = 64 * MIB  # a zip inside an archive is held in memory
    fragment_hold: int = 64 * MIB  # fragments that wait for those before them
    line_bytes: int = 64 * KIB
    block_bytes: int = 16 * MIB  # text of one artefact handed to a parser
    session_bytes: int = 256 * MIB  # of one terminal session
    log_bytes: int = (
        192 * MIB
    )  # lines that `backline log` holds at a time; for those beyond it reads again
    findings_per_rule: int = 1000  # shown with evidence: the worst, and the worst of every node
    findings_in_short: int = (
        10_000  # of one rule, shown without evidence; what is beyond is counted a node
    )
    hits_per_signature: int = 10_000
    report_bytes: int = 20 * MIB
    rule_file: int = 1 * MIB
    rules: int = 5000
    pattern_bytes: int = 4096
    pattern_steps: int = 10_000_000  # steps of `re` for one line, about a fifth of a second
    pattern_total: int = 200_000_000  # the same for all lines of one signature on one node
    rule_seconds: int = 60  # processor time of one rule on one case
    bundle_wall_s: int = 3600

    def with_overrides(self, pairs: list[str]) -> Limits:
        """Return these limits with `NAME=VALUE` pairs put in; sizes are plain integers."""
        known = {field.name for field in fields(self)}
        values: dict[str, int] = {}
        for pair in pairs:
            name, _, value = pair.partition("=")
            if name not in known or not value.isdigit() or len(value) > 18:
                raise UsageError(
                    f"--limit {pair} is not valid",
                    why="it must be NAME=NUMBER with one of: " + ", ".join(sorted(known)),
                )
            values[name] = int(value)
        return replace(self, **values)


@dataclass(frozen=True, slots=True)
class LimitHit:
    """One limit reached: where, its name and value, and what was left out."""

    address: str
    name: str
    value: int
    at: int
    left_out: str = "rest skipped"

    def __str__(self) -> str:
        return (
            f"{self.address}: limit {self.name}={self.value} reached at {self.at}; {self.left_out}. "
            f"Raise it with --limit {self.name}=N."
        )
