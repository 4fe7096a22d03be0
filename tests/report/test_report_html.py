"""The HTML report as text: its order, its policy, its escaping, its size. No browser needed."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import re
import shutil
import subprocess
import tomllib
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from analyzer.case.case_file import parse_case, read_case, write_case
from analyzer.case.packed_text import MOST_BYTES, pack_text, unpack_text
from analyzer.case.verdicts import Judgement
from analyzer.report import html, markdown, short_note, wording
from analyzer.report.bundle_letters import give_letters
from analyzer.report.page import dump_for_script
from analyzer.report.sparkline import draw_sparkline, draw_strip, fold_columns
from analyzer.report.styles import read_asset, read_styles
from analyzer.report.time_axis import build_time_axis
from analyzer.runtime.errors import RefusedError
from analyzer.web.guard.pagefiles import PAGE, read_page_file
from tests.kit.case_factory import (
    HOSTILE,
    hostile_case,
    judgement,
    quiet_case,
    rich_case,
    ring_finding,
)

REPORT = Path(html.__file__).parent
VOID = {"meta", "link", "img", "input", "br", "path", "circle"}


class Page(HTMLParser):
    """A parsed page: its elements with attributes, its visible text, its script blocks."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.raw: list[tuple[dict[str, str | None], str]] = []
        self.styles: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.raw.append((dict(attrs), ""))
        if tag == "style":
            self.styles.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open, f"</{tag}> without a start"
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.raw[-1] = (self.raw[-1][0], self.raw[-1][1] + data)
        elif self.open and self.open[-1] == "style":
            self.styles[-1] += data
        else:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())

    def attributes(self, name: str) -> list[str]:
        return [str(attrs[name]) for _, attrs in self.elements if name in attrs]


@pytest.fixture(scope="module")
def doc() -> dict[str, Any]:
    return rich_case()


@pytest.fixture(scope="module")
def text(doc: dict[str, Any]) -> str:
    return html.render_page(doc)


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


@pytest.fixture(scope="module")
def hostile() -> Page:
    return Page(html.render_page(hostile_case()))


# --- safety ---------------------------------------------------------------------------------------


def test_the_policy_is_the_first_thing_in_head(text: str) -> None:
    """The content policy comes before anything else of the head, the charset right after, within 1,024 bytes."""
    assert text.split("<head>\n", 1)[1].startswith(
        '<meta http-equiv="Content-Security-Policy" content="default-src'
    )
    assert '<meta charset="utf-8">' in text[:1024]


@pytest.mark.parametrize("make", [rich_case, quiet_case, hostile_case])
def test_the_policy_holds_the_hashes_of_exactly_what_runs(make: Any) -> None:
    """Policy: nothing by default, scripts and style by hash only; every inline script and style has its hash there."""
    page = Page(html.render_page(make()))
    policy = next(str(a["content"]) for t, a in page.elements if t == "meta" and "http-equiv" in a)
    hashes = re.findall(r"'sha256-[A-Za-z0-9+/=]{44}'", policy)
    running = [body for attrs, body in page.raw if attrs.get("type") != "application/gzip"]
    found = [
        base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        for part in [*running, *page.styles]
    ]
    assert hashes == [f"'sha256-{digest}'" for digest in found]
    rest = re.sub(r" 'sha256-[^']*'", "", policy)
    assert rest == (
        "default-src 'none'; script-src; style-src; img-src data:; base-uri 'none'; form-action 'none'"
    )


def test_no_attribute_styles_or_runs_anything(page: Page, hostile: Page) -> None:
    """No style attribute, no handler, no element that loads something."""
    for each in (page, hostile):
        for tag, attrs in each.elements:
            assert not [
                name
                for name in attrs
                if name == "style" or name.startswith("on") or name in ("src", "srcset")
            ]
            assert tag not in {
                "img",
                "iframe",
                "object",
                "embed",
                "link",
                "base",
                "form",
                "video",
                "audio",
            }


def test_links_lead_into_the_page_or_to_the_knowledge_base(page: Page, hostile: Page) -> None:
    """Whatever a rule or a bundle holds, no other link can be made of it."""
    for each in (page, hostile):
        for target in each.attributes("href"):
            assert target.startswith(
                ("#", f"{wording.KB_ADDRESS}?legacyId=", f"{wording.KB_ADDRESS}/")
            ), target
        assert f"{wording.KB_ADDRESS}?legacyId=2039495" in each.attributes("href")


