"""The layers of the program, first to last: each may import itself and those above it.

`tests/test_imports.py` holds every module to this list, and `tools/docs.py` writes it into docs/architecture.md.
"""

from __future__ import annotations

import ast
from pathlib import Path

# (layer, {module or package of `analyzer`: what it does})
LAYERS: list[tuple[str, dict[str, str]]] = [
    (
        "vocabulary",
        {
            "errors": "what went wrong, where, why, what to do",
            "limits": "bounds on hostile or broken input",
            "verdicts": "what a rule says of a subject",
            "ranking": "worst first: the one order of findings, stories, hosts and objects",
            "text": "untrusted text and the outputs it goes to",
            "short_lines": "a line at a width: names lose their middle, values stay",
            "secrets": "what no output may hold",
            "asks": "what to request from a customer: commands, files and remarks as records",
            "reasons": "one sentence for what many subjects lack",
            "guard": "a stage that fails costs its own part",
            "result_files": "names of the files every case ends in",
            "paths": "paths of this machine",
            "safepath": "no import from the current folder",
            "garbage": "how often Python looks for circles among objects",
            "cache_folder": "what can be made again: rules that were read, patterns that were compiled",
        },
    ),
    (
        "tables",
        {
            "tables": "how a table is declared",
            "pattern_notes": "what follows from the text of a pattern, kept",
            "samples": "samples of many objects in little memory",
            "builds": "build numbers and their releases",
            "logtime": "printed times as UTC",
            "loghost": "the host a line names, and the object of an event",
        },
    ),
    ("workers", {"workers": "child processes: a pool that does jobs, a process that talks in lines of JSON"}),
    ("sources", {"sources": "open, walk, limit, salvage, decode, split transcripts, recognise kinds"}),
    (
        "parsing",
        {
            "parsing": "how a parser is declared, found and run",
            "parser_index": "the declarations of all parsers in one file of the wheel",
            "machine": "TextFSM that knows the line of every value",
            "forms": "artefacts declared by their labels: blocks, tables, dumps of vsish, JSON twins",
            "parsers": "one artefact each",
        },
    ),
    ("search", {"scan": "line blocks, engines, literal pre-filter, hits"}),
    ("facts", {"facts": "rows and frames by table, with their origin; nodes and what was seen of each"}),
    (
        "ingest",
        {
            "ingest": "from members to named rows: reader, log lines, lost rows, nodes, coverage, timeline, problems, topology"
        },
    ),
    (
        "language",
        {"language": "rule files as values that know their line; checked expressions, text templates, commands"},
    ),
    ("rules", {"rules": "from a rule file to the model, the catalog, settings and packs"}),
    ("judge", {"judge": "a rule as Python functions; log windows, trace, evidence, relations, near misses"}),
    (
        "case",
        {
            "case": "the case document",
            "case_shape": "its records",
            "case_check": "what of it no report could read",
            "given_things": "what of the things to ask for a machine sent already",
        },
    ),
    (
        "report",
        {
            "report": "reads the case document and nothing else",
            "finding_names": "the finding that somebody names, by its number in the reports or by words",
        },
    ),
    ("redaction", {"redact": "pseudonyms for what is handed out, and the proof that no name is left"}),
    (
        "pipeline",
        {
            "triage": "from paths to the case document, top to bottom",
            "host_cards": "the card of each host, from the tables of the case",
            "site_picture": "the records of an NSX site: members, channels, clocks",
            "host_card_rows": "what it shows: one line for each table",
            "case_data": "all that is known of a case before it is judged",
            "case_tables": "the tables of a case, read without judging it",
            "tableview": "the command `tables`",
            "topview": "the command `esxtop`",
            "merged_log": "the command `log`: lines of all logs of a case, merged by time",
            "examples": "runs the examples of rules",
            "output": "writes into the output folder only, whole or not at all",
        },
    ),
    ("comparison", {"compare": "cases beside each other: pairing, resets of counters, changes, the conclusion"}),
    ("archive", {"archive": "stored cases, see below", "watch_folder": "a folder whose new cases are triaged"}),
    (
        "authoring",
        {
            "authoring": "tools of a rule's author: draft, fmt, lint, proof, explain, pages; `select`: which rules are meant"
        },
    ),
    ("library", {"library": "`open_case`: Backline in a program of one's own"}),
    ("web", {"web": "the drag-in page, see below"}),
    (
        "command",
        {
            "commands": "the words typed",
            "cli": "the `backline` command",
            "wheel": "what a wheel brings beside its sources",
            "__main__": "where it starts",
        },
    ),
]

# Rooms of `archive/`, first to last; "" is the room itself.
ARCHIVE = ["object_store", "", "packs", "restore", "batches", "upkeep", "query", "clusters", "backtests"]


# Those of `web/`; the page itself is no Python.
WEB = ["guard", "cases", "questions", "rules", "page", ""]
BESIDE = {
    "archive": "names of entries, the snapshot, putting and getting, labels, claims",
    "web": "JSON, the routes, one run of the server",
}


def rooms(name: str) -> str:
    """Return the table of the rooms of `archive` or `web` as it stands in docs/architecture.md: modules and job of each."""
    order, top = {"archive": ARCHIVE, "web": WEB}[name], Path(__file__).parent.parent / "analyzer" / name
    lines = [f"| `analyzer/{name}/…` | modules | job |", "|---|---|---|"]
    for room in order:
        folder = top / room
        modules = sorted(path.stem for path in folder.glob("*.py") if path.stem not in ("__init__", "__main__"))
        first = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
        job = f"{first[:1].lower()}{first[1:]}".splitlines()[0].rstrip(".") if room else BESIDE[name]
        named = ", ".join(f"`{one}`" for one in modules) or "HTML, styles, scripts"
        lines.append(f"| {f'`{room}/`' if room else 'beside them'} | {named} | {job} |")
    return "\n".join(lines) + "\n"


def markdown() -> str:
    """Return the table of layers as it stands in docs/architecture.md."""
    lines = ["| layer | modules |", "|---|---|"]
    for layer, modules in LAYERS:
        lines.append(f"| {layer} | {'; '.join(f'`{name}`: {what}' for name, what in modules.items())} |")
    return "\n".join(lines) + "\n"
