"""Charts as SVG made by the server: no script, sharp in print, readable by a screen reader.

Only attributes, never `style=`, so that the page's content policy holds.
"""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from analyzer.report.time_axis import TimeAxis
from analyzer.runtime.text import make_visible

COLUMNS = 300
_LINE = Markup('<path class="line line{index}" d="{path}"/>')
_SVG = Markup(
    '<svg class="spark" viewBox="0 0 {width} {height}" preserveAspectRatio="none" role="img">'
    "<title>{title}</title>{body}</svg>"
)
_TICK = Markup('<path class="tick {kind}" d="M{x} {top}V{bottom}"/>')
_TICKS = Markup("<g><title>{title}</title>{ticks}</g>")  # a finding and its event have one text
_AXIS = Markup('<path class="axis" d="M{left} 24H{right}"/>')

# Kind of a moment -> upper and lower end of its tick.
_TICK_ENDS = {
    "hit": (12, 24),
    "event": (6, 24),
    "boot": (0, 24),
    "capture": (0, 24),
    "incident": (0, 28),
}


def draw_sparkline(
    lines: Sequence[Sequence[float | None]],
    title: str,
    *,
    width: int = COLUMNS,
    height: int = 40,
    mark: float | None = None,
) -> Markup:
    """Return the lines over a common scale from 0 (or the least value) to the greatest.

    mark  where the incident lies, from 0 to 1

    At most `width` columns are drawn; a column holds the least and the greatest
    value that fall into it, so that a single peak is not lost. Unknown values
    are gaps.
    """
    known = [value for values in lines for value in values if value is not None]
    low = min([0.0, *known])
    high = max([0.0, *known])
    body = Markup()
    for index, values in enumerate(lines):
        path = _draw_path(fold_columns(values, width), low, high, width, height)
        body += _LINE.format(index=min(index, 5), path=path)
    if mark is not None:
        x = f"{mark * width:.1f}"
        body += _TICK.format(kind="moment", x=x, top=0, bottom=height, title="the incident")
    return _SVG.format(width=width, height=height, title=make_visible(title), body=body)


def fold_columns(values: Sequence[float | None], most: int) -> list[tuple[float, float] | None]:
    """Return (first met extreme, other extreme) of at most `most` stretches; None if nothing is known."""
    count = min(most, len(values))
    columns: list[tuple[float, float] | None] = []
    for column in range(count):
        start = column * len(values) // count
        end = (column + 1) * len(values) // count
        part = values[start:end]
        known = [value for value in part if value is not None]
        if not known:
            columns.append(None)
            continue
        low = min(known)
        high = max(known)
        if part.index(low) <= part.index(high):
            columns.append((low, high))
        else:
            columns.append((high, low))
    return columns


def _draw_path(
    points: list[tuple[float, float] | None], low: float, high: float, width: int, height: int
) -> str:
    """Return the path of a line that is broken where a value is missing."""
    scale = 0.0
    if high > low:
        scale = (height - 4) / (high - low)
    step = width / max(1, len(points))
    parts: list[str] = []
    pen_down = False
    for index, point in enumerate(points):
        if point is None:
            pen_down = False
            continue
        x = round((index + 0.5) * step, 1)
        first, second = (round(height - 2 - (value - low) * scale, 1) for value in point)
        command = "L" if pen_down else "M"
        parts.append(f"{command}{x:g} {first:g}")
        if second != first:
            parts.append(f"V{second:g}")
        elif not pen_down and (index + 1 == len(points) or points[index + 1] is None):
            parts.append("h0.5")  # a lone value would leave no mark
        pen_down = True
    return "".join(parts)


def draw_strip(moments: Sequence[tuple[float, str, str]], axis: TimeAxis, title: str) -> Markup:
    """Return moments (epoch, kind, title) as ticks on an axis, with a gap at each of its breaks.

    Ticks that would fall on the same spot and are of the same kind are drawn once, with their number.
    """
    height = 28
    spots: dict[tuple[int, str], list[str]] = {}
    for time, kind, text in moments:
        place = axis.find_place(time)
        if place is not None:
            x = min(996, max(4, round(place)))
            spots.setdefault((x, kind), []).append(text)
    body = Markup()
    for part in axis.parts:
        body += _AXIS.format(left=f"{part.left:.1f}", right=f"{part.right:.1f}")
    tips: dict[tuple[int, str], list[Markup]] = {}
    for (x, kind), texts in sorted(spots.items()):
        top, bottom = _TICK_ENDS.get(kind, (6, 24))
        tip = make_visible(texts[0])
        if len(texts) > 1:
            tip += f" (and {len(texts) - 1:,} more here)"
        ticks = tips.setdefault((x, tip), [])
        ticks.append(_TICK.format(kind=kind, x=x, top=top, bottom=bottom))
    for (_, tip), ticks in tips.items():
        body += _TICKS.format(title=tip, ticks=Markup("").join(ticks))
    return _SVG.format(width=1000, height=height, title=make_visible(title), body=body)
