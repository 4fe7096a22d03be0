"""What a wheel brings beside its sources; setup.py calls it."""

from __future__ import annotations

import re
from pathlib import Path

import click

from analyzer import __version__
from analyzer.artefacts import parsing
from analyzer.commands import manual
from analyzer.ingest import known_files
from analyzer.pipeline.triage import list_signatures
from analyzer.redact import signedlines, textforms
from analyzer.report.compiling import compile_templates
from analyzer.rules.catalog import load, write_shipped
from analyzer.runtime import snapshot
from analyzer.scan.engines import Needle


def complete_wheel(package: Path) -> None:
    """Write what every run would work out again into a copy of the package, and the compiled templates."""
    compile_templates(package / "report")  # modules, for which a snapshot counts as well
    snapshot.write_brought(package, parsing.PARSERS, parsing.import_declarations())
    note_patterns()
    snapshot.write_answers(package)
    write_shipped(package)


def write_man_page(folder: Path, main: click.Group) -> Path:
    """Write the man page of the command into a folder, which is made; return its file."""
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "backline.1"
    page.write_text(manual.write_man_page(main, __version__), encoding="utf-8", newline="\n")
    return page


def note_patterns() -> None:
    """Work out what a run asks of the patterns of the parsers and of what is looked for in logs."""
    known_files.note_patterns(parsing.registry().values())
    for one in list_signatures(load().signatures()):
        Needle.of(one.pattern, re.IGNORECASE if one.ignore_case else 0)
    for _, _, pattern in textforms.text_signs():
        signedlines.needed_words(pattern)
