"""Holds the documents of a comparison, or of a case, against the truth of a scene; it knows their JSON and nothing else."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable
from typing import Any

Record = dict[str, Any]
Claim = list[Any]


def judge_scene(truth: Iterable[Claim], made: Record, forms: dict[str, str]) -> list[str]:
    """Return what is not as the truth says, each as a sentence.

    made   compare.json, or case.json of a scene with one side
    forms  name of a written form -> its text
    """
    missed = []
    for kind, *words in truth:
        if kind == "forms":
            said = check_forms(made, forms)
        else:
            said = CHECKS[kind](made, *words)
        if said:
            missed.append(f"{kind} {words}: {said}")
    return missed


def is_like(pattern: str, text: str) -> bool:
    """Say whether a pattern is found in a text."""
    return re.search(pattern, text or "", re.DOTALL) is not None


def list_said(made: Record) -> list[str]:
    """Return all sentences of a comparison."""
    return [made["summary"], *(one["text"] for one in made["conclusion"]), *made["notes"]]


def check_mode(made: Record, mode: str) -> str:
    """The sides are one thing in time, or different hosts."""
    return "" if made["mode"] == mode else f"mode is {made['mode']}"


def check_machines(made: Record, count: int) -> str:
    """So many machines there are."""
    return "" if len(made["machines"]) == count else f"there are {len(made['machines'])}"


def check_paired(made: Record, first: str | None, last: str | None, by: str) -> str:
    """A machine has these names, and is paired by a mark."""
    for one in made["machines"]:
        if (one["names"][0], one["names"][-1]) == (first, last):
            return "" if is_like(by, one["paired_by"]) else f"paired by {one['paired_by']!r}"
    return f"machines are {[one['names'] for one in made['machines']]}"


def check_paired_by(made: Record, by: str) -> str:
    """Every machine is paired by such a mark."""
    wrong = [one["paired_by"] for one in made["machines"] if not is_like(by, one["paired_by"])]
    return f"paired by {wrong}" if wrong else ""


def check_no_name(made: Record) -> str:
    """No machine is paired by its name."""
    wrong = [
        one["names"] for one in made["machines"] if re.fullmatch("(short )?name", one["paired_by"])
    ]
    return f"paired by name: {wrong}" if wrong else ""


def check_boot(made: Record, name: str, state: str, why: str, step: int = 0) -> str:
    """A machine was booted, or was not, and the reason reads so."""
    for one in made["machines"]:
        if one["name"].startswith(name) and len(one["steps"]) > step:
            found = one["steps"][step]
            if found["state"] == state and is_like(why, found["why"]):
                return ""
            return f"{found['state']}: {found['why']}"
    return f"no step of {name}"


def check_finding(made: Record, subject: str, state: str, why: str) -> str:
    """A finding has this state for such a reason."""
    found = [
        one for one in made["findings"] if is_like(subject, f"{one['title']} {one['subject']}")
    ]
    for one in found:
        if one["state"] == state and is_like(why, one["why"]):
            return ""
    return f"found {[(one['state'], one['why']) for one in found]}"


def check_no_state(made: Record, state: str) -> str:
    """No finding has this state."""
    found = [one["subject"] for one in made["findings"] if one["state"] == state]
    return f"{state}: {found}" if found else ""


def check_thing(made: Record, subject: str, state: str) -> str:
    """A thing came, went, moved or was replaced."""
    found = [one for one in made["subjects"] if is_like(subject, one["subject"])]
    if any(one["state"] == state for one in found):
        return ""
    return f"found {[(one['state'], one['subject']) for one in found]}"


def check_no_thing(made: Record, subject: str, state: str) -> str:
    """Nothing of that name is said to have this state."""
    found = [
        one["subject"]
        for one in made["subjects"]
        if one["state"] == state and is_like(subject, one["subject"])
    ]
    return f"{state}: {found}" if found else ""


def check_counter(
    made: Record, column: str, subject: str, verdict: str | None, difference: int | None
) -> str:
    """A counter has this verdict (None: any), and its last step this difference."""
    found = list_counters(made, column, subject)
    if not found:
        return "no such counter"
    for one in found:
        if verdict in (None, one["verdict"]) and one["steps"][-1]["difference"] == difference:
            return ""
    return f"found {[(one['verdict'], one['steps'][-1]['difference'], one['values']) for one in found]}"


def check_no_counter(made: Record, column: str, subject: str) -> str:
    """No such counter is compared."""
    found = list_counters(made, column, subject)
    return f"found {[one['subject'] for one in found]}" if found else ""


def list_counters(made: Record, column: str, subject: str) -> list[Record]:
    """Return the counters of a column whose subject reads so."""
    return [
        one
        for one in made["counters"]
        if one["column"] == column and is_like(subject, one["subject"])
    ]


def check_says(made: Record, pattern: str) -> str:
    """One sentence reads so."""
    return "" if any(is_like(pattern, text) for text in list_said(made)) else "no sentence does"


def check_silent(made: Record, pattern: str) -> str:
    """No sentence reads so."""
    found = [text for text in list_said(made) if is_like(pattern, text)]
    return f"said {found[0]!r}" if found else ""


def check_first(made: Record, pattern: str) -> str:
    """The first sentence after the subject reads so."""
    text = made["conclusion"][1]["text"]
    return "" if is_like(pattern, text) else f"it is {text!r}"


def check_captured(made: Record, side: int, time: str) -> str:
    """A side was captured then."""
    found = made["sides"][side]["captured"]
    return "" if found == time else f"it is {found}"


def flatten_text(text: str) -> str:
    """Return a text without its marks: what a reader reads, whatever the form."""
    plain = html.unescape(re.sub(r"<[^>]+>", "", text))
    return re.sub(r"[\\\s]+", "", plain)


def check_forms(made: Record, forms: dict[str, str]) -> str:
    """Every form has every sentence."""
    lost = []
    for name, text in forms.items():
        flat = flatten_text(text)
        lost += [
            f"{name} lacks {said!r}" for said in list_said(made) if flatten_text(said) not in flat
        ]
    return "; ".join(lost[:3])


def check_nodes(made: Record, count: int) -> str:
    """A case has so many machines."""
    return "" if len(made["nodes"]) == count else f"{[one['name'] for one in made['nodes']]}"


def check_node(made: Record, name: str, key: str, value: Any) -> str:
    """A machine of a case has this value."""
    found = [one[key] for one in made["nodes"] if one["name"] == name]
    return "" if found == [value] else f"it is {found}"


def check_no_case_finding(made: Record, pattern: str) -> str:
    """No finding of a case reads so."""
    found = [
        one["say"]
        for one in made["findings"]
        if one["verdict"] == "match" and is_like(pattern, f"{one['title']} {one['say']}")
    ]
    return f"{len(found)}: {found[0]}" if found else ""


def check_case_value(made: Record, pattern: str, name: str, value: str) -> str:
    """A value of a finding of a case is this."""
    found = [
        one["values"].get(name)
        for one in made["findings"]
        if is_like(pattern, f"{one['title']} {one['subject']}")
    ]
    return "" if found == [value] else f"it is {found}"


def check_no_warning(made: Record, pattern: str) -> str:
    """No machine of a case has such a warning."""
    found = [text for one in made["nodes"] for text in one["warnings"] if is_like(pattern, text)]
    return f"said {found[0]}" if found else ""


CHECKS: dict[str, Callable[..., str]] = {
    "mode": check_mode,
    "machines": check_machines,
    "paired": check_paired,
    "paired by": check_paired_by,
    "not paired by name": check_no_name,
    "boot": check_boot,
    "finding": check_finding,
    "no state": check_no_state,
    "thing": check_thing,
    "no thing": check_no_thing,
    "counter": check_counter,
    "no counter": check_no_counter,
    "says": check_says,
    "silent": check_silent,
    "first sentence": check_first,
    "captured": check_captured,
    "nodes": check_nodes,
    "node": check_node,
    "case value": check_case_value,
    "no warning": check_no_warning,
    "no case finding": check_no_case_finding,
}
