"""The pages say what the code does: limits, generated pages, the examples of the rule guide."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import yaml

from analyzer import rules
from analyzer.limits import Limits
from analyzer.rulebook import rulereader

ROOT = Path(__file__).resolve().parent.parent


def page(name: str) -> str:
    """Return the text of a page of the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def test_generated_pages_are_fresh() -> None:
    """docs/tables.md, docs/rules.md and docs/cli.md are what tools/docs.py writes."""
    done = subprocess.run(
        [sys.executable, "tools/docs.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr


def test_every_limit_is_documented() -> None:
    """SECURITY.md names every limit of the tool."""
    text = page("SECURITY.md")

    for field in fields(Limits):
        assert f"`{field.name}`" in text, field.name


def test_the_rule_of_the_guide_is_a_rule() -> None:
    """The rule that docs/writing-rules.md walks through is accepted as it stands."""
    block = re.findall(r"```yaml\n(rule:.*?)```", page("docs/writing-rules.md"), re.DOTALL)

    rule = rules.parse(block[0])
    assert rule.id == "beacon-probing"


def test_the_guide_names_every_key_of_a_rule() -> None:
    """No key that the loader knows is missing in docs/writing-rules.md."""
    text = page("docs/writing-rules.md")

    for key in rulereader.KEYS:
        assert re.search(rf"(`{key}`|^{key}:)", text, re.MULTILINE), key


def test_examples_in_the_guide_are_yaml() -> None:
    """Every YAML block of the guide can be read."""
    for block in re.findall(r"```yaml\n(.*?)```", page("docs/writing-rules.md"), re.DOTALL):
        assert yaml.safe_load(block)


def test_dependencies_have_a_reason() -> None:
    """Each package that setup.cfg installs stands in docs/dependencies.md."""
    config = page("setup.cfg")
    wanted = re.search(r"install_requires =\n((?:    .+\n)+)", config)
    assert wanted is not None

    for line in wanted[1].splitlines():
        name = re.split(r"[<>=; ]", line.strip())[0]
        assert re.search(rf"^\| {name} \|", page("docs/dependencies.md"), re.MULTILINE | re.IGNORECASE), name