def test_hostile_names_are_shown_as_text(hostile: Page) -> None:
    """A VM, file, line, rule or chart named like markup stands in the page letter by letter, control signs visible."""
    shown = "</script><img src=x onerror=alert(1)>\\u202e\\x1b[31m`|*_=cmd|'/c calc'!A0\\xff"
    for known in (
        "iperf-test1, port 33554464 on vSwitch0",
        "guest, Linux",
        "esxi.vmxnet3_rx_summary",
        "vmnic2 link down",
    ):
        assert known + shown in hostile.text
    assert not [
        attrs
        for tag, attrs in hostile.elements
        if tag == "script" and attrs.get("type") not in (None, "application/gzip")
    ]
    assert len(hostile.raw) == 4


def test_no_control_or_bidi_sign_is_in_the_page() -> None:
    """Not in text, not in attributes, not in the data blocks."""
    text = html.render_page(hostile_case())
    assert HOSTILE[-1] == "\udcff"
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]", text
    )
    text.encode("utf-8")


@given(st.text(st.characters(codec=None), max_size=40))
def test_any_identity_makes_a_safe_anchor(name: str) -> None:
    """An id of a finding becomes ASCII without blanks, quotes or angle brackets, and different names stay different."""
    anchor = html.make_anchor(name)
    assert re.fullmatch(r"[A-Za-z0-9_.~/:!%-]*", anchor)


def test_our_script_never_writes_markup() -> None:
    """Our scripts build the page of text only: no innerHTML, no eval, no request, no inline style text."""
    script = "".join(
        (REPORT / name).read_text(encoding="utf-8") for name in ("rail.js", "report.js")
    )
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "Function(",
        "fetch(",
        "XMLHttpRequest",
        "WebSocket",
        "import(",
        "cssText",
        'setAttribute("style',
        "</",
        "localStorage",
    ):
        assert word not in script, word


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_our_script_is_valid() -> None:
    """node can parse our scripts."""
    for name in ("rail.js", "report.js"):
        subprocess.run(["node", "--check", str(REPORT / name)], check=True, capture_output=True)


def test_vendored_files_are_what_was_published() -> None:
    """Every file of vendor.toml has its sum, the licence is among them, and nothing else lies there."""
    folder = REPORT / "vendor"
    libraries = tomllib.loads((folder / "vendor.toml").read_text(encoding="utf-8"))["library"]
    assert [(lib["name"], lib["version"], lib["license"]) for lib in libraries] == [
        ("uplot", "1.6.32", "MIT")
    ]
    sums = libraries[0]["sha256"]
    for name, digest in sums.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    others = {"vendor.toml", "__init__.py", "__pycache__"}
    assert {path.name for path in folder.iterdir()} - others == set(sums)
    assert "MIT License" in (folder / "uplot.LICENSE").read_text(encoding="utf-8")


def test_vendored_code_cannot_close_its_script_block() -> None:
    """No file that goes into a script or style block holds a closing tag."""
    for name in (
        "vendor/uplot.iife.min.js",
        "vendor/uplot.min.css",
        "report.js",
        "rail.js",
        "base.css",
        "report.css",
        "rail.css",
        "fleet.css",
    ):
        assert "</" not in (REPORT / name).read_text(encoding="utf-8")


# --- the same bytes -------------------------------------------------------------------------------


def test_same_document_same_page(doc: dict[str, Any], text: str) -> None:
    """Rendering twice gives the same bytes: no clock, no chance."""
    assert html.render_page(doc) == text
    assert html.render_page(copy.deepcopy(doc)) == text


def test_the_page_holds_the_case_document_and_the_note(doc: dict[str, Any], page: Page) -> None:
    """What «Save JSON» and «Copy case note» give are the bytes of case.json and the Markdown of the command line."""
    blocks = {
        attrs["id"]: unpack_text(body)
        for attrs, body in page.raw
        if attrs.get("type") == "application/gzip"
    }
    assert blocks["case"] == write_case(doc)
    texts = {
        "note": short_note.render_short_note(doc),
        "whole": markdown.render_note(doc),
    }
    assert json.loads(blocks["texts"]) == texts


