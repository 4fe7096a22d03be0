"""What a rule rests on: each source with its address, the day it was last read, and how well it bears the rule out.

An item of `source:` is a record {title, url or article, checked, mark}, or a plain text of which no more is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from analyzer.case.articles import URL, link_article
from analyzer.rules.language.rulefile import RuleItem
from analyzer.rules.values import Values

NAMES = ("title", "url", "article")  # one of them says what a source is
SOURCE_KEYS = (*NAMES, "checked", "mark")
MARKS = ("verified", "inferred", "remembered")
ARTICLES = 20  # of one source
ARTICLE_MOST = 99_999_999

DAY = re.compile(r"\d{4}-\d\d-\d\d\Z")
_OWN = re.compile(r"\bour own\b", re.IGNORECASE)
_NAMED = re.compile(r"\d{4,8}")


@dataclass(frozen=True, slots=True)
class CitedSource:
    """One source of a rule.

    title     what it is, and what of the rule it bears out
    url       its address, http or https
    articles  numbers of articles of the knowledge base, VMware's or Broadcom's
    checked   day on which it was last read, "" when nobody knows
    mark      verified: the source shows it; inferred: it follows from the source; remembered: no source was read;
              "" when nobody knows
    """

    title: str = ""
    url: str = ""
    articles: tuple[int, ...] = ()
    checked: str = ""
    mark: str = ""

    @property
    def name(self) -> str:
        """What it is called: its title, else its articles or its address."""
        return self.title or " and ".join(f"KB {number}" for number in self.articles) or self.url

    @property
    def addresses(self) -> dict[str, str]:
        """Where it is read: the name of the link -> its address."""
        found = {str(number): link_article(number) for number in self.articles}
        if self.url:
            found[self.url] = self.url
        return found

    @property
    def is_own(self) -> bool:
        """Whether it says what the rule's author decided, such as a bar: that is no source of facts."""
        return not self.url and not self.articles and bool(_OWN.search(self.title))

    def describe_state(self) -> str:
        """Return how sure it is and when it was read, "" when neither is known."""
        read = f"read on {self.checked}" if self.checked else ""
        return ", ".join(filter(None, (self.mark, read)))

    def describe_source(self) -> str:
        """Return it as one line of text: name, numbers that the name leaves out, address, mark and day."""
        named = set(_NAMED.findall(self.name))
        parts = [
            self.name,
            *(f"KB {number}" for number in self.articles if str(number) not in named),
        ]
        if self.url and self.url not in self.name:
            parts.append(self.url)
        state = self.describe_state()
        return ", ".join(parts) + (f" ({state})" if state else "")


def is_day(text: str) -> bool:
    """Say whether a text is a day of the calendar, like 2026-11-20."""
    try:
        return bool(DAY.match(text)) and bool(date.fromisoformat(text))
    except ValueError:
        return False


def is_remembered(sources: Iterable[CitedSource]) -> bool:
    """Say whether a rule rests on nothing but what somebody remembers; what its author decided bears nothing out."""
    marks = {source.mark for source in sources if not source.is_own}
    return marks == {"remembered"}


def is_blank(item: RuleItem | None) -> bool:
    """Say whether a value is not there, or a text without a letter."""
    return item is None or (isinstance(item.value, str) and not item.value.strip())


class SourceReader(Values):
    """Reads the sources of a rule; every refusal is a BadRuleError with its place."""

    def _read_sources(self, item: RuleItem | None) -> list[CitedSource]:
        """Return the sources of a rule: one text, or a list of records and texts; raises BadRuleError with the place."""
        if item is not None and isinstance(item.value, str | dict):
            return [self._read_source(item)]
        return [self._read_source(child) for child in self._read_list(item, "source")]

    def _read_source(self, item: RuleItem) -> CitedSource:
        if not isinstance(item.value, dict):
            return CitedSource(self._read_line(item, "source"))
        keys = self.text.mapping(item, SOURCE_KEYS, "a source")
        if all(is_blank(keys.get(key)) for key in NAMES):
            raise self.text.error(
                "a source has neither `title` nor `url` nor `article`", item.place
            )
        if "url" in keys and "article" in keys:
            advice = "an article is found by its number; name another page in a source of its own"
            raise self.text.error("a source has `url` and `article`", keys["url"].place, advice)
        return CitedSource(
            self._read_line(keys.get("title"), "title"),
            self._read_url(keys.get("url")),
            self._read_articles(keys.get("article")),
            self._read_day(keys.get("checked")),
            self._read_choice(keys.get("mark"), MARKS, "mark", ""),
        )

    def _read_url(self, item: RuleItem | None) -> str:
        url = self._read_line(item, "url")
        if item is not None and not URL.match(url):
            advice = "write http:// or https://; brackets, quotes and blanks as %28"
            raise self.text.error(f"`{url[:60]}` is not the address of a page", item.place, advice)
        return url

    def _read_articles(self, item: RuleItem | None) -> tuple[int, ...]:
        numbers = self._read_numbers(item, "article")
        for number in numbers:
            if item is not None and not 0 < number <= ARTICLE_MOST:
                raise self.text.error(f"{number} is not the number of an article", item.place)
        if item is not None and not 0 < len(numbers) <= ARTICLES:
            raise self.text.error(f"`article` names 1 to {ARTICLES} articles", item.place)
        return tuple(numbers)

    def _read_day(self, item: RuleItem | None) -> str:
        day = self._read_line(item, "checked")
        if item is not None and not is_day(day):
            raise self.text.error(
                f"`{day[:40]}` is not a date", item.place, "write the day like 2026-11-20"
            )
        return day
