"""What a wheel brings is what a run would work out, and counts for the code that it was made of alone."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

import analyzer
from analyzer import rules
from analyzer.artefacts import parsing
from analyzer.artefacts.parsing import FUNCTIONS, Declarations, Parser
from analyzer.artefacts.tables import Block
from analyzer.commands.wheel import note_patterns
from analyzer.rules import catalog
from analyzer.rules.language.rulefile import RuleText
from analyzer.runtime import snapshot
from analyzer.runtime.snapshot import PatternAnswers, keep_answers
from analyzer.scan.engines import Needle, list_expressions
from tests.kit.batch_kit import ROOT


@keep_answers
def _length(pattern: str) -> list[int]:
    return [len(pattern), 2 * len(pattern)]


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a package as a wheel installs it, used from now on."""
    parsing.tables()  # of the checkout
    package = tmp_path / "analyzer"
    package.mkdir()
    (package / "__init__.py").write_text("")
    shutil.copytree(
        ROOT / "parsers", package / "parsers", ignore=shutil.ignore_patterns("__pycache__")
    )
    monkeypatch.setattr(snapshot.analyzer, "__file__", str(package / "__init__.py"))
    parsers = importlib.import_module("analyzer.parsers")
    monkeypatch.setattr(parsers, "__path__", [str(package / "parsers")])
    forget()
    yield package
    forget()


def forget() -> None:
    """Forget what was read of a snapshot."""
    snapshot.hash_code.cache_clear()
    snapshot._read_answers.cache_clear()
    catalog._read_brought.cache_clear()
    parsing.read_declarations.cache_clear()


def with_marks(parser: Parser) -> Parser:
    """The parser with True for a function that it has."""
    has: dict[str, Any] = {name: getattr(parser, name) is not None for name in FUNCTIONS}
    return replace(parser, **has)


def test_every_declaration_is_the_same(wheel: Path) -> None:
    """Each field of each parser and table is as its module has it; only functions come later."""
    declared = parsing.import_declarations()
    snapshot.write_brought(wheel, parsing.PARSERS, declared)

    found = parsing.read_declarations()

    assert list(found.parsers) == list(declared.parsers)
    for name, parser in found.parsers.items():
        own = declared.parsers[name]
        assert with_marks(parser) == with_marks(own), name
        assert all(type(getattr(parser, one.name)) is type(getattr(own, one.name))
                   for one in fields(Parser) if one.name not in FUNCTIONS), name  # fmt: skip
    assert found.made == declared.made


def test_a_parser_of_the_snapshot_reads_as_its_module_does(wheel: Path) -> None:
    """The function comes with the module when it is first called, and gives the same rows."""
    declared = parsing.import_declarations()
    snapshot.write_brought(wheel, parsing.PARSERS, declared)
    lines = (
        (ROOT / "samples" / "esxi" / "network" / "net_stats" / "esxi67.txt")
        .read_text(encoding="utf-8")
        .splitlines()
    )

    one, two = (
        [
            (row.values, row.line)
            for row in some.parsers["net_stats"].parse(Block(lines))
            if hasattr(row, "values")
        ]
        for some in (parsing.read_declarations(), declared)
    )

    assert one == two != []


@pytest.mark.parametrize(
    "damage", ["another size", "one more", "one less", "a byte", "cut", "another type", "gone"]
)
def test_a_snapshot_of_other_code_counts_as_absent(wheel: Path, damage: str) -> None:
    """One that was not made of the modules next to it, or is damaged, is left alone."""
    snapshot.write_brought(wheel, "numbers", {"one": 1})
    assert snapshot.read_brought("numbers", dict[str, int]) == {"one": 1}
    file, module = (
        wheel / snapshot.FOLDER / "numbers",
        wheel / "parsers" / "esxi" / "network" / "net_stats.py",
    )
    if damage == "another size":
        module.write_bytes(module.read_bytes() + b"\n")
    elif damage == "one more":
        (wheel / "parsers" / "mine.py").write_text("PARSER = None\n")
    elif damage == "one less":
        module.unlink()
    elif damage == "a byte":
        file.write_bytes(file.read_bytes()[:-1] + b"\x02")
    elif damage == "cut":
        file.write_bytes(file.read_bytes()[:-10])
    elif damage == "another type":
        snapshot.write_brought(wheel, "numbers", {"one": "1"})
    else:
        file.unlink()
    forget()

    assert snapshot.read_brought("numbers", dict[str, int]) is None


