"""Addresses of articles of the knowledge base, and of other pages that facts come from."""

from __future__ import annotations

import re

KB_ADDRESS = "https://knowledge.broadcom.com/external/article"
BROADCOM_NUMBERS = range(100_000, 1_000_000)  # VMware's own numbers had up to five digits, or seven

# No sign that ends an address in HTML, Markdown or running text; `%` carries all others.
URL = re.compile(
    r"https?://[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?(?::\d{1,5})?(?:[/?#][A-Za-z0-9%/?#&=+$,;:@!~*._-]{0,400})?\Z"
)


def link_article(number: int) -> str:
    """Return the address of an article of the knowledge base; only digits get into it.

    An article by VMware is found by `legacyId`; one by Broadcom has six digits, which are part of its address.
    """
    number = int(number)
    if number in BROADCOM_NUMBERS:
        return f"{KB_ADDRESS}/{number}"
    return f"{KB_ADDRESS}?legacyId={number}"
