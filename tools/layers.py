"""The layers of the program, first to last: each may import itself and those above it.

`tests/system/test_imports.py` holds every module to this list, and `tools/docs.py` writes it into docs/architecture.md.
"""

from __future__ import annotations

import ast
from pathlib import Path

# (layer, {module or package of `analyzer`: what it does})
LAYERS: list[tuple[str, dict[str, str]]] = [
    (
        "runtime",
        {
            "runtime": "errors, limits, untrusted text and where it goes, output, paths, the folder of the cache"
        },
    ),
    (
        "records",
        {
            "case": "what the case document is made of: its records, verdicts, things to ask for, worst first",
            "secrets": "what no output may hold",
        },
    ),
    (
        "artefacts",
        {
            "artefacts": "how an artefact is declared, found and read: tables, parsers, TextFSM that knows the line of every value, samples, times, hosts, builds",
        },
    ),
    (
        "workers",
        {
            "workers": "child processes: a pool that does jobs, a process that talks in lines of JSON"
        },
    ),
    (
        "sources",
        {"sources": "open, walk, limit, salvage, decode, split transcripts, recognise kinds"},
    ),
    (
        "parsers",
        {
            "forms": "artefacts declared by their labels: blocks, tables, dumps of vsish, JSON twins",
            "parsers": "one artefact each",
        },
    ),
    ("search", {"scan": "line blocks, engines, literal pre-filter, hits"}),
    (
        "facts",
        {"facts": "rows and frames by table, with their origin; nodes and what was seen of each"},
    ),
    (
        "signals",
        {"signals": "what says trouble though no rule knows it: lines, cells of tables; weighed"},
    ),
    (
        "ingest",
        {
            "ingest": "from members to named rows: reader, log lines, lost rows, nodes, coverage, timeline, problems, topology"
        },
    ),
    (
        "rules",
        {
            "rules": "from a rule file to the model, the catalog, settings and packs; `language`: values that know their line, checked expressions, text templates"
        },
    ),
    (
        "judge",
        {
            "judge": "a rule as Python functions; log windows, trace, evidence, relations, near misses"
        },
    ),
    ("log", {"merged_log": "lines of all logs of a case, merged by time"}),
    ("report", {"report": "reads the case document and nothing else"}),
    (
        "redaction",
        {"redact": "pseudonyms for what is handed out, and the proof that no name is left"},
    ),
    (
        "pipeline",
        {
            "pipeline": "from paths to the case document: `triage` top to bottom, what is known before it is judged, host cards, the site, examples of rules"
        },
    ),
    ("views", {"views": "the commands `tables`, `esxtop`, `log` and `browse`"}),
    ("comparison", {"compare": "two cases: pairing, resets of counters, changes, the conclusion"}),
    (
        "archive",
        {
            "archive": "stored cases, see below",
            "watch_folder": "a folder whose new cases are triaged",
        },
    ),
    (
        "authoring",
        {
            "authoring": "tools of a rule's author: draft, fmt, lint, proof, explain, pages; `select`: which rules are meant"
        },
    ),
    ("library", {"library": "`open_case`: Backline in a program of one's own"}),
    ("hand-over", {"mcp_server": "tools of `backline mcp`: answers for programs that speak MCP"}),
    ("web", {"web": "the drag-in page, see below"}),
    (
        "command",
        {
            "commands": "the words typed",
            "cli": "the `backline` command",
            "__main__": "where it starts",
        },
    ),
]

# Rooms of `archive/`, first to last; "" is the room itself.
ARCHIVE = [
    "object_store",
    "",
    "packs",
    "restore",
    "batches",
    "upkeep",
    "query",
    "clusters",
    "backtests",
]


# Those of `web/`; the page itself is no Python.
WEB = ["guard", "cases", "questions", "rules", "page", ""]
BESIDE = {
    "archive": "names of entries, the snapshot, putting and getting, labels, claims",
    "web": "JSON, the routes, one run of the server",
}


def format_rooms(name: str) -> str:
    """Return the table of the rooms of `archive` or `web` as it is in docs/architecture.md: modules and job of each."""
    order = {"archive": ARCHIVE, "web": WEB}[name]
    top = Path(__file__).parent.parent / "analyzer" / name
    lines = [f"| `analyzer/{name}/…` | modules | job |", "|---|---|---|"]
    for room in order:
        folder = top / room
        modules = sorted(
            path.stem for path in folder.glob("*.py") if path.stem not in ("__init__", "__main__")
        )
        first = (
            ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
        )
        if room:
            job = f"{first[:1].lower()}{first[1:]}".splitlines()[0].rstrip(".")
        else:
            job = BESIDE[name]
        named = ", ".join(f"`{one}`" for one in modules) or "HTML, styles, scripts"
        lines.append(f"| {f'`{room}/`' if room else 'beside them'} | {named} | {job} |")
    return "\n".join(lines) + "\n"


def format_layers() -> str:
    """Return the table of layers as it is in docs/architecture.md."""
    lines = ["| layer | modules |", "|---|---|"]
    for layer, modules in LAYERS:
        lines.append(
            f"| {layer} | {'; '.join(f'`{name}`: {what}' for name, what in modules.items())} |"
        )
    return "\n".join(lines) + "\n"
