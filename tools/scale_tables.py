"""The tables of docs/scale.md, from the results of tools/scale.py; a cell without a result says "not measured"."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

NONE = "not measured"

# Public list prices in USD, S3 Standard, us-east-1; the source and its date are in docs/scale.md.
USD_PER_LIST, USD_PER_GET, USD_PER_GB_MONTH = 0.005 / 1000, 0.0004 / 1000, 0.023
MILLION = 1_000_000
KEYS_A_PAGE = 1000
SEGMENT_CASES = (500, 5000)


def make_blocks(results: dict[str, Any]) -> dict[str, str]:
    """Return the Markdown blocks by name, in the order of the page."""
    counts = sorted({int(key.partition("/")[2]) for key in results if "/" in key})
    return {
        "machine": describe_machine(results),
        "batch": format_batch(results, counts),
        "size": format_size(results, counts),
        "queries": format_queries(results, counts),
        "acts": format_acts(results, counts),
        "processes": format_processes(results),
        "names": format_names(results),
        "million": format_million(results, counts),
    }


def write_blocks(page: Path, made: dict[str, str]) -> None:
    """Put each block between its markers `<!-- measured: name -->` and `<!-- end -->` of a page."""
    text = page.read_text("utf-8")
    for name, block in made.items():
        found = re.search(rf"<!-- measured: {name} -->\n(.*?\n)<!-- end -->", text, re.DOTALL)
        if not found:
            raise SystemExit(f"{page} has no marker for {name}")
        text = f"{text[: found.start(1)]}{block}\n{text[found.end(1) :]}"
    page.write_text(text, "utf-8")


def describe_machine(results: dict[str, Any]) -> str:
    found = results.get("machine")
    if not found:
        return NONE
    loads = []
    for key, value in results.items():
        if isinstance(value, dict) and "load" in value and key != "machine":
            loads.append(value["load"])
    if max(loads, default=0) > 1:
        busy = f" Load before a step up to {max(loads):.1f}: other work ran beside."
    else:
        busy = ""
    what = f"{found['cores']} cores ({found['architecture']}), {found['memory_gb']} GB, {found['system']}"
    return f"{what}, {found['python']}, a local disk; medians where a step was repeated.{busy}"


def get_figure(results: dict[str, Any], step: str, count: int, name: str) -> Any:
    return results.get(f"{step}/{count}", {}).get(name)


def format_table(head: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def format_counts(counts: list[int], rows: list[list[str]]) -> str:
    return format_table(["", *(f"{count:,} cases" for count in counts)], rows)


def format_row(label: str, counts: list[int], cell: Callable[[int], str | None]) -> list[str]:
    cells = []
    for count in counts:
        try:
            cells.append(cell(count) or NONE)
        except (TypeError, KeyError):
            cells.append(NONE)
    return [label, *cells]


def format_seconds(value: float) -> str:
    if value >= 120:
        return f"{value / 60:.1f} min"
    if value >= 10:
        return f"{value:.1f} s"
    return f"{value:.2f} s"


def format_batch(results: dict[str, Any], counts: list[int]) -> str:
    def got(step: str, name: str, form: Callable[[Any], str]) -> Callable[[int], str | None]:
        return lambda count: form(get_figure(results, step, count, name))

    def each(step: str) -> Callable[[int], str | None]:
        return lambda count: f"{1000 * get_figure(results, step, count, 'cpu') / count:.0f} ms"

    def memory(value: float) -> str:
        return f"{value:.0f} MB"

    rows = [
        ("first batch, wall", got("first", "wall", format_seconds)),
        ("… cases/s", got("first", "rate", "{:.1f}".format)),
        ("… MB/s of what was uploaded", got("first", "mb_s", "{:.2f}".format)),
        ("… processor time per case", each("first")),
        ("… peak memory of the parent", got("first", "parent_mb", memory)),
        ("… of the biggest worker", got("first", "worker_mb", memory)),
        ("second run, nothing new", got("second", "wall", format_seconds)),
        ("… times as fast", got("second", "ratio", "{:.0f} x".format)),
        ("changed catalog, from loose facts", got("rejudge", "wall", format_seconds)),
        ("… processor time per case", each("rejudge")),
        ("changed catalog, from compacted facts", got("rejudge-compacted", "wall", format_seconds)),
        ("… processor time per case", each("rejudge-compacted")),
    ]
    return format_counts(counts, [format_row(label, counts, cell) for label, cell in rows])


def format_size(results: dict[str, Any], counts: list[int]) -> str:
    def kb(step: str) -> Callable[[int], str | None]:
        return lambda count: f"{get_figure(results, step, count, 'per_case') / 1000:.1f} KB"

    rows = [
        (
            "upload per case",
            lambda count: f"{get_figure(results, 'first', count, 'bytes') / count / 1000:.1f} KB",
        ),
        ("archive per case, loose", kb("loose")),
        ("archive per case, compacted", kb("compact")),
        ("objects, loose", lambda count: f"{get_figure(results, 'loose', count, 'objects'):,}"),
        (
            "objects, compacted",
            lambda count: f"{get_figure(results, 'compact', count, 'objects'):,}",
        ),
        ("compaction", lambda count: format_seconds(get_figure(results, "compact", count, "wall"))),
        (
            "verification, loose",
            lambda count: format_seconds(get_figure(results, "loose", count, "verify")),
        ),
        (
            "verification, compacted",
            lambda count: format_seconds(get_figure(results, "verify", count, "wall")),
        ),
    ]
    return format_counts(counts, [format_row(label, counts, cell) for label, cell in rows])


def format_queries(results: dict[str, Any], counts: list[int]) -> str:
    def took(step: str, name: str) -> Callable[[int], str | None]:
        return lambda count: format_seconds(get_figure(results, step, count, name))

    names = [
        name
        for count in counts
        for name in results.get(f"queries/{count}", {})
        if name not in ("start", "load")
    ]
    rows = []
    for name in dict.fromkeys(names):
        rows.append(format_row(f"{name}, loose", counts, took("loose", name)))
        rows.append(format_row(f"{name}, compacted", counts, took("queries", name)))
    rules = [
        rule for count in counts for rule in results.get(f"backtest/{count}", {}) if rule != "load"
    ]
    for rule in dict.fromkeys(rules):
        rows.append(format_row(f"back-test of {rule}, compacted", counts, took("backtest", rule)))
    rows.append(
        format_row("for comparison: start of the program alone", counts, took("queries", "start"))
    )
    return format_counts(counts, rows)


def format_acts(results: dict[str, Any], counts: list[int]) -> str:
    def took(name: str) -> Callable[[int], str | None]:
        return lambda count: f"{get_figure(results, 'acts', count, name):.1f} ms"

    names = [
        name for count in counts for name in results.get(f"acts/{count}", {}) if name != "load"
    ]
    rows = [format_row(name, counts, took(name)) for name in dict.fromkeys(names)]
    return format_counts(counts, rows)


def format_processes(results: dict[str, Any]) -> str:
    rows = []
    for key, what in (
        ("processes", "{count:,} synthetic cases"),
        ("real", "{bundles} bundles of {low:.0f} to {high:.0f} MB, {all:.0f} MB in all"),
    ):
        found = results.get(key)
        if not found:
            rows.append([what.partition("{")[0] or key, *[NONE] * 5])
            continue
        low, high, whole = (found.get(name, 0) / 1e6 for name in ("smallest", "largest", "bytes"))
        label = what.format(
            count=found.get("count", 0),
            bundles=found.get("bundles", 0),
            low=low,
            high=high,
            all=whole,
        )
        if "mb_s" in found:
            rate = f"{found['mb_s']:.0f} MB/s"
        else:
            rate = f"{found['count'] / found['wall_2']:.1f} cases/s"
        rows.append(
            [
                label,
                format_seconds(found["wall_1"]),
                format_seconds(found["wall_2"]),
                f"{found['scaling']:.2f} x cores",
                rate,
                f"{found['parent_mb']:.0f} and {found['worker_mb']:.0f} MB",
            ]
        )
    table = format_table(
        [
            "",
            "1 process",
            "2 processes",
            "scaling",
            "rate with 2",
            "peak memory, parent and biggest worker",
        ],
        rows,
    )
    if found := results.get("broken"):
        lost = f"{100 * found['lost']:.0f} % longer (processor: {100 * found['lost_cpu']:.0f} %)"
        table += (
            f"\n\n{found['broken']} broken uploads among {found['count']} cases made the run {lost} than its sound "
            "cases alone. A bundle that is cut or damaged is read as far as it goes and costs what a sound one costs."
        )
    return table


def format_names(results: dict[str, Any]) -> str:
    rows = []
    for key, one in results.get("names", {}).items():
        count, _, size = key.partition("/")
        if size:
            if int(size):
                where = f"in segments of {int(size):,}, {one['read_mb']:.0f} MB of manifests"
            else:
                where = "loose"
            rows.append(
                [
                    f"{int(count):,} cases, {where}",
                    format_seconds(one["wall"]),
                    f"{one['mb']:.0f} MB",
                ]
            )
    if rows:
        return format_table(["", "snapshot", "memory"], rows)
    return NONE


# --- one million cases ----------------------------------------------------------------------------


def format_million(results: dict[str, Any], counts: list[int]) -> str:
    """The arithmetic of docs/scale.md, from the largest measured set."""
    measured = [
        count for count in counts if f"compact/{count}" in results and f"first/{count}" in results
    ]
    if not measured:
        return NONE
    count = measured[-1]
    first = results[f"first/{count}"]
    loose = results.get(f"loose/{count}", {})
    compact = results[f"compact/{count}"]
    compact_ms = compact["wall"] / count * 1000
    compact_gb = compact["per_case"] * MILLION / 1e9
    rows = [
        project_cpu("first batch", first["cpu"] / count),
        project_storage("storage, loose", loose["per_case"]),
        project_storage("storage, compacted", compact["per_case"]),
        [
            "… a month in an object store",
            f"{compact_gb:.0f} GB x {USD_PER_GB_MONTH} USD",
            f"{compact_gb * USD_PER_GB_MONTH:.2f} USD",
        ],
        [
            "compaction",
            f"{compact_ms:.1f} ms x 1,000,000, one process",
            f"{compact_ms / 1000 * MILLION / 3600:.1f} hours",
        ],
    ]
    again = results.get(f"rejudge-compacted/{count}") or results.get(f"rejudge/{count}")
    if again:
        hours = again["cpu"] / count * MILLION / 3600
        rows.append(project_cpu("roll-out of a changed catalog", again["cpu"] / count))
        rows.append(
            [
                "… machines of 16 cores for a night of 8 hours",
                f"{hours:.1f} / (16 x 8 x 0.85)",
                f"{math.ceil(hours / (16 * 8 * 0.85))}",
            ]
        )
    if "real" in results:
        rows += project_bundles(results["real"])
    rows += format_listing(compact)
    return format_table(["", "arithmetic", "result"], rows)


def project_cpu(label: str, seconds: float) -> list[str]:
    """Return the row on the processor time of a million cases."""
    hours = seconds * MILLION / 3600
    return [label, f"{seconds * 1000:.0f} ms of processor x 1,000,000", f"{hours:.0f} CPU hours"]


def project_storage(label: str, size: float) -> list[str]:
    """Return the row on the storage of a million cases."""
    return [label, f"{size / 1000:.1f} KB x 1,000,000", f"{size * MILLION / 1e9:.0f} GB"]


def project_bundles(real: dict[str, Any]) -> list[list[str]]:
    """Return the rows on a million bundles of real size."""
    bundles = real["bundles"]
    seconds = real["cpu"] / bundles
    stored = real["stored"] / bundles
    megabytes = real["bytes"] / bundles / 1e6
    return [
        [
            f"a first batch of bundles of {megabytes:.0f} MB instead",
            f"{seconds:.1f} s of processor x 1,000,000",
            f"{seconds * MILLION / 3600:,.0f} CPU hours",
        ],
        [
            "… archive",
            f"{stored / 1e3:,.0f} KB x 1,000,000, loose",
            f"{stored * MILLION / 1e9:,.0f} GB",
        ],
    ]


def format_listing(compact: dict[str, Any]) -> list[list[str]]:
    """The lines on objects and listings, loose and in two sizes of segment."""
    rows = [
        [
            "loose: objects, pages of 1,000 keys",
            "1,000,000 / 1,000",
            f"{MILLION // KEYS_A_PAGE:,} LIST requests, {MILLION / KEYS_A_PAGE * USD_PER_LIST:.3f} USD a command",
        ]
    ]
    segments = compact.get("segments")
    if not segments:
        return rows
    each = compact["segment_objects"] / segments
    for size in SEGMENT_CASES:
        number = MILLION / size
        objects = number * each
        pages = 2 * math.ceil(objects / KEYS_A_PAGE)  # segments are listed until two listings agree
        cost = pages * USD_PER_LIST + number * USD_PER_GET
        label = f"segments of {size:,} cases: objects, listed twice; one manifest each to read"
        arithmetic = f"{number:,.0f} segments x {each:.0f} files = {objects:,.0f}"
        rows.append(
            [
                label,
                arithmetic,
                f"{pages:,} LIST and {number:,.0f} GET requests, {cost:.5f} USD a command",
            ]
        )
    return rows
