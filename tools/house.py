"""Measure how the code reads: what a line carries, how names speak, where imports and records are.

python tools/house.py            prints the table: the value today, the limit, the goal
python tools/house.py --check    the same, and exits with 1 when a value is worse than its limit
python tools/house.py --worst 20 adds the densest functions, to know where to start

Limits and goals are in `tools/house.toml`. A limit only ever moves towards its goal. The numbers serve a reviewer: two
plain statements beat one line with two comprehensions and a conditional, and a helper is called twice or says
something that the code does not.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMITS = Path(__file__).with_suffix(".toml")
PRODUCT = ("analyzer", "parsers", "tools")
HOUSE_WORD = re.compile(r"(?<![a-z])told(?![a-z])", re.IGNORECASE)
NAME_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
# Past participles that do not end in "ed", and words that end so and are none.
IRREGULAR = re.compile(
    "told|said|made|met|held|kept|shown|given|taken|seen|sent|built|bound|written|drawn|known|chosen|meant|begun|gone"
    "|done|torn|worn|borne|bought|brought|caught|laid|led|lost|paid|sold"
)
NO_PARTICIPLE = frozenset({"need", "embed", "feed", "seed", "speed", "exceed", "proceed"})
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class SourceFile:
    """One Python file of the product: its path below the repository, its text and its syntax tree."""

    path: Path
    text: str
    tree: ast.Module

    @property
    def area(self) -> str:
        """The top folder: analyzer, parsers or tools."""
        return self.path.parts[0]


@dataclass
class FunctionMeasure:
    """What one function costs its reader: its height in lines and its expression nodes, signature and docstring included."""

    name: str
    path: Path
    line: int
    height: int
    nodes: int

    @property
    def density(self) -> float:
        """Expression nodes a line."""
        return self.nodes / self.height


@dataclass
class Census:
    """What the whole product was counted to be."""

    files: list[SourceFile]
    functions: list[FunctionMeasure] = field(default_factory=list)
    values: dict[str, float] = field(default_factory=dict)


def list_files() -> list[Path]:
    """Return the Python files of the product that git tracks, or would track, in order."""
    patterns = [f"{area}/*.py" for area in PRODUCT]
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--"]
    listed = subprocess.run(
        [*command, *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return [Path(name) for name in sorted(set(listed)) if (ROOT / name).is_file()]


def read_files() -> list[SourceFile]:
    """Read and parse the product."""
    files = []
    for path in list_files():
        text = (ROOT / path).read_text(encoding="utf-8")
        files.append(SourceFile(path, text, ast.parse(text)))
    return files


def walk_own_nodes(function: Function) -> Iterator[ast.AST]:
    """Give the nodes of a function's body, those of functions defined inside it left out: they count for themselves."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, Function):
            waiting.extend(ast.iter_child_nodes(node))


def has_docstring(node: Function | ast.ClassDef | ast.Module) -> bool:
    """Say whether a definition begins with a docstring."""
    return ast.get_docstring(node, clean=False) is not None


def measure_functions(source: SourceFile) -> Iterator[FunctionMeasure]:
    """Measure every function and method of a file; one defined inside another counts in both."""
    for node in ast.walk(source.tree):
        if isinstance(node, Function):
            height = (node.end_lineno or node.lineno) - node.lineno + 1
            nodes = sum(isinstance(child, ast.expr) for child in ast.walk(node))
            yield FunctionMeasure(node.name, source.path, node.lineno, height, nodes)


def count_words(name: str) -> int:
    """Count the words of a name: `read_own_lines` has three."""
    return max(1, len(NAME_PARTS.findall(name)))


def is_magic(name: str) -> bool:
    """Say whether Python itself gave the name."""
    return name.startswith("__") and name.endswith("__")


def is_participle(name: str) -> bool:
    """Say whether a function's name is a past participle alone: `counted`, `joined`, `told`."""
    word = name.strip("_")
    return word not in NO_PARTICIPLE and bool(
        IRREGULAR.fullmatch(word) or re.fullmatch("[a-z]{2,}ed", word)
    )


def count_called_once(files: Iterable[SourceFile]) -> int:
    """Count the private functions that their own file names exactly once next to the definition."""
    total = 0
    for source in files:
        private = {
            node.name
            for node in ast.walk(source.tree)
            if isinstance(node, Function) and is_private(node.name)
        }
        uses: Counter[str] = Counter()
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Name) and node.id in private:
                uses[node.id] += 1
            elif isinstance(node, ast.Attribute) and node.attr in private:
                uses[node.attr] += 1
        total += sum(1 for name in private if uses[name] == 1)
    return total


def is_private(name: str) -> bool:
    """Say whether a name begins with an underscore and is not Python's own."""
    return name.startswith("_") and not is_magic(name)


def count_inner_imports(files: Iterable[SourceFile]) -> int:
    """Count the import statements inside functions."""
    total = 0
    for source in files:
        for node in ast.walk(source.tree):
            if isinstance(node, Function):
                total += sum(
                    isinstance(child, ast.Import | ast.ImportFrom) for child in walk_own_nodes(node)
                )
    return total


