"""The codes of the linter, each with its level, its title and when it can be checked.

A code keeps its number for ever; a code that goes leaves a hole. The page of a code lies in
`docs/lint/`, and in an installed tool next to the package.
"""

from __future__ import annotations

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


def _make_codes(level: str, stage: str, titles: dict[str, str]) -> list[Code]:
    """Return codes of one level and stage."""
    found = []
    for code, title in titles.items():
        found.append(Code(code, level, stage, title))
    return found


_ALL = [
    *_make_codes("error", LOAD, {
        "R001": "the file cannot be read as one YAML document",
        "R002": "a tab where YAML wants spaces",
        "R003": "a key is given twice",
        "R004": "unknown key",
        "R005": "a key that must be there is missing",
        "R006": "a value has the wrong form for its key",
        "R008": "a bare number where text or a version is meant",
        "R010": "unknown table",
        "R011": "unknown column",
        "R012": "unknown name",
        "R013": "unknown function",
        "R014": "a column of many rows is outside an aggregate",
        "R015": "two kinds of value that cannot be combined",
        "R016": "not an expression of the rule language",
        "R017": "a name that is not valid, or is already taken",
        "R018": "a text names a value that does not exist",
        "R030": "an outcome has no severity",
        "R040": "a pattern that is not valid, or matches every line",
        "R041": "a pattern can take endless time or memory on one line",
    }),
    *_make_codes("warning", TREE, {
        "R007": "not written as `backline rules fmt` writes it",
        "R033": "an outcome says nothing",
        "R034": "an outcome does not say how sure it is",
        "R036": "a text leaves open whether it means one or many",
        "R043": "a dot in a pattern stands for any character",
        "R044": "a pattern holds no four plain characters in a row",
        "R045": "a pattern holds a lookaround or a back reference",
        "R055": "a title is too long, ends with a full stop or names no fault",
        "R056": "no source is named",
        "R057": "`about` is not two to four sentences",
        "R058": "`revised` or `checked` is not a date",
        "R061": "`status` and `replaced_by` do not agree",
        "R062": "no fix is named",
        "R063": "a command that changes or stops something comes without a caution",
        "R064": "no look-alike is named",
        "R065": "nothing to ask for when the rule cannot tell",
        "R066": "no evidence is shown",
    }),
    *_make_codes("error", TREE, {
        "R050": "the id is not the name of the file",
        "R054": "the id names a KB article that `kb` does not",
        "R059": "the rule needs a newer tool",
        "R067": "text of the skeleton remains",
        "R069": "a stable rule does not meet the criteria",
        "R070": "an answer of the rule has no example",
        "R071": "no example goes through the real parser",
        "R074": "a stable rule has an example that is known to fail",
        "R090": "a comment that allows something cannot be understood",
    }),
    *_make_codes("error", CATALOG, {
        "R051": "the id belongs to another rule",
        "R052": "the title belongs to another rule",
        "R060": "a rule that does not exist is named",
        "R068": "a rule that was replaced is still in use",
    }),
    *_make_codes("warning", CATALOG, {"R053": "two rules judge the same table for the same KB article"}),
    *_make_codes("warning", TREE, {
        "R091": "a comment allows a complaint that is not there",
    }),
    *_make_codes("warning", RULE, {
        "R020": "a named value is never used",
        "R021": "a join is never used",
        "R022": "a signature is never used",
        "R023": "a question to a log is never used",
        "R024": "`when` is always true and there is no `only`",
        "R026": "the last outcome is not `when: true`",
        "R028": "a condition is never false",
        "R029": "a value over no rows decides, and that is unknown",
        "R046": "a join compares every line of a log with every line of a log",
        "R032": 'a text says "no" where it may be unknown',
        "R089": "a counter since the boot decides how severe an answer is",
    }),
    *_make_codes("error", RULE, {
        "R025": "an outcome or a grade can never be taken",
        "R027": "a condition can never be true",
        "R031": 'a version alone counts as more than "exposed"',
        "R088": "a step of the remedy names a release and asks for none",
        "R087": "a sentence names a window that its number does not come from",
    }),
    *_make_codes("error", DATA, {
        "R080": "a file of facts cannot be used",
        "R084": "a file of shared parts cannot be used",
    }),
    *_make_codes("warning", DATA, {
        "R081": "a cell names something that does not exist",
        "R085": "no rule uses a shared part",
    }),
    *_make_codes("warning", RULE, {
        "R082": "a rule treats rows from memory like any others",
        "R083": "a build is unknown, or belongs to another version",
    }),
    *_make_codes("error", PROOF, {"R072": "an example does not give the expected result"}),
    *_make_codes("warning", PROOF, {"R073": "no example notices when a threshold moves"}),
]  # fmt: skip

CODES: dict[str, Code] = {one.code: one for one in sorted(_ALL, key=lambda one: one.code)}


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
