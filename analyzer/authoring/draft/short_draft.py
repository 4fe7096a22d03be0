"""A draft in the short form, where the chosen lines are those of one trouble, and of its end at the most.

The same evidence gives the same signature, subject and texts as in the long form (draft.py); what the short form
derives is left out. Where its examples do not hold there is no short draft.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analyzer import rules
from analyzer.authoring.draft.draftexamples import MATCHES, NOT, UNSURE
from analyzer.authoring.draft.generalise import DraftSignature
from analyzer.authoring.draft.signature_rows import HIT, HitRows
from analyzer.authoring.draft.skeleton import TO_DO
from analyzer.authoring.fmt.yamltext import block, comment, quoted, scalar
from analyzer.pipeline import examples as runner
from analyzer.rules import short
from analyzer.rules.short_examples import MADE
from analyzer.runtime.errors import BacklineError

_TAKEN = {short.SIGN, short.CLEARED, *short.MADE}


@dataclass(frozen=True, slots=True)
class ShortDraft:
    """The keys below the head of a rule file, its examples, and which of them hold."""

    body: list[str]
    shown: list[str]
    held: dict[str, bool]


def renamed(hits: HitRows | None, signatures: Sequence[DraftSignature]) -> dict[str, str]:
    """Return the names that signatures have in the short form; none where it cannot say what they do."""
    if hits is None or len(signatures) != 1 + bool(hits.ended):
        return {}
    groups = {name for one in signatures for name in one.groups}
    if groups & _TAKEN or (hits.column == "node" and hits.ended):
        return {}
    return {one.name: short.CLEARED if one.name == hits.ended else short.SIGN for one in signatures}


def body(hits: HitRows, begin: DraftSignature, end: DraftSignature | None, notes: Mapping[str, Sequence[str]],
         tables: Mapping[str, str]) -> list[str]:  # fmt: skip
    """Return the keys from `sign` to `not_this`.

    begin, end  the signatures; notes: comments for each by its name; tables: the log of each by its name
    """
    lines = ["", "sign:", *(f"  {comment(text)}" for text in notes.get(begin.name, ()))]
    lines += [f"  in: {tables[begin.name]}", f"  match: {quoted(begin.pattern)}"]
    lines += [line[2:] for line in hits.columns()]
    lines += [f"  per: {hits.column}  # one verdict for each"] if hits.column != "node" else []
    if end is not None:
        lines += ["cleared:  # the lines that say it is over"]
        lines += [f"  {comment(text)}" for text in notes.get(end.name, ())]
        lines += [f"  in: {tables[end.name]}"] if tables[end.name] != tables[begin.name] else []
        lines += [f"  match: {quoted(end.pattern)}"]
    where = "host" if hits.log.product in ("esxi", "esxtop") else "where to do it"
    return [
        *lines,
        "",
        "severity: warning  # a guess: critical, major, warning or info",
        "confidence: possible  # confirmed: sign and cause were both seen",
        f"say: {scalar(_said(hits))}",
        "",
        f"fix: {{{where}: {quoted(f'{TO_DO}: one step of the remedy')}}}",
        f"not_this: [{quoted(f'{TO_DO}: what looks the same but is not')}]",
    ]


def _said(hits: HitRows) -> str:
    since = f", the first at {{{short.SIGN}.first}}" if hits.timed else ""
    over = ", and no line has said since that it is over" if hits.ended else ""
    told = [f"{{{short.SIGN}.count}} lines of {hits.log.name}{since}{over}"]
    told += [
        f"{name.replace('_', ' ')} up to {{max({HIT}.{name})}}" for name in list(hits.measured)[:3]
    ]
    return "; ".join(told)[:400] + "."


def with_examples(
    top: Sequence[str],
    keys: list[str],
    lines: Sequence[str],
    over: Sequence[str],
    quiet: Sequence[Sequence[str]],
) -> ShortDraft | None:
    """Return the draft with bare lines as its examples; None where they do not hold.

    top    the head of the rule file; lines: those of the trouble; over: those with the lines that end it
    quiet  lines that are no sign, the better ones first
    """
    if any(line[:1] in ("", " ", "\t") for line in [*lines, *over]):
        return None
    for calm in quiet:
        shown = ["", "examples:", *block("match", lines, 2)]
        shown += block("cleared", over, 2) if over else []
        shown += block("no_match", calm, 2)
        try:
            rule = rules.parse("\n".join([*top, *keys, *shown]) + "\n")
            results = {one.name: one.ok for one in runner.run(rule)}
        except BacklineError:
            return None
        if all(results.values()):
            missing = any(
                name.startswith(MADE) and name.endswith("is not in the case") for name in results
            )
            return ShortDraft(keys, shown, {MATCHES: True, NOT: True, UNSURE: missing})
    return None
