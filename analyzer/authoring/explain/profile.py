"""Cost of each rule on a case: searching the logs and judging, measured apart.

All signatures are searched in one pass, whose time belongs to no single rule. So each signature
is searched once more by itself, over the first `KEPT` bytes of each log that the pass saw; the
time over plain reading is its own, scaled to the whole log by bytes. These times do not add up to
the pass, since an engine looks for many patterns at once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, Unpack

from analyzer.authoring.explain import casework
from analyzer.case.verdicts import Verdict
from analyzer.facts import Facts
from analyzer.judge import judge_rule
from analyzer.judge.joining import read_table
from analyzer.rules import Catalog, Rule
from analyzer.runtime.limits import Limits
from analyzer.scan.blocks import Source, pass_on
from analyzer.scan.hits import LogScan, Signature
from analyzer.scan.signatures import HowToScan, Scanner

KEPT = 8 << 20  # bytes kept of the logs of one table, and at most a quarter of it of one member
SLOW = 10.0  # milliseconds from which a rule is shown without --all
_TIMES, _ENOUGH = (
    3,
    0.3,
)  # judgements of one rule, the least counts; seconds after which one is enough


@dataclass(slots=True)
class Cost:
    """What one rule costs. Times in milliseconds.

    search    its signatures alone over the logs of the case; scaled when the logs are larger than what is kept
    judge     all of the judgement; of it `subjects` (the verdicts of all subjects), `details` (texts and evidence of
              what is shown), and `rest` (windows over log hits, lines as tables)
    rows      rows of the tables it looks at; lines: of the logs it searches; hits: lines its signatures match
    verdicts  verdict -> subjects
    """

    rule: str
    search: float = 0.0
    judge: float = 0.0
    subjects: float = 0.0
    details: float = 0.0
    rest: float = 0.0
    rows: int = 0
    lines: int = 0
    hits: int = 0
    verdicts: dict[str, int] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """Milliseconds of searching and judging."""
        return self.search + self.judge


@dataclass(slots=True)
class Profile:
    """The costs of all rules, the most expensive first, and what they share. Times in seconds.

    read       reading the case once; of it `logs`: reading and searching log_bytes of logs for all signatures
    fill       making the tables of the rules ready, once for all rules
    measured   bytes of logs each signature was timed on
    """

    costs: list[Cost]
    read: float
    logs: float
    log_bytes: int
    measured: int
    signatures: int
    fill: float


def profile_rules(paths: Sequence[Path], catalog: Catalog) -> Profile:
    """Read a case once with all rules, then time each rule by itself.

    Raises RefusedError when the case holds nothing readable.
    """
    limits = Limits()
    signatures = catalog.signatures()
    scanner = _KeepingScanner(signatures, limits=limits)
    facts = Facts()
    case = casework.read_case(paths, signatures, limits=limits, scanner=scanner, into=facts)
    start = perf_counter()
    for name in sorted(
        {name for rule in catalog.rules for name in rule.tables()} & facts.tables.keys()
    ):
        read_table(facts, name)
    fill = perf_counter() - start
    # The milliseconds each signature adds to reading the logs of the case, by its id.
    sizes: Counter[str] = Counter()
    for scan in facts.scans:
        sizes[scan.table] += scan.bytes
    search: dict[str, float] = {}
    plain: dict[str, float] = {}
    for one in signatures:
        texts = scanner.kept.get(one.table, [])
        if not texts:
            continue
        if one.table not in plain:
            plain[one.table] = _time_search([], one.table, texts, limits)
        own = _time_search([one], one.table, texts, limits)
        scale = max(1.0, sizes[one.table] / scanner.sizes[one.table])
        seconds = max(0.0, own - plain[one.table])
        search[one.id] = seconds * 1000 * scale
    costs = []
    for rule in catalog.rules:
        costs.append(_time_rule(rule, facts, search, limits))
    facts.close()
    costs.sort(key=lambda cost: (-cost.total, cost.rule))
    size = sum(scan.bytes for scan in facts.scans if not scan.part_of)
    return Profile(costs, case.seconds, scanner.seconds, size, scanner.size, len(signatures), fill)


def list_slow(costs: Iterable[Cost]) -> list[Cost]:
    """Return the rules that take at least `SLOW` milliseconds."""
    return [cost for cost in costs if cost.total >= SLOW]


def make_record(found: Profile, costs: Sequence[Cost]) -> dict[str, Any]:
    """Return a profile as plain JSON with these rules; milliseconds with two digits, seconds with four."""
    shared = {}
    for name, value in asdict(found).items():
        if name != "costs":
            shared[name] = value
    rules = [{**asdict(cost), "total": cost.total} for cost in costs]
    rounded = []
    for row in rules:
        rounded.append(
            {name: round(v, 2) if isinstance(v, float) else v for name, v in row.items()}
        )
    record: dict[str, Any] = {name: round(seconds, 4) for name, seconds in shared.items()}
    record["rules"] = rounded
    return record


def _time_rule(rule: Rule, facts: Facts, search: dict[str, float], limits: Limits) -> Cost:
    """Time one rule: the quickest of a few judgements, so that a busy machine tells less."""
    best = Cost(rule.id, judge=float("inf"))
    spent = 0.0
    for _ in range(_TIMES):
        start = perf_counter()
        judged = judge_rule(rule, facts, limits)
        seconds = perf_counter() - start
        spent += seconds
        if seconds * 1000 < best.judge:
            subjects, details = (part * 1000 for part in judged.spent)
            counts = {}
            for verdict in Verdict:
                if judged.counts[verdict]:
                    counts[verdict.value] = judged.counts[verdict]
            best = Cost(rule.id, 0.0, seconds * 1000, subjects, details, verdicts=counts)
        if spent > _ENOUGH:
            break
    best.rest = max(0.0, best.judge - best.subjects - best.details)
    best.search = sum(search.get(f"{rule.id}/{name}", 0.0) for name in rule.logs)
    logs = {log.table.name for log in rule.logs.values()}
    best.rows = sum(facts.count(name) for name in rule.tables() - logs)
    best.lines = sum(scan.lines for scan in facts.scans if scan.table in logs)
    best.hits = sum(
        scan.counts.get(f"{rule.id}/{name}", 0) for scan in facts.scans for name in rule.logs
    )
    return best


# -- the logs


class _KeepingScanner(Scanner):
    """A scanner that keeps the first bytes of the logs it reads, and the time it took."""

    def __init__(self, signatures: Sequence[Signature], limits: Limits) -> None:
        super().__init__(signatures, limits=limits)
        self.kept: defaultdict[str, list[tuple[str, bytes]]] = defaultdict(
            list
        )  # table -> (scope, text)
        self.sizes: Counter[str] = Counter()
        self.seconds = 0.0
        self.size = 0  # bytes kept of all logs

    def scan(
        self,
        source: Source,
        table: str,
        address: str = "",
        scope: str = "",
        **how: Unpack[HowToScan],
    ) -> LogScan:
        """Do as Scanner does, and keep what fits."""
        first = _FirstBytes(min(KEPT // 4, KEPT - self.sizes[table]))
        start = perf_counter()
        kept = pass_on(source, first.keep_piece)
        result = super().scan(kept, table, address, scope, **how)
        self.seconds += perf_counter() - start
        if first.kept:
            text = bytes(first.kept)
            self.size += len(text)
            for name in (table, *(one.table for one in how.get("parts", ()))):
                self.kept[name].append((scope, text))
                self.sizes[name] += len(text)
        return result


class _FirstBytes:
    """The first bytes of a source that passes."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.kept = bytearray()

    def keep_piece(self, piece: bytes) -> None:
        """Take the next bytes, as many as there is room for."""
        room = self.most - len(self.kept)
        if room > 0:
            self.kept += piece[:room]


def _time_search(
    signatures: Sequence[Signature], table: str, texts: Sequence[tuple[str, bytes]], limits: Limits
) -> float:
    """Return the seconds of a search, the quicker of two; its engine is built before the clock starts."""
    best = float("inf")
    for _ in range(2):
        scanner = Scanner(signatures, limits=limits)
        scanner.scan([b"\n"], table, scope="\0warm")
        start = perf_counter()
        for scope, text in texts:
            scanner.scan([text], table, scope=scope)
        best = min(best, perf_counter() - start)
    return best
