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
from analyzer.authoring.compare.pairing import CHANGED, GONE, NEW, REWORDED, RulePair
from analyzer.runtime.short_lines import bound_line
from analyzer.runtime.text import count_noun, one_line

SHOWN = 5
_SIGNS = {LOST: "-", GAINED: "+", OTHER: "~", UNSURE: "?", SETTLED: "!"}


def lines(found: CatalogDifference, most: int = SHOWN) -> Iterator[str]:
    """Yield the difference line by line; `most` items of each list, 0 for all."""
    kinds = [
        sum(one.pair.kind == kind for one in found.rules) for kind in (NEW, GONE, CHANGED, REWORDED)
    ]
    yield "Rules: {} new, {} gone, {} changed, {} only reworded, {} the same.".format(
        *kinds, found.same
    )
    yield f"Judged by both versions: {_cases(found)}."
    if found.no_facts:
        yield f"NOT JUDGED: {found.no_facts:,} stored cases have no facts stored (`backline batch --rescan`)."
    for one in found.rules:
        yield ""
        yield from _rule(one, most)
    if found.unread:
        yield ""
        yield f"NOT JUDGED: {len(found.unread):,}"
        yield from _some(
            [f"{bound_line(case, 120)}: {bound_line(why, 200)}" for case, why in found.unread], most
        )
    yield ""
    yield _sum(found)


def _cases(found: CatalogDifference) -> str:
    parts = [(found.examples, "example"), (found.bundles, "bundle"), (found.stored, "stored case")]
    return ", ".join(count_noun(count, word) for count, word in parts if count) or "nothing"


def _rule(one: RuleDifference, most: int) -> Iterator[str]:
    pair = one.pair
    yield one_line(f"{pair.rule.id} ({_state(pair)}): {pair.rule.title}", 200)
    if pair.parts:
        yield bound_line(f"  differs in: {', '.join(pair.parts)}", 200)
    for name, before, now in pair.thresholds:
        yield f"  threshold {bound_line(name, 60)}: {before:g} before, {now:g} now"
    for kind in KINDS:
        yield from _some([f"{_SIGNS[kind]} {_item(kind, hit)}" for hit in one.of(kind)], most)
    if pair.kind == CHANGED and not any(one.of(kind) for kind in KINDS):
        yield "  No finding differs in the cases that were judged."
    for name, cases in one.unsearched.items():
        many = f"{cases:,} stored case{'s were' if cases > 1 else ' was'}"
        yield f"  NOT KNOWN: {many} not searched for {bound_line(name, 80)}; `backline batch --rescan` searches"
    if one.kept and pair.kind == CHANGED:
        yield f"  {count_noun(one.kept, 'finding')} alike in both versions"


def _state(pair: RulePair) -> str:
    if pair.new is not None and pair.old is not None and pair.new.id != pair.old.id:
        return f"{pair.kind}, was {pair.old.id}"
    return f"{pair.kind}: {pair.why}" if pair.why else pair.kind


def _item(kind: str, hit: BacktestHit) -> str:
    thing = hit.thing
    where = " / ".join(bound_line(part, 100) for part in (thing.node, thing.subject) if part)
    if thing.id in ("", thing.case):
        case = bound_line(thing.case, 100)
    else:
        case = f"{bound_line(thing.case, 60)} ({thing.id[:12]})"
    place = f"{case}: {where or 'the case'}"
    graded, was = f"{hit.severity}, {hit.confidence}", bound_line(hit.was, 160)
    if kind == LOST:
        return f"{place}: was {graded}{f'; now {was}' if was else ''}"
    if kind == GAINED:
        return f"{place}: {graded}: {bound_line(hit.say, 160)}{f' (before: {was})' if was else ''}"
    if kind == OTHER:
        return f"{place}: {graded}, was {was}"
    return f"{place}: {bound_line(hit.say, 160)} (before: {was})"


def _some(items: list[str], most: int) -> Iterator[str]:
    for item in items[:most] if most else items:
        yield f"  {item}"
    if most and len(items) > most:
        yield f"  and {len(items) - most:,} more (--all)"


def _sum(found: CatalogDifference) -> str:
    lost, gained, other, unsure, settled = (found.count(kind) for kind in KINDS)
    if not any((lost, gained, other, unsure, settled)):
        return "No finding differs."
    return (
        f"Findings: {lost:,} lost, {gained:,} gained, {other:,} changed. "
        f'Subjects: {unsure:,} became "cannot tell", {settled:,} no longer are.'
    )
