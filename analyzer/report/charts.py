"""The charts of a case: of each metric the worst object first, marked at the incident."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from analyzer.case.document import CaseChart as SeriesChart
from analyzer.case.document import CaseDocument
from analyzer.report.sparkline import draw_sparkline
from analyzer.report.wording import (
    format_duration,
    format_number,
    format_span,
    parse_time,
    summarize_values,
)

LOW_IS_BAD = frozenset({"N%L", "PMEM free"})  # of these the least value is the worst
HALF_HOUR = 1800.0  # seconds shown on either side of the incident at first, where a chart is longer


@dataclass(slots=True)
class Chart:
    """What the page shows of a chart: two sizes of SVG, one sentence, a table.

    key, place  its name and its number in the document; at: the key of the chart whose samples it draws
    others      titles of charts that draw the same samples
    rows        of each line its label and its figures, None without any
    badness     greater the worse the chart is, among charts of one metric
    incident    where the incident is when it is not in the chart
    window      first and last second that are shown at first: the hour around the incident; "" for all
    """

    key: str
    place: int
    at: str
    title: str
    node: str
    unit: str
    times: list[str | int | float]
    rows: list[tuple[str, dict[str, float] | None]]
    metric: str
    named_unit: str
    period: str
    sentence: str
    small: Markup
    large: Markup
    badness: float = float("-inf")
    high: float | None = None
    incident: str = ""
    window: str = ""
    others: list[str] = field(default_factory=list)


def list_charts(doc: CaseDocument) -> list[Chart]:
    """Return the charts of a case, those of one metric behind each other, the worst first."""
    series = doc.series
    when = parse_time(doc.case.incident)
    titles_by_source: dict[str, list[str]] = {}
    for record in series.values():
        titles_by_source.setdefault(record.same_as, []).append(record.title)
    charts: list[Chart] = []
    for place, (key, record) in enumerate(series.items()):
        if record.same_as in series:
            source = record.same_as
        else:
            source = key
        chart = build_chart(key, place, source, record, series[source], when)
        titles = dict.fromkeys(titles_by_source.get(key, []))
        chart.others = [title for title in titles if title != chart.title]
        charts.append(chart)
    first_places: dict[str, int] = {}
    for chart in charts:
        first_places.setdefault(chart.metric, len(first_places))
    return sorted(charts, key=lambda one: (first_places[one.metric], -one.badness, one.place))


def build_chart(
    key: str, place: int, at: str, record: SeriesChart, source: SeriesChart, when: float | None
) -> Chart:
    """Return a chart of the document; `source` holds its samples, `when` is the incident."""
    title = record.title
    unit = record.unit
    lines = source.lines
    times = [time for time in map(parse_time, source.times) if time is not None]
    period = ""
    if times:
        period = format_span(source.times[0], source.times[-1])
    if lines:
        metric = lines[0].label
    else:
        metric = title
    rows = []
    known = []
    texts = []
    for line in lines:
        figures = summarize_values(line.values)
        rows.append((line.label, figures))
        if figures is not None:
            known.append(figures)
            low, high = map(format_number, (figures["min"], figures["max"]))
            mean = format_number(figures["mean"])
            texts.append(f"{line.label} from {low} to {high} {unit}, mean {mean} {unit}")
    figures_text = "; ".join(texts) or "no values"
    sentence = f"{title}: {figures_text}. {len(source.times):,} samples, {period}."
    values = [line.values for line in lines]
    mark = _find_share(when, times)
    chart = Chart(
        key=key,
        place=place,
        at=at,
        title=title,
        node=record.node,
        unit=unit,
        times=source.times,
        rows=rows,
        metric=metric,
        named_unit="" if unit.removeprefix("1") in metric else unit,
        period=period,
        sentence=sentence,
        small=draw_sparkline(values, sentence, mark=mark),
        large=draw_sparkline(values, sentence, width=900, height=140, mark=mark),
    )
    if known:
        chart.high = max(figures["max"] for figures in known)
        if metric in LOW_IS_BAD:
            chart.badness = -min(figures["min"] for figures in known)
        else:
            chart.badness = chart.high
    if when is not None and times:
        place_incident(chart, when, times)
    return chart


def place_incident(chart: Chart, when: float, times: Sequence[float]) -> None:
    """Note how far the incident is from the samples, or the window around it that the page opens with."""
    first = min(times)
    last = max(times)
    if when < first:
        before = format_duration(first - when)
        chart.incident = f"the incident is {before} before the first sample"
    elif when > last:
        after = format_duration(when - last)
        chart.incident = f"the incident is {after} after the last sample"
    elif last - first > 2 * HALF_HOUR:
        begin = when - HALF_HOUR
        end = when + HALF_HOUR
        chart.window = f"{begin:.0f},{end:.0f}"


def _find_share(when: float | None, times: list[float]) -> float | None:
    """Return where on the axis the incident lies, from 0 to 1; None where it is not on it."""
    if when is None or len(times) < 2 or times != sorted(times):
        return None
    if not times[0] <= when <= times[-1]:
        return None
    before = max(place for place, time in enumerate(times) if time <= when)
    after = min(before + 1, len(times) - 1)
    step = times[after] - times[before]
    passed = 0.0
    if step:
        passed = (when - times[before]) / step
    return min(1.0, (before + 0.5 + passed) / len(times))  # samples are drawn evenly