def count_nodes(files: Iterable[SourceFile], *kinds: type[ast.AST]) -> int:
    """Count the nodes of these kinds in whole files."""
    return sum(isinstance(node, kinds) for source in files for node in ast.walk(source.tree))


def count_key_subscripts(files: Iterable[SourceFile]) -> int:
    """Count the subscripts by a constant text: record["severity"]."""
    total = 0
    for source in files:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
                total += isinstance(node.slice.value, str)
    return total


def count_record_aliases(files: Iterable[SourceFile]) -> int:
    """Count the names that stand for `dict[str, Any]` in place of a record's type."""
    total = 0
    for source in files:
        for node in source.tree.body:
            if isinstance(node, ast.Assign | ast.AnnAssign):
                value = node.value
            else:
                value = None
            total += value is not None and ast.unparse(value) == "dict[str, Any]"
    return total


def map_folders(files: Iterable[SourceFile]) -> dict[str, str]:
    """Return the folder of each dotted module name; a module loose at the root of `analyzer` is a folder of its own."""
    folders = {}
    for source in files:
        name = name_module(source.path)
        if source.path.name == "__init__.py":
            package = name
        else:
            package = name.rpartition(".")[0]
        folders[name] = name if package == "analyzer" else package
    return folders


def name_module(path: Path) -> str:
    """Return the dotted name by which a file is imported: `parsers/esxi/logs/boot.py` is `analyzer.parsers.esxi.logs.boot`."""
    parts = list(path.with_suffix("").parts)
    if parts[0] == "parsers":
        parts.insert(0, "analyzer")
    if parts[-1] == "__init__":
        parts.pop()
    return ".".join(parts)


def find_folder(name: str, folders: dict[str, str]) -> str | None:
    """Return the folder of the module that a dotted name names or lies in, None for one that is not ours."""
    while name and name not in folders:
        name = name.rpartition(".")[0]
    return folders.get(name)


def map_folder_imports(files: Sequence[SourceFile]) -> dict[str, set[str]]:
    """Return which folders each folder imports, imports inside functions and those for types alone included."""
    folders = map_folders(files)
    arrows: dict[str, set[str]] = {}
    for source in files:
        own = folders[name_module(source.path)]
        for node in ast.walk(source.tree):
            for name in list_imported(node):
                target = find_folder(name, folders)
                if target not in (None, own, "analyzer"):
                    arrows.setdefault(own, set()).add(str(target))
    return arrows