@pytest.mark.parametrize("make", [rich_case, quiet_case])
def test_a_report_is_read_back_as_its_case(make: Any, tmp_path: Path) -> None:
    """A report opens like the case.json beside it, and so does one of an earlier version, which carried it as plain JSON."""
    text = write_case(make())
    report = tmp_path / "report.html"
    report.write_text(html.render_page(make()), encoding="utf-8")
    earlier = tmp_path / "earlier.html"
    plain = dump_for_script(json.loads(text))
    earlier.write_text(
        f'<!doctype html>\n<script type="application/json" id="case">{plain}</script>\n',
        encoding="utf-8",
    )
    want = parse_case(text, "case.json")
    assert read_case(report) == want
    assert read_case(earlier) == want


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("", "it is cut short"),
        ("H4s", "it is damaged"),
        (pack_text("x" * 1000)[:24], "it is cut short"),
        (pack_text("0" * (MOST_BYTES + 1)), "longer than 64 MB"),
    ],
)
def test_a_damaged_report_is_refused(body: str, why: str, tmp_path: Path) -> None:
    """A report whose document is cut, damaged or a bomb is refused with a sentence."""
    report = tmp_path / "report.html"
    report.write_text(
        f'<!doctype html>\n<script type="application/gzip" id="case">{body}</script>',
        encoding="utf-8",
    )
    with pytest.raises(RefusedError, match=why):
        read_case(report)


# --- order and content ----------------------------------------------------------------------------


def test_parts_stand_in_the_order_of_a_tired_reader(page: Page) -> None:
    """Header, findings, cannot tell, quiet, local settings, objects, time line, charts, topology, coverage, how it was made."""
    ids = [attrs["id"] for tag, attrs in page.elements if tag == "section" and "id" in attrs]
    parts = [name for name in ids if "=" not in str(name)]
    order = [
        "findings",
        "signals",
        "unknown",
        "quiet",
        "local",
        "objects",
        "timeline",
        "charts",
        "topology",
        "coverage",
        "made",
    ]
    assert parts == order


def test_the_contents_name_every_part(page: Page, hostile: Page) -> None:
    """The list in the rail leads to all parts of the page, but for how it was made, in the order they stand in."""
    for each in (page, hostile):
        ids = [
            str(attrs["id"]) for tag, attrs in each.elements if tag == "section" and "id" in attrs
        ]
        parts = [name for name in ids if "=" not in name and name != "made"]
        start = next(n for n, (tag, attrs) in enumerate(each.elements) if attrs.get("id") == "rail")
        links = [str(attrs["href"])[1:] for tag, attrs in each.elements[start:] if tag == "a"][
            : len(parts)
        ]
        assert links == parts


def test_an_item_names_what_it_can_be_chosen_by(doc: dict[str, Any], page: Page) -> None:
    """Each row of findings has its severity, hosts and rule as numbers of choices in the rail; no name is repeated."""
    boxes = {
        (str(attrs["data-facet"]), str(attrs["data-number"])): attrs["value"]
        for _, attrs in page.elements
        if "data-facet" in attrs
    }
    rows = [attrs for tag, attrs in page.elements if tag == "article" and attrs.get("data-rule")]
    told = [
        (boxes["severity", str(row["data-severity"])], boxes["rule", str(row["data-rule"])])
        for row in rows
    ]
    live = html.finding_rows.group_findings(doc)
    words = {"exposed" if group.hollow else group.word for group in live}
    assert {word for word, _ in told} == words
    assert {rule for _, rule in told} >= {group.first.rule for group in live}


def test_header_says_what_it_is(page: Page) -> None:
    """Host, version, build with the name of the release, uptime, capture, span of logs and completeness come first."""
    head = page.text.split("What is wrong")[0]
    for part in (
        "esx07.lab",
        "VMware ESXi 6.5.0 build 5969303, 6.5 Update 1",
        "up 41 d",
        "captured 2017-10-09 14:02:15 UTC",
        "2017-10-03 09:11 to 2017-10-09 14:02 UTC (6.2 d)",
        "NOT COMPLETE: 1 place damaged, 1 source cut short, 1 source refused, 1 limit reached",
        "the host was upgraded in between",
    ):
        assert part in head
    assert (
        "1 major 2 warnings 1 info 1 exposed 1 rule broke on 52 objects 2 unexplained 4 need more data 61 checks clean"
        in head
    )


