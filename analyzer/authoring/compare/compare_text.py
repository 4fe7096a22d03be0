"""The difference of two catalogs in words."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.archive.backtests.jobs import BacktestHit
from analyzer.authoring.compare.compare import (
    GAINED,
    KINDS,
    LOST,
    OTHER,
    SETTLED,
    UNSURE,
    CatalogDifference,
    RuleDifference,
)
from analyzer.authoring.compare.pairing import CHANGED, GONE, NEW, REWORDED
from analyzer.runtime.short_lines import bound_line
from analyzer.runtime.text import count_noun, one_line

SHOWN = 5
_SIGNS = {LOST: "-", GAINED: "+", OTHER: "~", UNSURE: "?", SETTLED: "!"}


def write_lines(found: CatalogDifference, most: int = SHOWN) -> Iterator[str]:
    """Yield the difference line by line; `most` items of each list, 0 for all."""
    kinds = []
    for kind in (NEW, GONE, CHANGED, REWORDED):
        kinds.append(sum(one.pair.kind == kind for one in found.rules))
    yield "Rules: {} new, {} gone, {} changed, {} only reworded, {} the same.".format(
        *kinds, found.same
    )
    parts = [(found.examples, "example"), (found.bundles, "bundle"), (found.stored, "stored case")]
    counts = [count_noun(count, word) for count, word in parts if count]
    cases = ", ".join(counts) or "nothing"
    yield f"Judged by both versions: {cases}."
    if found.no_facts:
        yield f"NOT JUDGED: {found.no_facts:,} stored cases have no facts stored (`backline batch --rescan`)."
    for one in found.rules:
        yield ""
        yield from _describe_rule(one, most)
    if found.unread:
        yield ""
        yield f"NOT JUDGED: {len(found.unread):,}"
        yield from _bound_items(
            [f"{bound_line(case, 120)}: {bound_line(why, 200)}" for case, why in found.unread], most
        )
    yield ""
    lost, gained, other, unsure, settled = (found.count(kind) for kind in KINDS)
    if any((lost, gained, other, unsure, settled)):
        yield (
            f"Findings: {lost:,} lost, {gained:,} gained, {other:,} changed. "
            f'Subjects: {unsure:,} became "cannot tell", {settled:,} no longer are.'
        )
    else:
        yield "No finding differs."


def _describe_rule(one: RuleDifference, most: int) -> Iterator[str]:
    """Yield what differs of one rule, its findings bounded by `most`."""
    pair = one.pair
    state = pair.kind
    if pair.new is not None and pair.old is not None and pair.new.id != pair.old.id:
        state += f", was {pair.old.id}"
    elif pair.why:
        state += f": {pair.why}"
    yield one_line(f"{pair.rule.id} ({state}): {pair.rule.title}", 200)
    if pair.parts:
        yield bound_line(f"  differs in: {', '.join(pair.parts)}", 200)
    for name, before, now in pair.thresholds:
        threshold = bound_line(name, 60)
        yield f"  threshold {threshold}: {before:g} before, {now:g} now"
    any_hit = False
    for kind in KINDS:
        items = []
        for hit in one.list_hits(kind):
            any_hit = True
            items.append(f"{_SIGNS[kind]} {_describe_hit(kind, hit)}")
        yield from _bound_items(items, most)
    if pair.kind == CHANGED and not any_hit:
        yield "  No finding differs in the cases that were judged."
    for name, cases in one.unsearched.items():
        were = "cases were" if cases > 1 else "case was"
        many = f"{cases:,} stored {were} not searched for {bound_line(name, 80)}"
        yield f"  NOT KNOWN: {many}; `backline batch --rescan` searches"
    if one.kept and pair.kind == CHANGED:
        yield f"  {count_noun(one.kept, 'finding')} alike in both versions"


def _describe_hit(kind: str, hit: BacktestHit) -> str:
    """Return where a finding differs, and from what to what."""
    thing = hit.thing
    where = " / ".join(bound_line(part, 100) for part in (thing.node, thing.subject) if part)
    case = bound_line(thing.case, 100)
    if thing.id not in ("", thing.case):
        case = f"{bound_line(thing.case, 60)} ({thing.id[:12]})"
    place = f"{case}: {where or 'the case'}"
    graded = f"{hit.severity}, {hit.confidence}"
    say = bound_line(hit.say, 160)
    was = bound_line(hit.was, 160)
    if kind == LOST:
        now = ""
        if was:
            now = f"; now {was}"
        return f"{place}: was {graded}{now}"
    if kind == OTHER:
        return f"{place}: {graded}, was {was}"
    before = f" (before: {was})"
    if kind == GAINED:
        return f"{place}: {graded}: {say}{before if was else ''}"
    return f"{place}: {say}{before}"


def _bound_items(items: list[str], most: int) -> Iterator[str]:
    """Yield the first items indented, the rest counted."""
    for item in items[:most] if most else items:
        yield f"  {item}"
    if most and len(items) > most:
        yield f"  and {len(items) - most:,} more (--all)"