def list_imported(node: ast.AST) -> list[str]:
    """Return the dotted names that an import statement brings, each name it takes from a module included."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


def find_circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of folders that reach one another (Tarjan), each in order of names."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    circles: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in sorted(arrows.get(node, ())):
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            group = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(group) > 1:
                circles.append(sorted(group))

    for start in sorted(arrows):
        if start not in index:
            visit(start)
    return circles


def count_documented(files: Iterable[SourceFile]) -> tuple[int, int]:
    """Return how many public functions and classes there are, and how many of them have a docstring."""
    public = documented = 0
    for source in files:
        for node in ast.walk(source.tree):
            if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_"):
                public += 1
                documented += has_docstring(node)
    return public, documented


def find_percentile(numbers: list[int], share: float) -> int:
    """Return the smallest number that `share` of them do not exceed."""
    ordered = sorted(numbers)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def take_census() -> Census:
    """Measure the product of this checkout."""
    census = Census(read_files())
    files = census.files
    for source in files:
        census.functions.extend(measure_functions(source))
    census.values = measure_sizes(files, census.functions)
    census.values |= measure_habits(files, census.functions)
    return census


def measure_sizes(
    files: Sequence[SourceFile], functions: Sequence[FunctionMeasure]
) -> dict[str, float]:
    """Return how large the product and its functions are."""
    heights = [one.height for one in functions]
    line_counts = [source.text.count("\n") for source in files]
    of_analyzer = [source for source in files if source.area == "analyzer"]
    return {
        "lines": sum(line_counts),
        "files": len(files),
        "function_lines_mean": sum(heights) / len(heights),
        "function_lines_p95": find_percentile(heights, 0.95),
        "longest_function": max(heights),
        "longest_module": max(line_counts),
        "nodes_a_line": sum(one.nodes for one in functions) / sum(heights),
        "analyzer_nodes": count_nodes(of_analyzer, ast.expr),
    }


def measure_habits(
    files: Sequence[SourceFile], functions: Sequence[FunctionMeasure]
) -> dict[str, float]:
    """Return how lines are written, how names read, and where imports and records are."""
    thousands = sum(source.text.count("\n") for source in files) / 1000
    comprehensions = count_nodes(files, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    names = [one.name for one in functions if not is_magic(one.name)]
    word_counts = [count_words(name) for name in names]
    of_analyzer = [source for source in files if source.area == "analyzer"]
    public, documented = count_documented(files)
    return {
        "comprehensions": comprehensions / thousands,
        "conditionals": count_nodes(files, ast.IfExp) / thousands,
        "called_once": 100 * count_called_once(files) / len(functions),
        "name_words": sum(word_counts) / len(word_counts),
        "one_word_names": 100 * word_counts.count(1) / len(word_counts),
        "participle_names": sum(map(is_participle, names)),
        "inner_imports": count_inner_imports(files),
        "key_subscripts": count_key_subscripts(files) / thousands,
        "record_aliases": count_record_aliases(files),
        "loose_modules": sum(len(source.path.parts) == 2 for source in of_analyzer),
        "package_circles": len(find_circles(map_folder_imports(files))),
        "word_told": sum(len(HOUSE_WORD.findall(source.text)) for source in files),
        "documented": 100 * documented / public,
    }


# What the table shows: the key and what it counts.
ROWS = {
    "lines": "Python lines of analyzer, parsers and tools",
    "files": "files",
    "function_lines_mean": "lines a function, mean",
    "function_lines_p95": "lines a function, 95 of 100",
    "longest_function": "lines of the longest function",
    "longest_module": "lines of the longest module",
    "nodes_a_line": "expression nodes a line of a function",
    "analyzer_nodes": "expression nodes of analyzer, all",
    "comprehensions": "comprehensions per 1,000 lines",
    "conditionals": "`a if b else c` per 1,000 lines",
    "called_once": "private functions with one call, % of all functions",
    "name_words": "words a function name",
    "one_word_names": "one-word function names, %",
    "participle_names": "functions named by a past participle alone",
    "inner_imports": "imports inside functions",
    "key_subscripts": '["key"] subscripts per 1,000 lines',
    "record_aliases": "aliases of dict[str, Any]",
    "loose_modules": "modules loose in analyzer/",
    "package_circles": "circles among folders",
    "word_told": "times the word `told`",
    "documented": "public names with a docstring, %",
}
MORE_IS_BETTER = frozenset({"name_words", "documented"})


@dataclass(frozen=True)
class Bound:
    """How bad a value may be today, and what it is to become."""

    limit: float | None = None
    goal: float | None = None


def read_bounds(path: Path = LIMITS) -> dict[str, Bound]:
    """Read limits and goals; a key that no row has is an error, or a limit would hold nothing."""
    written = tomllib.loads(path.read_text(encoding="utf-8"))
    unknown = sorted(set(written) - set(ROWS))
    if unknown:
        raise SystemExit(f"{path}: no such measure: {', '.join(unknown)}")
    return {key: Bound(**numbers) for key, numbers in written.items()}


def is_worse(key: str, value: float, bound: float) -> bool:
    """Say whether a value, rounded as it is printed, is on the wrong side of a bound."""
    value = round(value, 2)
    if key in MORE_IS_BETTER:
        return value < bound
    return value > bound


def list_failures(values: dict[str, float], bounds: dict[str, Bound]) -> list[str]:
    """Return a sentence for each value that is worse than its limit."""
    failures = []
    for key, bound in bounds.items():
        if bound.limit is not None and is_worse(key, values[key], bound.limit):
            failures.append(
                f"{ROWS[key]}: {show_number(values[key])}, and the limit is {show_number(bound.limit)}"
            )
    return failures


def show_number(number: float | None) -> str:
    """Write a number for the table: whole ones with thousands marked, others with two places."""
    if number is None:
        return ""
    if float(number).is_integer():
        return f"{number:,.0f}"
    return f"{number:,.2f}"


def print_table(values: dict[str, float], bounds: dict[str, Bound]) -> None:
    """Print a line for each measure: the value, its limit and its goal."""
    print(f"{'':55}{'value':>10}{'limit':>10}{'goal':>10}")
    for key, meaning in ROWS.items():
        bound = bounds.get(key, Bound())
        print(
            f"{meaning:55}{show_number(values[key]):>10}{show_number(bound.limit):>10}{show_number(bound.goal):>10}"
        )


def print_densest(functions: list[FunctionMeasure], count: int) -> None:
    """Print the functions that carry the most on a line, the densest first."""
    densest = sorted(functions, key=lambda one: (-one.density, str(one.path), one.line))
    for one in densest[:count]:
        print(f"{one.density:6.1f} nodes a line  {one.path}:{one.line} {one.name}")


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and with --check return 1 when a value is worse than its limit."""
    parser = argparse.ArgumentParser(description="Measure how the code reads.")
    parser.add_argument(
        "--check", action="store_true", help="exit with 1 when a value is worse than its limit"
    )
    parser.add_argument(
        "--worst", type=int, default=0, metavar="N", help="print the N densest functions as well"
    )
    options = parser.parse_args(arguments)
    census = take_census()
    bounds = read_bounds()
    print_table(census.values, bounds)
    print_densest(census.functions, options.worst)
    for circle in find_circles(map_folder_imports(census.files)):
        print(f"circle: {', '.join(circle)}")
    failures = list_failures(census.values, bounds) if options.check else []
    for failure in failures:
        print(f"worse than its limit: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
