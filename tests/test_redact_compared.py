"""Comparisons and merged logs handed out: the same pseudonyms, and no name is left."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from analyzer.cli import main
from tests.redaction_check import left

CASES = Path(__file__).resolve().parent.parent / "samples" / "cases"
NAMES = ["esx0", "iperf-test1", "iperf-test2"]


def test_a_comparison_names_nobody(tmp_path: Path) -> None:
    """`compare --redact` of the ring experiment: page, note and JSON hold no name, the numbers are those of the plain one."""
    both = [str(CASES / "lab-ring-before"), str(CASES / "lab-ring-after")]
    for folder, words in (("plain", []), ("out", ["--redact", "--redact-map", str(tmp_path / "map")])):
        done = CliRunner().invoke(main, ["compare", *both, "-o", str(tmp_path / folder), "--quiet", *words])
        assert done.exit_code in (0, 5), done.output
    assert len({line.split(": ")[1].partition(" as ")[0] for line in left(tmp_path / "plain", NAMES)}) == len(NAMES)
    assert left(tmp_path / "out", NAMES) == []
    plain, other = ((tmp_path / name / "compare.json").read_text(encoding="utf-8") for name in ("plain", "out"))
    assert list(json.loads(plain)) == list(json.loads(other))
    for number in ("10370", "1656"):
        assert plain.count(number) == other.count(number) > 0


def test_merged_lines_name_nobody(tmp_path: Path) -> None:
    """`log --redact` prints as many lines as without, in every form, without a name of the bundle's tables or lines."""
    case = CASES / "slow-storage"
    plain = CliRunner().invoke(main, ["log", str(case)])
    names = ["esx71", "lab.example", "lin-erp02", "lun-prod-07", "naa.600508b1001c0000000000000000a107"]
    (tmp_path / "plain").write_text(plain.stdout, encoding="utf-8")
    assert left(tmp_path / "plain", names)
    for form in ("text", "jsonl", "csv"):
        words = ["log", str(case), "--format", form, "--redact", "--redact-map", str(tmp_path / "map")]
        done = CliRunner().invoke(main, words)
        assert done.exit_code == plain.exit_code, done.output
        out = tmp_path / form
        out.write_text(done.stdout, encoding="utf-8")
        assert left(out, names) == []
    assert len((tmp_path / "text").read_text(encoding="utf-8").splitlines()) == len(plain.stdout.splitlines())
