"""Texts that the patterns of the grammar take: whatever says trouble, in hypothesis's own spelling of it."""

from __future__ import annotations

import re

from hypothesis import strategies as st

from analyzer.signals.grammar import LINE_PATTERNS
from analyzer.signals.stems import LEAST
from analyzer.signals.words import CLASSES

PLAIN = st.characters(min_codepoint=32, max_codepoint=126)
WORDS = tuple(words.pattern for words in CLASSES if words.weight >= LEAST)
ALL = (*LINE_PATTERNS, *WORDS)


@st.composite
def make_text(draw: st.DrawFn, patterns: tuple[re.Pattern[str], ...] = ALL) -> str:
    """Return a text that one of the patterns takes, but for what it wants to stand around it."""
    pattern = draw(st.sampled_from(patterns))
    plain = re.sub(r"\(\?(?:!|<!|=|<=)[^()]*(?:\([^()]*\)[^()]*)*\)", "", pattern.pattern)
    plain = re.sub(r"\\b|(?<!\[)\^", "", plain)
    plain = re.sub(r"\(\?(?:-i:|P<\w+>)", "(?:", plain)
    taken = re.compile(plain, pattern.flags & re.IGNORECASE)
    return draw(st.from_regex(taken, fullmatch=True, alphabet=PLAIN))