def test_times_of_a_wheel_do_not_matter(wheel: Path) -> None:
    """Modules have other times wherever a wheel is installed; what is kept in the cache counts for one time."""
    of_wheel, of_cache = snapshot.hash_code(times=False), snapshot.hash_code(times=True)
    (wheel / "parsers" / "esxi" / "network" / "net_stats.py").touch()
    forget()

    assert snapshot.hash_code(times=False) == of_wheel
    assert snapshot.hash_code(times=True) != of_cache


@pytest.mark.size
def test_rules_of_the_wheel_are_not_read_again(
    wheel: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A first start needs no YAML: all rules of the tool come with the wheel, and nothing is put in the cache."""
    cache = tmp_path / "cache"
    monkeypatch.setenv("BACKLINE_CACHE", "off")
    fresh = rules.load()
    catalog.write_shipped(wheel)
    forget()
    monkeypatch.setenv("BACKLINE_CACHE", str(cache))
    monkeypatch.setattr(RuleText, "read_tree", None)

    stored = rules.load()

    assert stored.hash == fresh.hash
    assert [rule.title for rule in stored.rules] == [rule.title for rule in fresh.rules]
    assert stored.signatures() == fresh.signatures()
    assert not cache.exists()


def test_an_answer_of_the_wheel_is_not_worked_out_again(wheel: Path) -> None:
    """The wheel has the answer for a pattern; for another one the function is asked."""
    snapshot.write_brought(wheel, snapshot.PATTERNS, {_length.name: {"abc": [7, 7]}})

    function = PatternAnswers(_length.__wrapped__)  # type: ignore[attr-defined]

    assert "abc" in function.known_answers and "abcd" not in function.known_answers
    assert function("abc") == [7, 7]
    assert function("abcd") == [4, 8]


def test_every_answer_survives_the_file(wheel: Path) -> None:
    """What comes back is what was worked out, for all patterns of the parsers and of the rules."""
    snapshot.write_answers(wheel, note_patterns)

    kept = snapshot.read_brought(snapshot.PATTERNS, dict[str, dict[str, Any]])

    assert kept is not None
    own = {name: one for name, one in snapshot.ANSWERS.items() if name.startswith("analyzer.")}
    assert len(own) == 6
    # One is asked only while another is worked out: where that answer was known before, nobody asks.
    assert own.keys() - kept.keys() <= {"analyzer.scan.prefilter._analyse_noted"}
    for name in own.keys() & kept.keys():
        assert len(kept[name]) > 100, name
        known = own[name].known_answers
        assert as_lists(kept[name]) == as_lists({pattern: known[pattern] for pattern in kept[name]})


def as_lists(value: Any) -> Any:
    """The value with lists for tuples."""
    if isinstance(value, dict):
        return {key: as_lists(part) for key, part in value.items()}
    return [as_lists(part) for part in value] if isinstance(value, list | tuple) else value


def test_a_pattern_that_is_known_is_compiled_when_a_line_is_proposed() -> None:
    """Its expressions need no look at it; what is no regex is refused at once."""
    Needle.of("known to all: (?P<what>.+)")
    needle = Needle.of("known to all: (?P<what>.+)")

    assert list_expressions(needle) == ["known to all: "]
    found = needle.search("it is known to all: nothing")
    assert found is not None and found["what"] == "nothing"
    with pytest.raises(re.error):
        Needle.of("(?<=a+)b")  # only the compiler refuses it


@pytest.mark.process
def test_a_small_case_imports_few_parsers(tmp_path: Path) -> None:
    """With a snapshot a triage imports the parsers of what is there, not all."""
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from analyzer.artefacts import parsing\n"
        "from analyzer.runtime import snapshot\n"
        "snapshot.read_brought = lambda name, kind: None if name != parsing.PARSERS else (\n"
        "    snapshot._decode_content(Path(sys.argv[1]).read_bytes(), '', kind))\n"
        "from analyzer.pipeline.triage import triage\n"
        "triage([Path(sys.argv[2])])\n"
        "print(*sorted(m.rpartition('.')[2] for m in sys.modules if m.startswith('analyzer.parsers.')))\n"
    )
    declared: tuple[str, Declarations] = ("", parsing.import_declarations())
    file = tmp_path / "parsers"
    file.write_bytes(snapshot.msgspec.msgpack.encode(declared, enc_hook=snapshot._mark_function))
    case = ROOT / "samples" / "cases" / "lab-ring-before"
    words = [sys.executable, "-c", code, str(file), str(case)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True, cwd=ROOT)

    imported = [name for name in done.stdout.splitlines()[-1].split() if not name.startswith("_")]
    assert 0 < len(imported) <= 25, imported  # five of them are folders


def test_the_package_is_where_its_code_is() -> None:
    """A snapshot is looked for next to the code that reads it."""
    assert Path(analyzer.__file__).parent == ROOT / "analyzer"