def test_all_text_of_a_finding_is_there_without_script(page: Page) -> None:
    """Say, fix, command, caution, cause, what it is not, arithmetic, origins and links are written by the server."""
    for part in (
        "ring #1 was full 7,086 times and ring #2 3,284 times",
        "ethtool -G eth0 rx 4096",
        "Caution: The change resets the adapter. Plan a window.",
        "one snapshot holds no rate",
        "7086 + 3284 = 10370",
        "from case-1834/console-esx07.txt:52",
        "Fix this first: A CPU limit holds the VM back and it drops frames while it waits",
        "May be worse or more certain than shown: esxi.teaming_policy",
        "Could not check: esxi.teaming_policy is not in the case.",
        "test rule",
        "exposed: only the version fits, no sign was seen",
        "KB 2151719, issue 1955855",
        "Muted: Wanted in this lab",
        "value 'rbc ' is not a number",
    ):
        assert part in page.text, part


def test_evidence_shows_numbered_lines_with_two_neighbours(text: str) -> None:
    """Two counters of one dump share a block; each line has its number and each line of evidence its link."""
    block = text.split("ring2_full = 3284</b>", 1)[1].split("</figure>", 1)[0]
    row = r'class="row( hit)?"(?: id="([^"]*)")?><i>(\d*)</i><span>([^<]*)'
    rows = re.findall(row, block)
    assert [(bool(hit), number, body.strip()) for hit, _, number, body in rows] == [
        (False, "50", "running out of buffers:10370"),
        (False, "51", "pkts receive error:0"),
        (True, "52", "# of times the 1st ring is full:7086"),
        (True, "53", "# of times the 2nd ring is full:3284"),
        (False, "54", "fail to map a rx buffer:0"),
        (False, "55", "request to page in a buffer:0"),
    ]
    assert [identity for _, identity, _, _ in rows if identity] == [
        "l=case-1834/console-esx07.txt:52",
        "l=case-1834/console-esx07.txt:53",
    ]


def test_lines_that_disagree_are_not_merged(doc: dict[str, Any]) -> None:
    """Two pieces of evidence that show the same line number with other text keep their own blocks."""
    ring = next(one for one in doc.findings if one.rule == "kb-2039495")
    finding = copy.deepcopy(ring)
    finding.evidence[2].before = ["another text", "and another"]
    blocks = html.EvidenceLines(html.PagePlan(), [finding]).list_blocks(finding)
    assert len(blocks) == 4


def test_full_addresses_through_nested_archives_are_shown(page: Page) -> None:
    """The address of a line names every archive on the way."""
    address = "case-1834.zip!esx-esx07.lab-2017-10-09--14.02.tgz!esx-esx07.lab-2017-10-09--14.02/vmfs/volumes/"
    assert address in page.text


def test_many_subjects_of_one_rule_are_one_row(page: Page) -> None:
    """48 adapters are one article of eight; 20 are shown in full, the others in short, all with a link of their own."""
    articles = [
        attrs for tag, attrs in page.elements if tag == "article" and "data-sign" not in attrs
    ]
    assert len(articles) == 8
    assert "48 objects" in page.text
    assert "28 more" in page.text
    anchors = [name for name in page.attributes("id") if name.startswith("f=adapter-not-vmxnet3/")]
    assert len(anchors) == 48


@pytest.mark.parametrize("make", [rich_case, quiet_case, hostile_case])
def test_every_link_into_the_page_has_its_target(make: Any) -> None:
    """No link leads nowhere and no id is given twice."""
    page = Page(html.render_page(make()))
    ids = page.attributes("id")
    assert len(ids) == len(set(ids))
    for target in page.attributes("href"):
        if target.startswith("#"):
            assert target[1:] in ids, target


@pytest.mark.parametrize("make", [rich_case, quiet_case])
def test_headings_descend_without_a_gap(make: Any) -> None:
    """A screen reader finds h1, h2, h3, h4 in order; tables have head cells with a scope."""
    page = Page(html.render_page(make()))
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert all("scope" in attrs for tag, attrs in page.elements if tag == "th")


