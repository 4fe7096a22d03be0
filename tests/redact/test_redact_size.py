"""A large host redacted: no name of its maker is left, and its findings are those of the plain run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from analyzer.cli import main
from tests.kit.full_size import scale_size
from tests.kit.redaction_check import left
from tools import make_bundle
from tools.planted import NAA, PROBLEMS, VOLUME, VSAN

# What tools/make_bundle.py and tools/planted.py call things.
NAMES = [
    "bench01", "nfs1.example.com", "loghost.example.com", "example.com", "nfs-ds1", NAA, VOLUME, VSAN, "00:50:56:12:34:56",
    "10.1.1.7", "00:50:56:a6:01:00",
]  # fmt: skip


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A host of 300 MB of text at full size, with forty planted problems."""
    path = tmp_path_factory.mktemp("made") / "host.tgz"
    make_bundle.write_bundle(path, scale_size(300_000_000), dumps=False, problems=PROBLEMS)
    return path


def run(*words: object) -> None:
    """Run the command in this process."""
    done = CliRunner().invoke(main, [*map(str, words), "--quiet"])
    assert done.exit_code in (0, 5), done.output


def check(plain: Path, redacted: Path, shown: int) -> None:
    """Hold results to the names of their maker: so many are in the plain ones, none in the redacted ones."""
    assert len({line.split(": ")[1].partition(" as ")[0] for line in left(plain, NAMES)}) == shown
    # "loghost" is also in the name of a setting (Syslog.global.logHost), "example" the end of every pseudonym of a domain
    whole = [name for name in NAMES if name.endswith("example.com")]
    assert left(redacted, [name for name in NAMES if name not in whole] + ["nfs1"]) == []
    for path in redacted.iterdir():
        text = path.read_text(encoding="utf-8").lower()
        assert [name for name in whole if name in text] == []


@pytest.mark.release
@pytest.mark.size
def test_a_host_of_real_size(bundle: Path, tmp_path: Path) -> None:
    """Forty planted problems, 300 MB of text: the same findings, no original name, one redacted run after a plain one."""
    found = []
    for folder, words in (("plain", ()), ("redacted", ("--redact",))):
        run("triage", bundle, "-o", tmp_path / folder, *words)
        document = json.loads((tmp_path / folder / "case.json").read_text(encoding="utf-8"))
        keys = ("rule", "verdict", "severity", "confidence", "magnitude", "first_seen")
        found.append([[finding[key] for key in keys] for finding in document["findings"]])
    assert found[0] == found[1] and len(found[0]) >= 30
    check(tmp_path / "plain", tmp_path / "redacted", len(NAMES))


@pytest.mark.release
@pytest.mark.size
def test_two_captures_of_real_size_compared(bundle: Path, tmp_path: Path) -> None:
    """The host with its problems and without them: what became of each finding is the same, and no name is left."""
    after = tmp_path / "later.tgz"
    make_bundle.write_bundle(after, scale_size(300_000_000), dumps=False)
    told = []
    for folder, words in (("plain", ()), ("redacted", ("--redact",))):
        run("compare", bundle, after, "-o", tmp_path / folder, *words)
        document = json.loads((tmp_path / folder / "compare.json").read_text(encoding="utf-8"))
        told.append(
            [
                [[one["rule"], one["state"]] for one in document["findings"]],
                [[one["table"], one["column"], one["verdict"]] for one in document["counters"]],
                [[one["table"], one["column"], one["section"]] for one in document["changes"]],
                len(document["conclusion"]),
            ]
        )
    assert told[0] == told[1]
    assert sum(state == "gone" for _, state in told[0][0]) >= 30
    check(
        tmp_path / "plain", tmp_path / "redacted", 6
    )  # a comparison shows lines of logs by their place alone
