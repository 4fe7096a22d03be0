"""`backline rules new` without evidence: a skeleton that loads, fails once and says what to do next."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from analyzer import rules
from analyzer.artefacts import parsing
from analyzer.artefacts.tables import Table
from analyzer.authoring.draft import skeleton
from analyzer.authoring.fmt.layout import format_rule
from analyzer.cli import main
from analyzer.pipeline import examples
from analyzer.rules.keys import KEYS
from analyzer.rules.short_examples import MADE
from tests.kit.together import together

ROOT = Path(__file__).resolve().parents[2]

TABLES = sorted(parsing.tables().values(), key=lambda table: table.name)


def run(*args: str) -> Result:
    """Run `backline rules new` in this process."""
    return CliRunner().invoke(main, ["rules", "new", *args], catch_exceptions=False)


@pytest.mark.size
@together("table", TABLES, ids=lambda table: table.name)
def test_a_skeleton_of_any_table_loads_and_fails_once(table: Table) -> None:
    """For each table and log the skeleton is a rule that loads; one example gives no_match where match is expected."""
    text = skeleton.write_skeleton(
        "kb-1", "" if table.log else table.name, table.name if table.log else ""
    )
    rule = rules.parse(text)
    results = {
        result.name: result for result in examples.run(rule) if not result.name.startswith(MADE)
    }
    (result,) = [result for result in results.values() if not result.ok]

    assert not result.ok
    assert (result.got["result"], result.expected["result"]) == ("no_match", "match")
    assert "on purpose" in result.name or "The first fails on purpose" in text
    assert len(results) == (2 if table.log else 1)
    assert table.name in rule.tables()


@pytest.mark.parametrize(
    "chosen", [{"table": "esxi.client_stats"}, {"log": "esxi.vmkernel"}, {}], ids=str
)
def test_every_key_stands_in_its_order_with_a_comment(chosen: dict[str, str]) -> None:
    """Each key of the format is there once, as a key or as a comment, in the order of the format, and is explained."""
    text = skeleton.write_skeleton("kb-123", **chosen)
    found = [
        line.removeprefix("# ").partition(":")[0]
        for line in text.splitlines()
        if not line.startswith(" ")
    ]

    others = (
        skeleton.LONG_ONLY if "log" in chosen else skeleton.SHORT_ONLY
    )  # keys of the other form
    assert [name for name in found if name in KEYS] == [name for name in KEYS if name not in others]


@pytest.mark.parametrize(
    "chosen", [{"table": "esxi.pnic_stats"}, {"log": "nsx.vsm_log"}, {}], ids=str
)
def test_a_skeleton_is_formatted_and_the_same_each_time(chosen: dict[str, str]) -> None:
    """`rules fmt` leaves it as it is, and the same arguments give the same bytes."""
    text = skeleton.write_skeleton("some-rule", **chosen)

    assert format_rule(text) == text
    assert skeleton.write_skeleton("some-rule", **chosen) == text


def test_the_real_columns_of_the_table_are_there() -> None:
    """The comment above `each` names every column of the chosen table, and `when` asks for one of them."""
    text = skeleton.write_skeleton("kb-1", "esxi.vmxnet3_rx_summary")
    comment = " ".join(line for line in text.splitlines() if line.startswith("#"))

    for column in parsing.tables()["esxi.vmxnet3_rx_summary"].columns:
        assert column.name in comment
    assert rules.parse(text).when.text == "summary.out_of_buffers > 0"


def test_the_command_writes_the_file_and_names_the_next_four(tmp_path: Path) -> None:
    """It prints the path and the commands to go on with; the KB number of the id stands in `kb`."""
    done = run(
        "kb-77",
        "--kb",
        str(tmp_path / "mine"),
        "--table",
        "esxi.client_stats",
        "--title",
        "Frames: lost # 1",
    )
    path = tmp_path / "mine" / "kb-77.yaml"

    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0] == str(path)
    assert [line.split()[2] for line in lines[2:]] == ["test", "lint", "explain", "backtest"]
    rule = rules.parse(path.read_text(encoding="utf-8"))
    assert (rule.title, rule.kb, rule.status) == ("Frames: lost # 1", [77], "draft")
    assert not list(path.parent.glob(".*"))


def test_without_a_table_it_says_how_to_find_one(tmp_path: Path) -> None:
    """No question is asked: a table stands in, and file and stderr say where the others are listed."""
    done = run("own-rule", "--kb", str(tmp_path))

    assert done.exit_code == 0
    assert "backline tables BUNDLE" in done.stderr
    assert "backline tables --doc" in (tmp_path / "own-rule.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["kb-2039495"], "comes with Backline"),
        (["KB 5"], "not an id"),
        (["../kb-5"], "not an id"),
        (["x" * 200], "not an id"),
        (["kb-1", "--table", "esxi.client_stat"], "Did you mean `esxi.client_stats`?"),
        (["kb-1", "--table", "esxi.vmkernel"], "Give it with --log"),
        (["kb-1", "--log", "esxi.pnic"], "Give it with --table"),
        (["kb-1", "--log", "esxi.vmkernel", "--table", "esxi.pnic"], "do not go together"),
        (["kb-1", "samples"], "--from-lines"),
        (["kb-1", "--from", "a.json#1", "--from-lines", "a:1"], "cannot be combined"),
        (["kb-1", "--from", "a.json#1", "--log", "esxi.vmkernel"], "finds its table itself"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(
    args: list[str], told: str, tmp_path: Path
) -> None:
    """A wrong id, table or combination ends with 2, a sentence and no file."""
    done = run(*args, "--kb", str(tmp_path / "kb"))

    assert done.exit_code == 2
    assert told in done.stderr
    assert not (tmp_path / "kb").exists()


def test_a_file_that_is_there_stays_unless_forced(tmp_path: Path) -> None:
    """Without --force the file keeps its bytes; with it a new skeleton is written."""
    path = tmp_path / "kb-5.yaml"
    path.write_text("mine", encoding="utf-8")

    done = run("kb-5", "--kb", str(tmp_path))
    assert done.exit_code == 2
    assert "--force" in done.stderr
    assert path.read_text(encoding="utf-8") == "mine"
    assert run("kb-5", "--kb", str(tmp_path), "--force").exit_code == 0
    assert rules.parse(path.read_text(encoding="utf-8")).id == "kb-5"


def test_a_symbolic_link_is_never_written_through(tmp_path: Path) -> None:
    """A link in the place of the new file is refused with and without --force, and what it leads to stays."""
    other = tmp_path / "other"
    other.write_text("kept", encoding="utf-8")
    (tmp_path / "kb-5.yaml").symlink_to(other)

    for more in ([], ["--force"]):
        done = run("kb-5", "--kb", str(tmp_path), *more)
        assert done.exit_code != 0
        assert "symbolic link" in done.stderr
    assert other.read_text(encoding="utf-8") == "kept"


def test_a_folder_that_cannot_be_one_is_told(tmp_path: Path) -> None:
    """--kb at a file, or a folder in the place of the new file, is a sentence and not a traceback."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    (tmp_path / "kb-5.yaml").mkdir()

    assert "not a folder" in run("kb-5", "--kb", str(tmp_path / "file")).stderr
    assert "it is a folder" in run("kb-5", "--kb", str(tmp_path)).stderr


def test_the_editor_is_led_to_the_schema_by_its_settings() -> None:
    """No rule names a schema: the settings of the checkout name that of the catalog, as `make docs` writes it."""
    catalog = ROOT / "analyzer" / "kb"
    files = [*catalog.glob("*/*.yaml")]
    assert [path.name for path in files if "yaml-language-server" in path.read_text("utf-8")] == []
    assert "yaml-language-server" not in skeleton.write_skeleton("kb-1")
    settings = json.loads((ROOT / ".vscode" / "settings.json").read_text("utf-8"))
    assert settings["yaml.schemas"] == {"docs/rule-schema.json": "analyzer/kb/*/*.yaml"}