def test_charts_have_words_and_figures(page: Page) -> None:
    """Each chart has a caption, a label for screen readers, a drawing made by the server and a table of figures."""
    plots = [attrs for tag, attrs in page.elements if tag == "div" and "data-chart" in attrs]
    assert [plot["role"] for plot in plots] == ["img"] * 3
    assert str(plots[0]["aria-label"]).startswith(
        "iperf-test1: %RDY: %RDY from 2 to 70.8 %, mean 55.7 %. 720 samples"
    )
    for words in ("known samples", "min", "mean", "p95", "max"):
        assert page.words.count(words) == 3
    assert "690" in page.text  # 30 of the 720 samples of %DRPRX are not known


def test_what_could_not_be_judged_can_be_asked_for(page: Page) -> None:
    """Each missing thing stands with its ask, and all asks are one text for an e-mail."""
    assert "Needed by 2 rules: kb-2039495, rings-at-maximum" in page.text
    assert "vsish -e get /net/portsets/<switch>/ports/<port>/vmxnet3/rxSummary" in page.text
    assert "Please run on esx07.lab:" in page.text


def test_coverage_names_everything_that_was_not_read(page: Page) -> None:
    """Damage with its byte, limits, lines not understood and every state of a source are listed."""
    for part in (
        "byte 788,480: gzip stream ends early",
        "limit member_bytes=8589934592 reached",
        "61,146 lines read, 1 not understood",
        "its name leads out of the bundle",
        "binary VSI cache; only a host can read it",
        "3 read, 1 searched, 207 listed, 1 skipped, 1 cut, 1 refused",
        "Names and addresses are not masked",
    ):
        assert part in page.text, part


def test_a_quiet_case_says_so_in_one_line() -> None:
    """Nothing found and nothing missing is a short page without empty parts."""
    page = Page(html.render_page(quiet_case()))
    assert "Nothing was found. 61 rules looked." in page.text
    assert "The rules had all the data they asked for." in page.text
    assert (
        "complete, nothing cut or damaged; left out: 13 sources that Backline does not read"
        in page.text
    )
    ids = [attrs["id"] for tag, attrs in page.elements if tag == "section"]
    assert ids == ["findings", "unknown", "quiet", "coverage", "made"]


def test_nothing_found_but_not_all_judged_is_not_called_healthy() -> None:
    """With open questions the page does not say that all is well."""
    page = Page(
        html.render_page(rich_case(judgement=Judgement(cannot_tell=judgement().cannot_tell)))
    )
    assert (
        "Nothing was found in what could be read, but not everything could be judged: see below."
        in page.text
    )


# --- size -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [250_000, 220_000, 180_000])
def test_a_page_that_would_be_too_large_is_cut_and_says_so(doc: dict[str, Any], most: int) -> None:
    """The page keeps within report_bytes and names what was left out."""
    text = html.render_page(doc, most)
    assert len(text.encode()) <= most
    assert "The full page would be too large. Left out here, kept in case.json:" in Page(text).text


def test_context_and_time_line_go_before_findings(doc: dict[str, Any]) -> None:
    """First the embedded document goes, then context, then tables; the findings stay to the last."""
    whole = len(html.render_page(doc).encode())
    text = Page(html.render_page(doc, whole - 150_000)).text
    assert "the case document itself" in text
    assert "ring #1 was full 7,086 times" in text


@pytest.mark.size
def test_a_flood_of_findings_stays_within_the_limit() -> None:
    """60,000 findings of one rule give a page below the limit that holds the worst of all."""
    document = rich_case()
    flood = document.findings[10]
    document.findings = document.findings[:3] + [
        structs.replace(flood, id=f"x/{n}") for n in range(60_000)
    ]
    text = html.render_page(document, 4 << 20)
    assert len(text.encode()) <= 4 << 20
    assert "A CPU limit holds the VM back" in text


# --- small drawings -------------------------------------------------------------------------------


