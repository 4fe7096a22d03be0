"""The charts of a case: of each metric the worst object first, marked at the incident."""

from __future__ import annotations

from analyzer.report import wording
from analyzer.report.sparkline import draw_sparkline
from analyzer.report.wording import Doc

LOW_IS_BAD = frozenset({"N%L", "PMEM free"})  # of these the least value is the worst
HALF_HOUR = 1800.0  # seconds shown on either side of the incident at first, where a chart is longer


def list_charts(doc: Doc) -> list[Doc]:
    """Return what the template shows of each chart, those of one metric behind each other, the worst first.

    `others` are titles of charts that draw the same samples; `place` is the number of the chart in the document.
    """
    series = doc["series"]
    when = wording.parse_time(doc["case"]["incident"])
    others: dict[str, list[str]] = {}
    for chart in series.values():
        others.setdefault(chart["same_as"], []).append(chart["title"])
    made: list[Doc] = []
    for key, own in series.items():
        at = own["same_as"] if own["same_as"] in series else key
        chart = {**own, "times": series[at]["times"], "lines": series[at]["lines"]}
        same = [title for title in others.get(key, []) if title != own["title"]]
        made.append(
            {
                **_build_chart(key, chart, when),
                "place": len(made),
                "at": at,
                "others": list(dict.fromkeys(same)),
            }
        )
    first: dict[str, int] = {}
    for chart in made:
        first.setdefault(chart["metric"], len(first))
    return sorted(made, key=lambda one: (first[one["metric"]], -one["badness"], one["place"]))


def _build_chart(key: str, chart: Doc, when: float | None) -> Doc:
    """Return what the template shows of a chart: two sizes of SVG, one sentence, a table."""
    rows = [(line["label"], wording.summarize_values(line["values"])) for line in chart["lines"]]
    times = [time for time in map(wording.parse_time, chart["times"]) if time is not None]
    period = wording.format_span(chart["times"][0], chart["times"][-1]) if times else ""
    metric = chart["lines"][0]["label"] if chart["lines"] else chart["title"]
    said = "; ".join(
        f"{label} from {wording.format_number(row['min'])} to {wording.format_number(row['max'])} {chart['unit']}, "
        f"mean {wording.format_number(row['mean'])} {chart['unit']}"
        for label, row in rows
        if row
    )
    sentence = (
        f"{chart['title']}: {said or 'no values'}. {len(chart['times']):,} samples, {period}."
    )
    values = [line["values"] for line in chart["lines"]]
    mark = _find_share(when, times)
    return {
        **chart,
        "key": key,
        "rows": rows,
        "metric": metric,
        "named_unit": "" if chart["unit"].removeprefix("1") in metric else chart["unit"],
        "badness": _rate_badness(metric, [row for _, row in rows if row]),
        "sentence": sentence,
        "period": period,
        "incident": _describe_incident(when, times),
        "window": _find_window(when, times),
        "high": max((row["max"] for _, row in rows if row), default=None),
        "small": draw_sparkline(values, sentence, mark=mark),
        "large": draw_sparkline(values, sentence, width=900, height=140, mark=mark),
    }


def _rate_badness(metric: str, rows: list[dict[str, float]]) -> float:
    """Return a number that is greater the worse a chart is, among charts of one metric."""
    if not rows:
        return float("-inf")
    return (
        -min(row["min"] for row in rows)
        if metric in LOW_IS_BAD
        else max(row["max"] for row in rows)
    )


def _find_share(when: float | None, times: list[float]) -> float | None:
    """Return where on the axis the incident lies, from 0 to 1; None where it is not on it."""
    if (
        when is None
        or len(times) < 2
        or not min(times) <= when <= max(times)
        or times != sorted(times)
    ):
        return None
    before = [place for place, time in enumerate(times) if time <= when][
        -1
    ]  # samples are drawn evenly
    step = times[min(before + 1, len(times) - 1)] - times[before]
    return min(1.0, (before + 0.5 + ((when - times[before]) / step if step else 0.0)) / len(times))


def _describe_incident(when: float | None, times: list[float]) -> str:
    """Say where the incident lies when it is not in the chart."""
    if when is None or not times:
        return ""
    if when < min(times):
        return (
            f"the incident is {wording.format_duration(min(times) - when)} before the first sample"
        )
    if when > max(times):
        return f"the incident is {wording.format_duration(when - max(times))} after the last sample"
    return ""


def _find_window(when: float | None, times: list[float]) -> str:
    """Return first and last second that are shown at first: the hour around the incident; "" for all."""
    if when is None or not times or not min(times) <= when <= max(times):
        return ""
    return (
        f"{when - HALF_HOUR:.0f},{when + HALF_HOUR:.0f}"
        if max(times) - min(times) > 2 * HALF_HOUR
        else ""
    )
