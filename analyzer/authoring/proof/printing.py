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


def lines(proof: RuleProof, left: Sequence[Survivor], *, verbose: bool) -> Iterator[str]:
    """Yield the lines about one rule; `left` are its survivors."""
    rule = proof.rule
    gaps = [result for result in proof.results if result.gap and result.ok]
    parts = [count_noun(len(proof.results), "example") if proof.results else "no examples"]
    parts += [f"{len(proof.failed)} not as expected"] if proof.failed else []
    parts += [count_noun(len(gaps), "known gap")] if gaps else []
    parts += [f"{count_noun(len(left), 'moved number')} unnoticed"] if left else []
    mark = "FAIL" if proof.failed or left else "ok  "
    yield f"{mark}  {one_line(rule.id)}: {', '.join(parts)}"
    for result in proof.results:
        if not result.ok:
            yield from _failure(rule, result)
        elif verbose:
            yield f"      {'gap ' if result.gap else 'ok  '}{one_line(result.name)}"
    for one in left:
        yield f"  {_file(rule)}:{one_line(str(one))}"


def _failure(rule: Rule, result: ExampleResult) -> Iterator[str]:
    yield f"  {_file(rule)}:{result.place.line}: {one_line(result.name)}"
    if result.error:
        yield f"    {one_line(result.error)}"
        return
    if result.gap:
        yield "    is marked `gap: true`, but it passes now: remove the mark"
        return
    yield from (f"    {line}" for line in _difference(result))
    yield from (f"      {for_terminal(line)}" for line in examples.tree(result.trace).splitlines())


def _difference(result: ExampleResult) -> Iterator[str]:
    """Yield what was expected (-) and what came instead (+), key by key; what agrees has a blank in front."""
    unlike = {one.name: one for one in result.unlike}
    for name, expected in result.expected.items():
        if name in unlike:
            yield f"- {name}: {bound_line(unlike[name].expected, WIDTH)}"
            yield f"+ {name}: {bound_line(unlike[name].got, WIDTH) or 'nothing'}"
        else:
            shown = "; ".join(map(str, expected)) if isinstance(expected, list) else str(expected)
            yield f"  {name}: {bound_line(shown, WIDTH)}"


def summary(proofs: Sequence[RuleProof], survivors: Survivors, broken: int) -> str:
    """Return the last line: how many rules and examples, and how many of them failed."""
    results = [result for proof in proofs for result in proof.results]
    failed = sum(not result.ok for result in results)
    gaps = sum(result.gap and result.ok for result in results)
    left = sum(map(len, survivors.values()))
    told = (
        f"{failed} not as expected"
        if failed
        else "all as expected"
        if results
        else "nothing was tested"
    )
    told += f", {count_noun(gaps, 'known gap')}" if gaps else ""
    told += f", {count_noun(left, 'moved number')} unnoticed" if left else ""
    told += ", every moved number noticed" if survivors and not left else ""
    told += f", {count_noun(broken, 'file')} broken" if broken else ""
    return f"{count_noun(len(proofs), 'rule')}, {count_noun(len(results), 'example')}: {told}"


def as_json(proofs: Sequence[RuleProof], survivors: Survivors, catalog: Catalog) -> str:
    """Return the whole result as JSON."""
    document = {
        "rules": [_rule(proof, survivors.get(proof.rule.id, ())) for proof in proofs],
        "broken": [str(error) for error in catalog.broken],
        "ok": not catalog.broken
        and not any(survivors.values())
        and not any(proof.failed for proof in proofs),
    }
    return json.dumps(document, ensure_ascii=True, indent=1) + "\n"


def _rule(proof: RuleProof, left: Sequence[Survivor]) -> dict[str, Any]:
    return {
        "rule": proof.rule.id,
        "file": _file(proof.rule),
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


def _file(rule: Rule) -> str:
    """Return the file of a rule as it is found from here."""
    if rule.path is None:
        return one_line(rule.text.name)
    path = rule.path.resolve()
    return one_line(str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path))
