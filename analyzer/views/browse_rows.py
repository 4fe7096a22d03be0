"""The table of `backline browse`: the rows of the report, those of one level, host or word, worst first or by time."""

from __future__ import annotations

from dataclasses import dataclass

from analyzer.case.ranking import severity_rank
from analyzer.report.desk_rows import HEAVY, UNEXPLAINED, DeskRow
from analyzer.report.printer import STYLES
from analyzer.report.screen import WORDS
from analyzer.runtime.short_lines import bound_line, bound_middle
from analyzer.runtime.text import one_line
from analyzer.views.browse_lines import PaneLine, make_text

LEVELS = ("", "critical", "major", "warning")
EXPOSED = "Known faults of the release, nothing of them seen"
OBJECT, SHORT_OBJECT = 16, 11  # characters of the name of an object, and of it in a narrow table
PLACE = 22  # characters of an address
WIDE = 84  # columns from which day, confidence and address have room
LAST = "~"  # sorts behind every time


@dataclass(frozen=True, slots=True)
class RowChoice:
    """Which rows are shown: `level` or worse, of `host`, with all of `words`; all where these are empty."""

    level: str = ""
    host: str = ""
    words: str = ""
    by_time: bool = False

    def describe_choice(self) -> str:
        """Return the choice in words, as the line below the table has it."""
        parts = [f"level: {self.level or 'all'}{' or worse' if self.level else ''}"]
        parts.append(f"host: {self.host or 'all'}")
        parts.append("by time" if self.by_time else "worst first")
        if self.words:
            parts.append(f"with: {self.words}")
        return " | ".join(parts)


def choose_rows(rows: list[DeskRow], choice: RowChoice) -> list[int]:
    """Return the places of the rows that are shown, in their order."""
    places = [place for place, row in enumerate(rows) if is_chosen(row, choice)]
    if choice.by_time:
        places.sort(key=lambda place: (rows[place].exposed, rows[place].first or LAST))
    return places


def is_chosen(row: DeskRow, choice: RowChoice) -> bool:
    """Say whether a row is shown."""
    if choice.level and not has_level(row, choice.level):
        return False
    if choice.host and choice.host not in list_row_hosts(row):
        return False
    text = write_row_words(row)
    return all(word in text for word in choice.words.casefold().split())


def has_level(row: DeskRow, level: str) -> bool:
    """Say whether a row is this severe or worse; a sign without a rule by its weight, a rule that broke always."""
    if row.word == "error":
        return True
    if row.word != UNEXPLAINED:
        return severity_rank(row.word) <= severity_rank(level)
    if level == "warning":
        return True
    return level == "major" and row.sign is not None and row.sign.weight >= HEAVY


def list_row_hosts(row: DeskRow) -> list[str]:
    """Return the machines of a row by name, each once."""
    if row.sign is not None:
        return [row.host] if row.host else []
    return list(dict.fromkeys(finding.node for finding in row.findings if finding.node))


def list_hosts(rows: list[DeskRow]) -> list[str]:
    """Return the machines of all rows, that of the worst row first."""
    return list(dict.fromkeys(host for row in rows for host in list_row_hosts(row)))


def write_row_words(row: DeskRow) -> str:
    """Return what is searched of a row: title, sentence, objects, machines, rule, KB articles, address."""
    parts = [row.word, row.what, row.figure, row.full_object, row.place, row.confidence]
    parts += list_row_hosts(row)
    parts += map(str, row.kb)
    for finding in row.findings:
        parts += [finding.rule, finding.subject, finding.object, finding.say]
    if row.sign is not None:
        parts += [row.sign.what, row.sign.text, row.sign.module]
    return " ".join(parts).casefold()


def list_row_lines(rows: list[DeskRow], places: list[int], width: int) -> list[PaneLine]:
    """Return the lines of the table, with a divider before what only the release tells."""
    days = {rows[place].first[:10] for place in places if rows[place].first}
    lines: list[PaneLine] = []
    is_divided = False
    for place in places:
        row = rows[place]
        if row.exposed and not is_divided:
            lines.append(PaneLine(make_text(bound_line(EXPOSED, width), "dim underline")))
            is_divided = True
        lines.append(make_row_line(row, place, width, several_days=len(days) > 1))
    return lines


def make_row_line(row: DeskRow, place: int, width: int, *, several_days: bool) -> PaneLine:
    """Return one row on one line; its object loses the middle, its title words."""
    wide = width >= WIDE
    when = row.clock[:5]
    if several_days:
        when = f"{row.day} {when}" if wide else row.day
    tail = ""
    if wide:
        tail = f" {row.confidence:<9} {bound_middle(row.short_place, PLACE):<{PLACE}}"
    word = WORDS.get(row.word, row.word)
    text = make_text(f"{row.number:>2} ")
    text.append_text(make_text(word, STYLES.get(row.word, "")))
    text.append(" " * (6 - len(word)))
    text.append_text(make_text(f"{when:<{11 if wide and several_days else 5}} "))
    room = max(1, width - len(text.plain) - len(tail))
    head = "  " * row.depth
    if row.full_object:
        head += f"{bound_middle(row.full_object, OBJECT if wide else SHORT_OBJECT)}: "
    what = head + one_line(row.what, max(1, room - len(head)))  # the account has it whole
    text.append_text(make_text(f"{what:<{room}}{tail}"))
    return PaneLine(text, row=place)
