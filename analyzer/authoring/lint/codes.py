"""The codes of the linter, each with its level, its title and when it can be checked.

They are the rows of `codes.csv`. A code keeps its number for ever; a code that goes leaves a hole. The page of a code lies in
`docs/lint/`, and in an installed tool next to the package.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from analyzer.rules.language.rulefile import did_you_mean
from analyzer.runtime.errors import UsageError

# What must be there before a code can be asked: the file as text, a file that is YAML, the other
# files of the catalog, a rule that loads, or (with --thorough) its examples run; or a file of facts.
LOAD, TREE, CATALOG, RULE, PROOF, DATA = "load", "tree", "catalog", "rule", "proof", "data"


@dataclass(frozen=True, slots=True)
class Code:
    """One kind of complaint.

    stage  `load`: with it the rule is not used at all, so it cannot be allowed; `tree` and `catalog`:
           asked of every file that is YAML; `rule`: of rules that load; `proof`: with --thorough
    """

    code: str
    level: str  # error or warning
    stage: str
    title: str


def _read_codes() -> dict[str, Code]:
    """Return the rows of `codes.csv`, in order."""
    text = (resources.files(__package__) / "codes.csv").read_text("utf-8")
    return {row["code"]: Code(**row) for row in csv.DictReader(text.splitlines())}


CODES = _read_codes()


def find_code(code: str) -> Code:
    """Return a code by its name in any case; UsageError when there is none."""
    found = CODES.get(code.upper())
    if found is None:
        if code[:1].lower() == "r":
            near = did_you_mean(code.upper(), CODES)
        else:
            near = ""
        raise UsageError(
            f"there is no code `{code[:40]}`", do=near or f"Codes go from R001 to {max(CODES)}."
        )
    return found


def read_page(code: str) -> str:
    """Return the page of a code as Markdown; UsageError when there is no such code."""
    name = f"{find_code(code).code}.md"
    beside = Path(__file__).resolve().parents[3] / "docs" / "lint" / name
    if beside.is_file():  # a checkout
        return beside.read_text(encoding="utf-8")
    return (resources.files("analyzer.lintpages") / name).read_text(encoding="utf-8")
