"""What a newcomer meets: `make demo`, the tutorials, the workflow of other systems."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from analyzer.cli import main
from tools import guide

ROOT = Path(__file__).resolve().parents[2]


def in_process(command: str, folder: Path) -> str:
    """Return what a command of a tutorial prints, run in this process instead of one of its own."""
    words, _, cut = command.partition(" | ")
    done = CliRunner().invoke(main, shlex.split(words)[1:], catch_exceptions=False)
    assert done.exit_code in (0, 1, 5), f"{command}: {done.output}"
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    if cut:
        which, count = cut.split(" -")
        lines = lines[: int(count)] if which == "head" else lines[-int(count) :]
    return "".join(f"{line}\n" for line in lines)


def steady(page: str) -> str:
    """Return a page without the numbers that every new rule changes: open questions, quiet rules, rules at all."""
    return re.sub(
        r"\d+ checks? clean, \d+ needs? more data| +\d+  -$", "…", page, flags=re.MULTILINE
    )


@pytest.mark.size
@pytest.mark.parametrize("path", guide.TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_does_what_it_says(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each command of a tutorial, run one after the other in a fresh folder, prints what the page shows."""
    monkeypatch.chdir(tmp_path)
    for name, value in (("COLUMNS", guide.WIDTH), ("TERM", "dumb"), ("NO_COLOR", "1")):
        monkeypatch.setenv(name, value)
    guide.copy_cases(tmp_path)
    page = path.read_text(encoding="utf-8")
    assert page.count("\n$ backline ") >= 4
    said = guide.play_page(page, tmp_path, in_process)
    assert steady(said) == steady(page), "run python tools/guide.py and look at what changed"
    wrong = page.replace(
        "\n$ backline ", "\nan output that nothing prints\n$ backline ", 1
    ).replace("WARNING confirmed", "FINE")
    assert steady(said) != steady(wrong)  # the comparison can fail


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
def test_the_demo_installs_what_a_user_needs() -> None:
    """`make demo` installs no extra, triages the sample, and ends with what to do next; `make test` installs the rest."""
    demo = subprocess.run(
        ["make", "-n", "-B", "demo"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert (
        "pip install --disable-pip-version-check --no-compile -e ." in demo
        and "[test]" not in demo
        and "--quiet" not in demo
    )
    assert (
        demo.index("triage samples/cases/lab-ring-before")
        < demo.index("Next:")
        < demo.index("docs/tutorial-triage.md")
    )
    whole = subprocess.run(
        ["make", "-n", "-B", "test"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert "-e '.[test]'" in whole


def test_the_suite_runs_on_three_systems() -> None:
    """The workflow names Linux, macOS and Windows and just the Pythons that setup.cfg promises; it holds no secret."""
    text = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    suite = yaml.safe_load(text)["jobs"]["suite"]
    assert {name.partition("-")[0] for name in suite["strategy"]["matrix"]["os"]} == {
        "ubuntu",
        "macos",
        "windows",
    }
    promised = re.findall(
        r"Python :: (3\.\d+)$", (ROOT / "setup.cfg").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert suite["strategy"]["matrix"]["python"] == promised
    assert "secrets." not in text and yaml.safe_load(text)["permissions"] == {"contents": "read"}
    marks = re.findall(
        r"not (\w+)", next(step["run"] for step in suite["steps"] if step.get("name") == "Tests")
    )
    known = re.findall(
        r"^    (\w+): ", (ROOT / "setup.cfg").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert set(marks) <= set(known)
