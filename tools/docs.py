"""Write what is made of the program: the pages that are not in git, and the generated files that are.

python tools/docs.py            docs/rules.md, tables.md, cli.md, backline.1 and both schemas, which git ignores;
                                analyzer/redact/words.txt, analyzer/signals/word_odds.csv and the tables of layers and
                                rooms in docs/architecture.md, which are in git
python tools/docs.py -o DIR     the former alone, into a folder
python tools/docs.py --check    exits with 1 when one of the latter is not fresh
"""

from __future__ import annotations

import argparse
import ast
import ipaddress
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from analyzer import cli
from analyzer.commands.made_pages import list_page_makers
from analyzer.redact.words import words_of
from tools import layers, word_odds

ROOT = Path(__file__).resolve().parent.parent


def made_pages() -> dict[str, Callable[[], str]]:
    """Return how each page of the documentation is made that is no file of the repository, by its name."""
    return list_page_makers(cli.main)


def architecture_page() -> str:
    """The page as it is, with the tables of layers and rooms as the code has them."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for table in (
        layers.format_layers(),
        layers.format_rooms("archive"),
        layers.format_rooms("web"),
    ):
        head = table[: table.index("\n") + 1]
        before, _, rest = page.partition(head)
        page = before + table + rest[rest.index("\n\n") + 1 :]
    return page


_NUMBER = re.compile(r"(?<!\w)\d{5,}(?!\w)")
_FOUR_NUMBERS = re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?!\d|\.\d)")


def _is_public(version: str) -> bool:
    """Say whether four numbers that the catalog says are of a version; an address of a private network is an example."""
    try:
        return ipaddress.IPv4Address(version).is_global
    except ValueError:
        return False


def product_words() -> str:
    """Every word that the program itself may say: rules without their examples, tables, pages, sentences in its code;
    versions of drivers, which look like addresses, numbers of articles, which look like those of tickets, and the
    names of rules.
    """

    def read_texts(path: Path) -> Iterator[str]:
        if path.suffix == ".py":
            tree = ast.parse(path.read_text(encoding="utf-8"))
            own = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            parts = (
                node
                for node in ast.walk(tree)
                if isinstance(node, ast.Constant) and id(node) not in own
            )
            return (part.value for part in parts if isinstance(part.value, str))
        text = path.read_text(encoding="utf-8")
        return (
            part
            for part in re.split(r"^(?=\w)", text, flags=re.MULTILINE)
            if not part.startswith("examples:")
        )

    room = ROOT / "analyzer"
    unheard = {"redact", "commands", "web", "authoring", "cli.py"}  # what they say is in no report
    code = [one for one in room.rglob("*.py") if one.relative_to(room).parts[0] not in unheard]
    code += sorted((ROOT / "parsers").rglob("*.py"))
    texts = [
        *code,
        *room.glob("kb/facts/*.csv"),
        *room.rglob("kb/*/*.yaml"),
        room / "kb" / "shared.yaml",
    ]
    pages = [path for end in ("html", "css", "js") for path in (room / "report").rglob(f"*.{end}")]
    found = words_of(part for path in texts for part in read_texts(path))
    found |= words_of((path.read_text(encoding="utf-8") for path in pages), digits=True)
    found |= words_of((path.stem for path in room.rglob("kb/*/*.yaml")), digits=True)
    said = "\n".join(part for path in texts if "kb" in path.parts for part in read_texts(path))
    found |= {version for version in _FOUR_NUMBERS.findall(said) if _is_public(version)}
    found |= set(_NUMBER.findall(said))
    return "\n".join(sorted(found)) + "\n"


# What is made and stays in git: files that the program reads at run time, and a page with tables among its text.
KEPT: dict[str, Callable[[], str]] = {
    "analyzer/redact/words.txt": product_words,
    "analyzer/signals/word_odds.csv": word_odds.write_table,  # of words that words.txt has
    "docs/architecture.md": architecture_page,
}


def write_pages(folder: Path) -> None:
    """Write the pages that are no files of the repository into a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in made_pages().items():
        (folder / name).write_text(make(), encoding="utf-8", newline="\n")


def stale_files() -> list[str]:
    """Return the files of KEPT that are not what would be written today."""
    return [
        name for name, make in KEPT.items() if (ROOT / name).read_text(encoding="utf-8") != make()
    ]


def main(words: Sequence[str] | None = None) -> int:
    """Write or check the files; returns the exit code."""
    parser = argparse.ArgumentParser(description="Write the generated pages and files.")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        help="write only the pages that are not in git, into this folder",
    )
    parser.add_argument(
        "--check", action="store_true", help="exit with 1 when a generated file in git is not fresh"
    )
    given = parser.parse_args(words)
    if given.check:
        stale = stale_files()
        if stale:
            print(f"{', '.join(stale)}: not fresh; run `python tools/docs.py`", file=sys.stderr)
        return 1 if stale else 0
    write_pages(given.output or ROOT / "docs")
    if given.output is None:
        for name, make in KEPT.items():
            (ROOT / name).write_text(make(), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
