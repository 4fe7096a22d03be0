"""Sources as records: what the loader takes, and how each form prints them."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from analyzer import rules
from analyzer.authoring.fmt.layout import format_rule
from analyzer.authoring.pages import pages
from analyzer.case.articles import URL
from analyzer.cli import main
from analyzer.report.html import _link_source
from analyzer.rules import BadRuleError, Catalog, Rule
from analyzer.rules.cited_sources import CitedSource, is_remembered

RULE = """rule: nn-cited
title: A ring of team NN
source:
  - a text of which no more is known
  - {title: the ring and its counters, article: 2039495, checked: 2026-11-20, mark: verified}
  - article: [1010071, 312565]
    mark: inferred
  - {title: the diagnostics, url: 'https://www.rfc-editor.org/rfc/rfc5880?a=1&b=2#s6', mark: remembered}

each: rx in esxi.vmxnet3_rx_summary
when: rx.ring1_full > 0
outcomes:
  - {when: true, severity: warning, confidence: likely, say: full}
"""
PLAIN, RING, BOTH, RFC = (
    CitedSource("a text of which no more is known"),
    CitedSource("the ring and its counters", "", (2039495,), "2026-11-20", "verified"),
    CitedSource("", "", (1010071, 312565), "", "inferred"),
    CitedSource(
        "the diagnostics", "https://www.rfc-editor.org/rfc/rfc5880?a=1&b=2#s6", mark="remembered"
    ),
)


def read(source: str) -> Rule:
    """Return the rule with other sources."""
    head, _, rest = RULE.partition("source:\n")
    return rules.parse(
        f"{head}source: {source}\n{rest[rest.index('each:') :]}", name="nn-cited.yaml"
    )


def test_records_and_plain_texts_stand_in_one_list() -> None:
    """A record brings what it says; of a plain text neither mark nor day is known."""
    assert rules.parse(RULE, name="nn-cited.yaml").source == [PLAIN, RING, BOTH, RFC]
    assert read("one text").source == [CitedSource("one text")]
    assert read("{article: 2039495}").source == [CitedSource(articles=(2039495,))]
    assert read("").source == []


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("[{title: x, colour: red}]", "unknown key `colour` in a source"),
        ("[{mark: verified}]", "neither `title` nor `url` nor `article`"),
        ("[{title: '', mark: verified}]", "neither `title` nor `url` nor `article`"),
        ("[{article: 1, url: 'https://example.com'}]", "has `url` and `article`"),
        ("[{title: x, mark: sure}]", "unknown mark `sure`"),
        ("[{title: x, checked: 2026-02-30}]", "`2026-02-30` is not a date"),
        ("[{url: example.com}]", "is not the address of a page"),
        ("[{url: 'ftp://example.com/x'}]", "is not the address of a page"),
        ("[{url: 'javascript:alert(1)'}]", "is not the address of a page"),
        ("[{url: 'https://example.com/ x'}]", "is not the address of a page"),
        ("[{url: 'https://a@example.com/'}]", "is not the address of a page"),
        ("[{article: -7}]", "is not the number of an article"),
        ("[{article: '2039495'}]", "article holds numbers|article must be a list"),
        ("[[x]]", "source must be text"),
    ],
)
def test_what_is_no_source_is_refused(source: str, words: str) -> None:
    """Only pages of the web are addresses, only numbers are articles, only three words are marks."""
    with pytest.raises(BadRuleError, match=words):
        read(source)


def test_a_source_reads_as_a_line() -> None:
    """Name, number or address, mark and day; a number that the title has is not repeated."""
    assert PLAIN.describe_source() == "a text of which no more is known"
    assert RING.describe_source() == (
        "the ring and its counters, KB 2039495 (verified, read on 2026-11-20)"
    )
    assert BOTH.describe_source() == "KB 1010071 and KB 312565 (inferred)"
    assert RFC.describe_source() == f"the diagnostics, {RFC.url} (remembered)"
    assert CitedSource("VMware KB 7777777", articles=(7777777,)).describe_source() == (
        "VMware KB 7777777"
    )


def test_the_page_of_rules_links_each_source() -> None:
    """An article and an address are links, beside the title; a text alone is none."""
    page = pages.rules_page(Catalog([rules.parse(RULE, name="nn-cited.yaml")]))
    for line in (
        "- source: a text of which no more is known",
        "- source: the ring and its counters, [2039495](https://knowledge.broadcom.com/external/article?legacyId=2039495)"
        " (verified, read on 2026-11-20)",
        "[312565](https://knowledge.broadcom.com/external/article/312565) (inferred)",
        f"]({RFC.url}) (remembered)",
    ):
        assert line in page, line


def test_the_report_links_addresses_and_articles_and_nothing_else() -> None:
    """What a finding says of its sources becomes links in the page; text beside them stays text."""
    shown = str(_link_source(RING.describe_source()))
    assert 'href="https://knowledge.broadcom.com/external/article?legacyId=2039495"' in shown
    shown = str(_link_source(RFC.describe_source()))
    assert 'href="https://www.rfc-editor.org/rfc/rfc5880?a=1&amp;b=2#s6"' in shown
    assert (
        _link_source("see `esxcli` <b> javascript:x")
        == "see <code>esxcli</code> &lt;b&gt; javascript:x"
    )
    assert "<a" not in _link_source("https://exa'mple.com/")


@given(st.text(st.sampled_from("https://a.b/<>\"'()[]`*_&;?=%\\ \n"), max_size=40))
def test_no_address_ends_its_link(tail: str) -> None:
    """Whatever an address holds, it stands whole in HTML and Markdown, or it is none."""
    address = f"https://example.com/{tail}"
    if URL.match(address):
        assert not set(address) & set("<>\"'()[]`\\ \n")
    shown = str(_link_source(f"x {address} y"))
    assert shown.count("<a ") == shown.count("</a>") and shown.count("<") <= 2 + 2 * shown.count(
        "<code"
    )
    assert shown.count('"') == 6 * shown.count("<a ")


def test_the_formatter_puts_the_keys_of_a_source_in_order() -> None:
    """Title, address, day and mark come in the order of the loader's keys, whatever the style."""
    text = RULE.replace("{title: the ring and its counters, article: 2039495, ", "{").replace(
        "mark: verified}", "mark: verified, article: 2039495, title: the ring and its counters}"
    )
    assert text != RULE and format_rule(text) == format_rule(RULE)
    assert (
        "  - {title: the ring and its counters, article: 2039495, checked: 2026-11-20, mark: verified}\n"
        in format_rule(text)
    )


def test_show_prints_sources_with_their_state(tmp_path: Path) -> None:
    """`rules show` has title, number, mark and day, and the address of an article below."""
    path = tmp_path / "nn-cited.yaml"
    path.write_text(RULE, encoding="utf-8")
    shown = CliRunner().invoke(main, ["rules", "show", str(path)], catch_exceptions=False).stdout
    words = " ".join(shown.split())
    assert "the ring and its counters, KB 2039495 (verified, read on 2026-11-20)" in words
    assert "KB 312565: https://knowledge.broadcom.com/external/article/312565" in words


def test_what_the_author_decided_is_no_source() -> None:
    """Memory alone bears a rule no better for a bar that is our own; one source that was read does."""
    memory = CitedSource("the ids of the messages", mark="remembered")
    own = CitedSource("the severity is our own", mark="inferred")
    assert is_remembered([memory]) and is_remembered([memory, own])
    assert not is_remembered([memory, RING]) and not is_remembered([memory, PLAIN])
    assert not is_remembered([own]) and not is_remembered([])
