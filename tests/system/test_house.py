"""The measures of `tools/house.py`, each on a text whose count is plain to see."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tools import house

LEFT = re.compile(r"^(?:<{7}|>{7}) ", re.MULTILINE)


def read_source(text: str, path: str = "analyzer/judge/example.py") -> house.SourceFile:
    """Return a file of the product with this text."""
    return house.SourceFile(Path(path), text, ast.parse(text))


def test_a_line_carries_its_expression_nodes() -> None:
    """`return a + 1` is three nodes and the annotations are two: five on two lines."""
    (measure,) = house.measure_functions(
        read_source("def add_one(a: int) -> int:\n    return a + 1\n")
    )
    assert (measure.height, measure.nodes, measure.density) == (2, 5, 2.5)


def test_a_squeezed_line_is_denser_than_the_same_in_plain_statements() -> None:
    """Taking a line apart lowers the figure, whatever it does to the number of lines."""
    squeezed = read_source(
        "def f(a, b):\n    return [x.y for x in a if x.z == b and x.y] if a else [b.y for b in b]\n"
    )
    plain = read_source(
        "def f(a, b):\n    found = []\n    for x in a:\n        if x.z == b and x.y:\n            found.append(x.y)\n"
        "    return found\n"
    )
    (first,), (second,) = house.measure_functions(squeezed), house.measure_functions(plain)
    assert first.density > 2 * second.density


@pytest.mark.parametrize(
    ("name", "words"), [("told", 1), ("_told", 1), ("read_lines", 2), ("as_of_kind", 3)]
)
def test_words_of_a_name(name: str, words: int) -> None:
    """Underscores part words and are none."""
    assert house.count_words(name) == words


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("counted", True),
        ("_told", True),
        ("joined", True),
        ("read_joined", False),
        ("need", False),
        ("red", False),
    ],
)
def test_a_past_participle_alone(name: str, is_one: bool) -> None:
    """`counted` names no action; `read_joined` does."""
    assert house.is_participle(name) is is_one


def test_private_functions_with_one_call() -> None:
    """One call counts, two calls and public names do not, and neither does a name that only its definition has."""
    text = """
def _once(): pass
def _twice(): pass
def _never(): pass
def public(): return _once(), _twice(), _twice()
"""
    assert house.count_called_once([read_source(text)]) == 1


def test_imports_inside_functions_and_keys() -> None:
    """An import at the top is none of them; a key is a constant text in brackets."""
    source = read_source(
        "import os\ndef f(a):\n    import re\n    from os import path\n    return a['b'], a[0]\n"
    )
    assert house.count_inner_imports([source]) == 2
    assert house.count_key_subscripts([source]) == 1


def test_aliases_of_a_dict_of_anything() -> None:
    """However it is assigned, a name for `dict[str, Any]` counts."""
    source = read_source(
        "Doc = dict[str, Any]\nRow: TypeAlias = dict[str, Any]\nKept = dict[str, int]\n"
    )
    assert house.count_record_aliases([source]) == 2


def test_circles_among_folders_see_late_imports() -> None:
    """Two folders that import each other are a circle, also where one import is inside a function."""
    one = read_source("from analyzer.case import words\n", "analyzer/judge/one.py")
    two = read_source("def f():\n    from analyzer.judge.one import x\n", "analyzer/case/words.py")
    three = read_source("from analyzer.judge import one\n", "analyzer/report/three.py")
    arrows = house.map_folder_imports([one, two, three])
    assert house.find_circles(arrows) == [["analyzer.case", "analyzer.judge"]]


def test_a_value_past_its_limit_is_named() -> None:
    """More is worse for most rows and better for some; a value at its limit passes."""
    bounds = {"word_told": house.Bound(limit=3), "name_words": house.Bound(limit=1.5)}
    assert house.list_failures({"word_told": 3, "name_words": 1.5}, bounds) == []
    failures = house.list_failures({"word_told": 4, "name_words": 1.2}, bounds)
    assert [line.split(":")[0] for line in failures] == [
        house.ROWS["word_told"],
        house.ROWS["name_words"],
    ]


def test_limits_name_measures_only(tmp_path: Path) -> None:
    """A misspelt key would hold nothing, so it ends the run."""
    written = tmp_path / "house.toml"
    written.write_text("[word_tolt]\nlimit = 3\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="word_tolt"):
        house.read_bounds(written)


def test_every_goal_has_a_limit_close_to_it() -> None:
    """A measure with a goal is held by a limit; a limit may be stricter than the goal, and never much laxer."""
    for key, bound in house.read_bounds().items():
        assert bound.limit is not None, key
        if bound.goal and key not in house.MORE_IS_BETTER:
            assert bound.limit <= 8 * bound.goal, key


def test_no_file_holds_what_a_merge_left() -> None:
    """The signs around two sides of a merge stand in no file: in a docstring or a page no tool would mind them."""
    root = Path(house.__file__).resolve().parent.parent
    folders = ("analyzer", "docs", "parsers", "templates", "tests", "tools")
    found = []
    for folder in folders:
        for path in (root / folder).rglob("*"):
            if path.suffix not in (".py", ".yaml", ".csv", ".toml", ".md", ".html", ".js", ".css"):
                continue
            if "node_modules" not in path.parts and LEFT.search(path.read_text(encoding="utf-8")):
                found.append(path.relative_to(root).as_posix())
    assert LEFT.search("a\n<<<<<<< HEAD\nb\n") and found == []
