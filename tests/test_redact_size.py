"""A large host redacted: no name of its maker is left, and its findings are those of the plain run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from analyzer.cli import main
from tests.redaction_check import left
from tools import make_bundle
from tools.planted import NAA, PROBLEMS, VOLUME, VSAN

# What tools/make_bundle.py and tools/planted.py call things.
NAMES = [
    "bench01", "nfs1.example.com", "loghost.example.com", "example.com", "nfs-ds1", NAA, VOLUME, VSAN, "00:50:56:12:34:56",
    "10.1.1.7", "00:50:56:a6:01:00",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.long
def test_a_host_of_a_gigabyte(tmp_path: Path) -> None:
    """Forty planted problems, a gigabyte of text: the same findings, no original name, one redacted run after a plain one."""
    bundle = tmp_path / "host.tgz"
    make_bundle.make(bundle, 1_000_000_000, dumps=False, problems=PROBLEMS)
    found = []
    for folder, words in (("plain", ()), ("redacted", ("--redact",))):
        done = CliRunner().invoke(main, ["triage", str(bundle), "-o", str(tmp_path / folder), "--quiet", *words])
        assert done.exit_code in (0, 5), done.output
        document = json.loads((tmp_path / folder / "case.json").read_text(encoding="utf-8"))
        keys = ("rule", "verdict", "severity", "confidence", "magnitude", "first_seen")
        found.append([[finding[key] for key in keys] for finding in document["findings"]])
    assert found[0] == found[1] and len(found[0]) >= 30
    assert len({line.split(": ")[1].partition(" as ")[0] for line in left(tmp_path / "plain", NAMES)}) == len(NAMES)
    # "loghost" is also in the name of a setting (Syslog.global.logHost), "example" the end of every pseudonym of a domain
    whole = [name for name in NAMES if name.endswith("example.com")]
    assert left(tmp_path / "redacted", [name for name in NAMES if name not in whole] + ["nfs1"]) == []
    for path in (tmp_path / "redacted").iterdir():
        text = path.read_text(encoding="utf-8").lower()
        assert [name for name in whole if name in text] == []