@given(st.lists(st.one_of(st.none(), st.floats(-1e9, 1e9)), max_size=200), st.integers(1, 50))
def test_thinning_keeps_every_extreme(values: list[float | None], most: int) -> None:
    """A chart of few columns still shows the least and the greatest value."""
    found = fold_columns(values, most)
    assert len(found) <= most
    shown = [value for pair in found if pair for value in pair]
    known = [value for value in values if value is not None]
    assert (min(shown), max(shown)) == (min(known), max(known)) if known else shown == []


def test_a_gap_in_the_values_is_a_gap_in_the_line() -> None:
    """Unknown values are not bridged: the pen is lifted; a lone value still leaves a mark."""
    drawing = str(draw_sparkline([[1.0, 2.0, None, None, 3.0, None]], "t", width=6))
    path = re.findall(r' d="([^"]*)"', drawing)[0]
    assert path.count("M") == 2
    assert path.endswith("h0.5")


def test_a_chart_without_values_is_still_a_picture_with_a_title() -> None:
    """No values, or all unknown, give an empty drawing and no error."""
    for lines in ([], [[]], [[None, None]], [[0.0]]):
        assert "<title>nothing &lt;b&gt;</title>" in str(draw_sparkline(lines, "nothing <b>"))


def test_moments_outside_the_span_are_not_drawn() -> None:
    """The strip draws what falls into its span, once per spot, with the number of others in the title."""
    drawing = str(
        draw_strip(
            [(0.0, "boot", "old"), (50.0, "hit", "a"), (50.0, "hit", "b")],
            build_time_axis([], 10.0, 100.0),
            "t",
        )
    )
    assert "old" not in drawing
    assert "<title>a (and 1 more here)</title>" in drawing


# --- colours --------------------------------------------------------------------------------------


def _variables(block: str) -> dict[str, str]:
    return dict(re.findall(r"--([a-z0-9]+): (#[0-9a-f]{3,6});", block))


def _luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(sign * 2 for sign in colour[1:])
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("name", ["base.css", "fleet.css"])
def test_dark_by_choice_is_dark_by_system(name: str) -> None:
    """What a dark system gets is written once, and who chose dark gets the same, outside the media query."""
    once, both = read_asset(name), read_styles(name)
    assert ':root[data-theme="dark"]' not in once
    system = re.search(r"@media \(prefers-color-scheme: dark\) \{\n(.*?)\n\}\n", both, re.DOTALL)
    assert system is not None
    chosen = both[system.end() :]
    expected = system[1].replace(':not([data-theme="light"])', '[data-theme="dark"]')
    assert chosen.startswith(expected) and expected.count("--") > 10
    assert both.count(':root[data-theme="dark"]') == system[1].count(":root")


def test_hints_in_fields_have_the_contrast_of_text() -> None:
    """A browser's own colour of a hint is too pale in the dark; ours is one whose contrast is proven above."""
    assert "::placeholder { color: var(--soft); opacity: 1; }" in read_asset("base.css")


def test_the_page_of_the_server_has_the_colours_of_the_report() -> None:
    """The drag-in page loads the very base.css of the report first; no other sheet sets one of its colours anew."""
    sheets = re.findall(
        r'<link rel="stylesheet" href="([^"]+)">', read_page_file("page.html").decode()
    )
    assert sheets == ["/base.css", "/page.css", "/library.css"]
    assert read_page_file(PAGE["/base.css"][0]).decode() == read_styles("base.css")
    colours = _variables(read_asset("base.css")).keys()
    others = [read_page_file(PAGE[path][0]).decode() for path in sheets[1:]]
    assert not any(_variables(sheet).keys() & colours for sheet in others)
    assert '[data-theme="dark"] { --zone: #1a222d; }' in others[0]


@pytest.mark.parametrize(
    "place", [0, 1, 2, 3], ids=["light", "dark by system", "dark by choice", "print"]
)
def test_text_has_a_contrast_of_at_least_four_and_a_half(place: int) -> None:
    """Every colour of text on every ground it stands on meets WCAG AA, in light, dark and print."""
    css = read_styles("base.css", "report.css")
    blocks = [block for block in re.findall(r"\{([^{}]*)\}", css) if "--paper:" in block]
    assert len(blocks) == 4
    colours = _variables(blocks[place])
    for ink in ("ink", "soft", "link", "critical", "major", "warning", "info", "error", "good"):
        for ground in ("paper", "raised", "code", "hit"):
            if ground == "hit" and ink not in ("ink", "soft"):
                continue
            light, dark = sorted(
                (_luminance(colours[ink]), _luminance(colours[ground])), reverse=True
            )
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (ink, ground)


