"""Output of `backline rules test`: one line per rule, and the details of each failed example."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from analyzer.authoring.proof.mutation import Survivor
from analyzer.authoring.proof.prove import RuleProof
from analyzer.pipeline import examples
from analyzer.pipeline.examples import ExampleResult
from analyzer.rules import Catalog, Rule
from analyzer.runtime.short_lines import bound_line
from analyzer.runtime.text import count_noun, for_terminal, one_line

WIDTH = 500  # characters of one text
Survivors = Mapping[
    str, Sequence[Survivor]
]  # id of a rule -> its numbers that no example holds in place


def write_lines(proof: RuleProof, left: Sequence[Survivor], *, verbose: bool) -> Iterator[str]:
    """Yield the lines about one rule; `left` are its survivors."""
    rule = proof.rule
    gaps = [result for result in proof.results if result.gap and result.ok]
    parts = [count_noun(len(proof.results), "example") if proof.results else "no examples"]
    if proof.failures:
        parts.append(f"{len(proof.failures)} not as expected")
    if gaps:
        parts.append(count_noun(len(gaps), "known gap"))
    if left:
        parts.append(f"{count_noun(len(left), 'moved number')} unnoticed")
    mark = "ok  "
    if proof.failures or left:
        mark = "FAIL"
    yield f"{mark}  {one_line(rule.id)}: {', '.join(parts)}"
    for result in proof.results:
        if result.ok:
            if verbose:
                yield f"      {'gap ' if result.gap else 'ok  '}{one_line(result.name)}"
            continue
        yield f"  {_show_file(rule)}:{result.place.line}: {one_line(result.name)}"
        if result.error:
            yield f"    {one_line(result.error)}"
        elif result.gap:
            yield "    is marked `gap: true`, but it passes now: remove the mark"
        else:
            yield from _write_difference(result)
            for line in examples.tree(result.trace).splitlines():
                yield f"      {for_terminal(line)}"
    for one in left:
        yield f"  {_show_file(rule)}:{one_line(str(one))}"


def _write_difference(result: ExampleResult) -> Iterator[str]:
    """Yield what was expected (-) and what came instead (+), key by key; a key that agrees has no sign."""
    unlike = {one.name: one for one in result.unlike}
    for name, expected in result.expected.items():
        if name in unlike:
            yield f"    - {name}: {bound_line(unlike[name].expected, WIDTH)}"
            text = bound_line(unlike[name].got, WIDTH) or "nothing"
            yield f"    + {name}: {text}"
            continue
        text = str(expected)
        if isinstance(expected, list):
            text = "; ".join(map(str, expected))
        yield f"      {name}: {bound_line(text, WIDTH)}"


def write_summary(proofs: Sequence[RuleProof], survivors: Survivors, broken: int) -> str:
    """Return the last line: how many rules and examples, and how many of them failed."""
    results = [result for proof in proofs for result in proof.results]
    failed = sum(not result.ok for result in results)
    gaps = sum(result.gap and result.ok for result in results)
    left = sum(map(len, survivors.values()))
    if failed:
        result = f"{failed} not as expected"
    else:
        result = "nothing was tested"
        if results:
            result = "all as expected"
    if gaps:
        result += f", {count_noun(gaps, 'known gap')}"
    if left:
        result += f", {count_noun(left, 'moved number')} unnoticed"
    if survivors and not left:
        result += ", every moved number noticed"
    if broken:
        result += f", {count_noun(broken, 'file')} broken"
    rules = count_noun(len(proofs), "rule")
    examples_run = count_noun(len(results), "example")
    return f"{rules}, {examples_run}: {result}"


def write_json(proofs: Sequence[RuleProof], survivors: Survivors, catalog: Catalog) -> str:
    """Return the whole result as JSON."""
    failed = any(proof.failures for proof in proofs)
    document = {
        "rules": [_record_rule(proof, survivors.get(proof.rule.id, ())) for proof in proofs],
        "broken": [str(error) for error in catalog.broken],
        "ok": not (catalog.broken or any(survivors.values()) or failed),
    }
    return json.dumps(document, ensure_ascii=True, indent=1) + "\n"


def _record_rule(proof: RuleProof, left: Sequence[Survivor]) -> dict[str, Any]:
    """Return the proof of a rule as plain values."""
    return {
        "rule": proof.rule.id,
        "file": _show_file(proof.rule),
        "examples": [
            {
                "name": result.name,
                "line": result.place.line,
                "ok": result.ok,
                "gap": result.gap,
                "expected": result.expected,
                "got": result.got,
                "trace": examples.tree(result.trace).splitlines(),
            }
            for result in proof.results
        ],
        "survivors": [
            {
                "line": one.place.line,
                "column": one.place.column,
                "width": one.place.width,
                "text": one.text,
                "where": one.where,
                "direction": one.direction,
                "value": one.value,
                "advice": one.advice,
            }
            for one in left
        ],
    }


def _show_file(rule: Rule) -> str:
    """Return the file of a rule as it is found from here."""
    if rule.path is None:
        return one_line(rule.text.name)
    path = rule.path.resolve()
    here = Path.cwd()
    if path.is_relative_to(here):
        path = path.relative_to(here)
    return one_line(str(path))