def test_each_chart_bears_its_own_subject() -> None:
    """Two VMs with the very same samples: each card names its own VM, the samples are kept and drawn once."""
    times = ["2017-10-09T13:00:00Z", "2017-10-09T13:00:05Z"]
    line = {"node": "esx07.lab", "unit": "%", "times": times, "cpu.rdy": [1.0, 2.0]}
    findings = []
    for name in ("alpha", "beta"):
        one = ring_finding()
        one.id, one.object, one.chart, one.explained_by = (
            f"kb-2039495/{name}",
            name,
            [f"kb-2039495/{name}/cpu.rdy"],
            [],
        )
        findings.append(one)
    series = {
        f"kb-2039495/{name}/cpu.rdy": {"title": f"{name}: cpu.rdy", **line}
        for name in ("alpha", "beta")
    }
    document = rich_case(judgement=Judgement(findings=findings, series=series))

    holder, other = (
        document.series["kb-2039495/alpha/cpu.rdy"],
        document.series["kb-2039495/beta/cpu.rdy"],
    )
    assert (len(holder.times), holder.same_as) == (2, "")
    assert (other.title, other.times, other.same_as) == (
        "beta: cpu.rdy",
        [],
        "kb-2039495/alpha/cpu.rdy",
    )
    page = html.render_page(document)
    for name in ("alpha", "beta"):
        card = page.partition(f'id="f=kb-2039495/{name}"')[2].partition("</section>")[0]
        assert f"{name}: cpu.rdy" in card.partition("sparkbox")[2].partition("<svg")[0]
        assert "max 2 %" in card
    assert page.count('class="chart"') == 1
    assert "The same samples: beta: cpu.rdy" in page


@pytest.mark.parametrize("make", [rich_case, hostile_case])
def test_each_cell_of_a_narrow_window_has_the_label_of_its_column(make: Any) -> None:
    """A cell names its column itself, or a rule of the style does, in the words of the head of the table."""
    page = html.render_page(make())
    labels = {
        (kind, int(number)): text
        for kind, number, text in re.findall(
            r'\.([\w-]+) t[dh]:nth-child\((\d)\)::before \{ content: "([^"]*)"', page
        )
    }
    checked = 0
    for kinds, head, body in re.findall(
        r'<table class="([^"]*)"><thead>(.*?)</thead>\s*<tbody>(.*?)</tbody>', page, re.DOTALL
    ):
        titles = re.findall(r"<th [^>]*>([^<]*)</th>", head)
        for kind in kinds.split():
            for number, title in enumerate(titles, 1):
                if (kind, number) in labels and not (kind == "sources" and "unread" in kinds):
                    assert labels[kind, number] == title
                    checked += 1
        if not any((kind, 1) in labels for kind in kinds.split()) and "desk-rows" not in kinds:
            assert len(re.findall(r"<t[dh][ >]", body)) == len(
                re.findall(r"<t[dh] [^>]*data-label=|<td colspan", body)
            )
    assert checked >= 12


def test_an_address_with_a_letter_is_the_whole_one_again(doc: dict[str, Any]) -> None:
    """What the page explains of a letter, put before the rest of an address, gives the address."""
    document = copy.deepcopy(doc)
    whole = f"a-long-name-of-a-bundle.tgz!esx-{'x' * 40}/"
    first = document.sources[0]
    document.sources = [structs.replace(first, address=f"{whole}{n}.txt") for n in range(9)]
    letters = give_letters(document)
    assert letters.letters == {whole: "A"}
    assert letters.shorten_address(f"{whole}var/log/a.log:3") == "A: var/log/a.log:3"
    page = html.render_page(document)
    assert f'<span class="at" data-letter="A">{whole}</span>' in page
    for one in document.sources:
        assert f"<td>A: {one.address.removeprefix(whole)}</td>" in page
    assert letters.shorten_address("vmkernel.log:7") == "vmkernel.log:7"
