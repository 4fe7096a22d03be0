"""The HTML report in a real Chromium: from a file, without network, with and without JavaScript."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from analyzer.case import case_file
from analyzer.report import finding_rows, html, markdown, short_note
from analyzer.report.mail import write_mail
from tests.kit.case_factory import hostile_case, quiet_case, rich_case
from tests.kit.page_kit import until

CHROMIUM = shutil.which("chromium")
AXE = (
    Path(__file__).resolve().parents[2]
    / "tools"
    / "axe"
    / "node_modules"
    / "axe-core"
    / "axe.min.js"
)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--no-first-run",
]
CASES: dict[str, Callable[[], dict[str, Any]]] = {
    "rich": rich_case,
    "quiet": quiet_case,
    "hostile": hostile_case,
}


class Opened:
    """A page in the browser, and everything it did that a report must not do."""

    def __init__(self, browser: Any, path: Path, wait: bool = True, **options: Any) -> None:
        options.setdefault("viewport", {"width": 1280, "height": 900})
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.trouble: list[str] = []
        self.page.on("console", lambda message: self.trouble.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.trouble.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: (self.trouble.append("dialog"), dialog.dismiss()))
        self.page.on("request", self._request)
        self.page.goto(path.as_uri())
        if wait:
            self.page.wait_for_selector("body[data-done]", state="attached")

    def _request(self, request: Any) -> None:
        if not request.url.startswith("file:"):
            self.trouble.append(f"request: {request.url}")

    def hash(self) -> str:
        return str(self.page.evaluate("decodeURIComponent(location.hash)"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    for name, make in CASES.items():
        (folder / f"{name}.html").write_text(html.render_page(make()), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in CASES}


@pytest.fixture
def opened(browser: Any, reports: dict[str, Path]) -> Iterator[Callable[..., Opened]]:
    pages: list[Opened] = []

    def open_(name: str, **options: Any) -> Opened:
        pages.append(Opened(browser, reports[name], **options))
        return pages[-1]

    yield open_
    for page in pages:
        page.context.close()


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_opens_without_a_sound_and_fits(opened: Any, name: str, scheme: str, width: int) -> None:
    """No dialog, message, error or request, and no scrolling sideways, on a desk and on a phone."""
    each = opened(name, viewport={"width": width, "height": 800}, color_scheme=scheme)
    each.page.evaluate("for (const box of document.querySelectorAll('details')) box.open = true")
    assert each.page.evaluate("document.documentElement.scrollWidth") <= width
    assert each.trouble == []


def test_hostile_names_are_shown_letter_by_letter(opened: Any) -> None:
    """The reader sees the name of the VM, not what it would do."""
    each = opened("hostile")
    shown = "</script><img src=x onerror=alert(1)>\\u202e\\x1b[31m`|*_=cmd|'/c calc'!A0\\xff"
    assert each.page.locator("h1").inner_text() == "case-1834" + shown
    assert each.page.locator("img, iframe, object").count() == 0
    assert each.page.locator("canvas").count() == 3
    assert each.trouble == []


def test_what_got_in_unescaped_would_not_run(
    browser: Any, reports: dict[str, Path], tmp_path: Path
) -> None:
    """With markup put into the finished page by force, the policy keeps it from running and from loading."""
    attack = (
        "<img src=x onerror=\"document.title='ran'\"><script>document.title='ran'</script>"
        "<svg onload=\"document.title='ran'\"></svg><iframe srcdoc=\"<script>parent.document.title='ran'</script>\">"
        "</iframe><link rel=stylesheet href=https://evil.example/x.css><img src=https://evil.example/x.png>"
    )
    page = reports["quiet"].read_text(encoding="utf-8").replace("<h1>", attack + "<h1>", 1)
    (tmp_path / "attack.html").write_text(page, encoding="utf-8")
    each = Opened(browser, tmp_path / "attack.html")
    try:
        each.page.wait_for_timeout(300)
        assert each.page.title() != "ran"
        assert [line for line in each.trouble if "Content Security Policy" in line]
        assert not [line for line in each.trouble if line.startswith(("dialog", "error"))]
    finally:
        each.context.close()


def test_everything_is_readable_without_javascript(opened: Any) -> None:
    """Findings, evidence, drawings and asks are there; buttons that would do nothing are not."""
    each = opened("rich", wait=False, java_script_enabled=False)
    page = each.page
    assert page.locator("noscript").inner_text().startswith("JavaScript is off")
    assert page.get_by_text("ring #1 was full 7,086 times").is_visible()
    assert page.get_by_text("# of times the 1st ring is full:7086").is_visible()
    assert page.locator(".still svg").first.is_visible()
    assert not page.locator("button:visible").count()
    assert not page.locator("#q").is_visible()


def test_keys_step_through_the_findings(opened: Any) -> None:
    """The first line is chosen on arrival; j and k move line and account at once, Enter opens what belongs to it."""
    page = opened("rich").page
    assert page.locator("tr[aria-current]").count() == 1
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    line = page.locator("tr[aria-current] .c-what a").inner_text()
    assert line.removeprefix("unexplained ") == page.locator("article:focus h3").inner_text()
    opened_at_first = page.locator("article:focus details[open]").count()
    page.keyboard.press("Enter")
    all_open = page.locator("article:focus details[open]").count()
    page.keyboard.press("Enter")
    assert page.locator("article:focus details[open]").count() < all_open > opened_at_first
    chosen = page.locator("article:focus").get_attribute("id")
    assert page.evaluate("decodeURIComponent(location.hash)") == f"#{chosen}"


def test_arrows_walk_the_rail_and_the_time_line(opened: Any) -> None:
    """Tab reaches the skip link first; arrows, Home and End walk a list; Escape takes a window of time back."""
    page = opened("rich").page
    at = "(document.activeElement.dataset.facet ?? document.activeElement.textContent).trim()"
    page.keyboard.press("Tab")
    assert page.evaluate(at) == "Skip to the findings"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#findings') !== null")
    page.locator("#rail > summary").click()
    page.locator("#rail .contents a").first.focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate(at) == "Unexplained"
    page.keyboard.press("ArrowUp")
    assert page.evaluate(at) == "What is wrong"
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.closest('.filters') !== null")
    page.keyboard.press("Home")
    assert page.evaluate(at) == "Contents and filter"
    page.evaluate("location.hash = '#t=1507554000,1507555200'")
    page.wait_for_selector("#window:not([hidden])", state="attached")
    page.keyboard.press("Escape")  # folds the rail, where the focus is
    page.keyboard.press("Escape")
    page.wait_for_selector("#window[hidden]", state="attached")


def search_report(page: Any, word: str) -> None:
    """Type a word and wait for its own answer: a slow browser also answers the letters typed so far."""
    page.keyboard.press("/")
    page.keyboard.type(word)
    until(page, f"location.hash.includes('q={word}')")
    page.wait_for_selector("#found:has-text('found')")


def test_slash_searches_and_escape_clears(opened: Any) -> None:
    """The search hides what does not match, opens what does, counts it, and gives everything back."""
    page = opened("rich").page
    search_report(page, "ring1_full")
    assert page.locator("article:visible").count() == 1
    assert page.locator("article:visible h3").inner_text().startswith("VMXNET3 RX ring")
    page.keyboard.press("Escape")
    assert page.locator("article[data-item]:not([hidden])").count() == 8 + 2  # signs


def test_a_link_opens_a_finding_inside_a_folded_row(opened: Any) -> None:
    """#f=… of one of 48 subjects opens the row and brings it into view."""
    each = opened("rich")
    each.page.evaluate("location.hash = '#f=adapter-not-vmxnet3/web-17.eth0'")
    target = each.page.locator("h4", has_text="web-17, ethernet0")
    target.wait_for(state="visible")
    assert each.page.locator(".subjects[open]").count() == 1
    until(
        each.page,
        "[...document.querySelectorAll('.subjects[open] h4')].some((one) => "
        "one.textContent.includes('web-17, ethernet0') && "
        "one.getBoundingClientRect().top >= 0 && one.getBoundingClientRect().top < 400)",
    )


def test_an_origin_in_the_trace_leads_to_its_line(opened: Any) -> None:
    """A click on «from file:line» opens the evidence and shows that very line."""
    each = opened("rich")
    each.page.locator(".desk-rows a", has_text="VMXNET3 RX ring full").first.click()
    article = each.page.locator("article", has_text="VMXNET3 RX ring full").last
    article.locator("summary", has_text="Why").click()
    article.get_by_role("link", name="case-1834/console-esx07.txt:53").click()
    line = each.page.locator(".row.hit", has_text="2nd ring is full:3284")
    line.wait_for(state="visible")
    assert each.hash() == "#l=case-1834/console-esx07.txt:53"


def test_copy_gives_the_note_the_mail_the_command_and_the_address(opened: Any) -> None:
    """What is on the clipboard is what the command line would print."""
    each = opened("rich", permissions=["clipboard-read", "clipboard-write"])
    document = rich_case()
    page = each.page

    def copied(locator: Any) -> str:
        locator.click()
        page.wait_for_selector("#said:has-text('copied')")
        return str(page.evaluate("navigator.clipboard.readText()")).replace("\r\n", "\n")

    assert copied(page.locator("#copy-note")) == short_note.render_short_note(document)
    assert copied(page.locator("#copy-whole")) == markdown.render_note(document)
    assert copied(page.locator("#copy-asks")) == write_mail(document)
    page.locator(".desk-rows .under a").first.click()
    command = page.locator(".copyable", has_text="ethtool -G eth0 rx 4096").locator("button")
    command.evaluate(
        "one => { for (let d = one.closest('details'); d; d = d.parentElement.closest('details')) d.open = true }"
    )
    assert (
        copied(command) == "ethtool -G eth0 rx 4096"
    )  # the fix of a sign is folded behind its cause's
    assert (
        copied(page.locator(".signs article").first.get_by_label("Copy the address").nth(1))
        == "case-1834/console-esx07.txt:52"
    )


def test_the_document_can_be_saved_from_the_page(opened: Any, tmp_path: Path) -> None:
    """«Save JSON» gives the case document itself."""
    page = opened("rich").page
    with page.expect_download() as download:
        page.locator("#save-json").click()
    download.value.save_as(tmp_path / "case.json")
    assert download.value.suggested_filename == "case.json"
    assert case_file.read_case(tmp_path / "case.json") == rich_case()


def test_zooming_one_chart_zooms_all_and_narrows_the_time_line(opened: Any) -> None:
    """Dragging in a chart sets the same window for the others and hides moments outside it."""
    each = opened("rich")
    page = each.page
    rows = page.locator("#timeline tbody tr:not([hidden])")
    assert rows.count() == 17
    plot = page.locator(".u-over").first
    plot.scroll_into_view_if_needed()
    page.wait_for_timeout(200)
    box = plot.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 40, steps=5)
    page.mouse.up()
    page.wait_for_selector("#window:not([hidden])", state="attached")
    assert each.hash().startswith("#t=15075")
    assert 0 < rows.count() < 17
    assert "Only 2017-10-09 13:" in page.locator("#window").inner_text()
    page.locator("#window button").click()
    page.wait_for_selector("#window[hidden]", state="attached")
    assert rows.count() == 17
    assert each.trouble == []


def test_a_strip_of_the_time_line_is_a_brush_and_so_are_two_times(opened: Any) -> None:
    """Dragging over a strip, or writing two times by keyboard, narrows time line and charts; the address keeps it."""
    each = opened("rich")
    page = each.page
    rows = page.locator("#timeline tbody tr:not([hidden])")
    every = rows.count()
    strip = page.locator(".lane svg").first
    strip.scroll_into_view_if_needed()
    box = strip.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.02, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + 8, steps=4)
    assert page.locator(".brush").count() == 1
    page.mouse.up()
    page.wait_for_selector("#window:not([hidden])", state="attached")
    assert page.locator(".brush").count() == 0
    assert rows.count() < every
    assert each.hash().startswith("#t=")
    page.locator("#window button").click()
    assert rows.count() == every
    page.locator("#window-from").fill("2017-10-09T13:00:00")
    page.locator("#window-to").fill("2017-10-09T13:20:00")
    assert (
        "Only 2017-10-09 13:00:00 to 2017-10-09 13:20:00 UTC"
        in page.locator("#window").inner_text()
    )
    assert each.hash() == "#t=1507554000,1507555200"
    assert each.trouble == []


def test_a_window_in_the_link_is_taken(opened: Any) -> None:
    """#t=start,end narrows the time line when the page opens."""
    each = opened("rich")
    each.page.evaluate("location.hash = '#t=1507554000,1507555200'")
    each.page.wait_for_selector("#window:not([hidden])", state="attached")
    assert (
        "Only 2017-10-09 13:00:00 to 2017-10-09 13:20:00 UTC"
        in each.page.locator("#window").inner_text()
    )


def test_dark_can_be_chosen(opened: Any) -> None:
    """The button changes the ground from light to dark and back, charts included."""
    page = opened("rich", color_scheme="light").page
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.locator("#theme").click()
    assert page.evaluate(ground) != light
    assert page.locator("#theme").inner_text() == "Light"
    page.locator("#theme").click()
    assert page.evaluate(ground) == light
    assert page.locator("canvas").count() == 3


def test_print_shows_evidence_and_drawings(opened: Any) -> None:
    """On paper the folded parts are open, charts are the drawings of the server, buttons are gone."""
    page = opened("rich").page
    page.emulate_media(media="print")
    assert page.get_by_text("# of times the 1st ring is full:7086").is_visible()
    assert page.locator(".still svg").first.is_visible()
    assert page.locator("canvas:visible").count() == 0
    assert page.locator("button:visible").count() == 0
    assert len(page.pdf()) > 20_000


def test_the_table_is_the_first_page_and_findings_stay_whole(opened: Any) -> None:
    """On paper head and table have the first page, as a whole; no finding is torn apart."""
    page = opened("rich").page
    page.emulate_media(media="print")
    assert page.locator(".desk-rows tr.line").last.bounding_box()["y"] < 900
    assert page.locator(".lines").evaluate("one => getComputedStyle(one).breakAfter") == "page"
    kept = page.evaluate(
        "[...document.querySelectorAll('#findings .finding')].map((one) => getComputedStyle(one).breakInside)"
    )
    assert set(kept) == {"avoid"}


def test_no_finding_is_higher_than_a_page_of_paper(browser: Any, tmp_path: Path) -> None:
    """On A4 no finding of many objects is higher than a page, and words say what is left out."""
    doc = rich_case()
    many = max((row.findings for row in html.finding_rows.group_findings(doc)), key=len)
    for finding in many:  # a row of 48 subjects that tell much
        finding.evidence = doc.findings[2].evidence * 5
        finding.trace = doc.findings[2].trace
    (tmp_path / "paper.html").write_text(html.render_page(doc), encoding="utf-8")
    each = Opened(browser, tmp_path / "paper.html", viewport={"width": 718, "height": 1046})
    try:
        each.page.emulate_media(media="print")
        each.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        heights = each.page.evaluate(
            "[...document.querySelectorAll('#findings article[data-finding]')].map((one) => one.offsetHeight)"
        )
        assert len(heights) == len(finding_rows.list_story_rows(finding_rows.list_stories(doc)))
        assert max(heights) <= 1046
        assert "report.html also has" in each.page.locator(".more-on-screen").inner_text()
    finally:
        each.context.close()


def test_sorting_a_table_by_its_head(opened: Any) -> None:
    """A click on a head sorts its rows, numbers as numbers; the head tells the direction."""
    page = opened("rich").page
    head = page.locator("#topology th", has_text="Port").first
    head.click()
    head.click()
    ports = page.locator("#topology tbody tr td:nth-child(4)").all_inner_texts()
    assert ports == sorted(ports, key=int, reverse=True)
    assert head.get_attribute("aria-sort") == "descending"


def test_the_front_table_sorts_and_the_address_keeps_it(opened: Any) -> None:
    """A click on a head sorts by time, host or object, a third one gives the order of the report back; j follows."""
    page = opened("rich").page
    ranked = page.locator(".desk-rows .c-what a").all_inner_texts()
    page.get_by_role("button", name="Object").click()
    objects = [name for name in page.locator(".desk-rows td.c-object").all_inner_texts() if name]
    compare = "(names) => [...names].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))"
    assert objects == page.evaluate(compare, objects)
    assert page.url.endswith("sort=object")
    page.reload()
    page.wait_for_selector("body[data-done]", state="attached")
    assert page.locator(".desk-rows th[aria-sort=ascending]").count() == 1
    page.get_by_role("button", name="Object").click()
    assert "sort=object-down" in page.url
    page.get_by_role("button", name="Object").click()
    assert page.locator(".desk-rows .c-what a").all_inner_texts() == ranked


def test_back_closes_what_was_opened(opened: Any) -> None:
    """On a phone Back leads from an account to its line; on a desk the line that was chosen before is chosen again."""
    page = opened("rich", viewport={"width": 390, "height": 800}).page
    line = page.locator(".desk-rows tr.line").nth(2)
    line.locator("a").click()
    until(page, "document.querySelector('article[data-current]').getBoundingClientRect().top < 400")
    page.go_back()
    page.wait_for_timeout(200)
    assert 0 <= line.bounding_box()["y"] < 800
    page.set_viewport_size({"width": 1280, "height": 800})
    first = page.locator(".desk-rows .c-what a").first
    first.click()
    line.locator("a").click()
    page.go_back()
    page.wait_for_timeout(200)
    assert page.locator("tr[aria-current] .c-what a").inner_text() == first.inner_text()


# --- the rail -------------------------------------------------------------------------------------


def shown(page: Any) -> list[str]:
    """Return the rules of the findings that are shown, also of those folded under their cause; no signs."""
    return [
        str(text)
        for text in page.locator(
            "#findings article[data-finding]:not([hidden]) .rule"
        ).all_text_contents()
    ]


def test_what_is_chosen_is_shown_told_and_kept_in_the_address(opened: Any) -> None:
    """A count in the head and a box of the rail filter findings; chips say it; the address opens the same again."""
    each = opened("rich")
    page = each.page
    every = shown(page)
    page.locator("a[data-choose=warning]").click()
    warnings = shown(page)
    assert 0 < len(warnings) < len(every)
    assert page.locator("#found").inner_text() == f"{len(warnings)} of {len(every)} findings"
    assert page.locator("#chips").inner_text().startswith("severity: warning")
    assert not page.locator("article[data-sign]:not([hidden])").count()  # a sign has no severity
    page.locator("#rail > summary").click()
    page.locator(".facet:has(input[data-facet=rule]) > summary").click()
    page.locator("input[data-facet=rule]").first.focus()
    page.keyboard.press("Space")
    rule = page.locator("input[data-facet=rule]").first.get_attribute("value")
    assert set(shown(page)) <= {rule}
    page.keyboard.press("Space")
    assert each.hash() == "#severity=warning"
    search_report(page, "adapter")
    page.keyboard.press("Escape")
    page.keyboard.press("k")
    assert each.hash().startswith(("#f=", "#n=")) and each.hash().endswith("&severity=warning")
    again = opened("rich").page
    again.goto(page.url)
    again.reload()
    again.wait_for_selector("body[data-done]", state="attached")
    assert shown(again) == warnings
    again.get_by_role("button", name="Show all").click()
    assert shown(again) == every
    assert each.trouble == []


def test_a_link_to_what_is_filtered_away_shows_it(opened: Any) -> None:
    """A link to a finding that the filter hides takes the filter away; choices that a page lacks hide nothing."""
    page = opened("rich").page
    every = shown(page)
    page.evaluate("location.hash = 'severity=info&host=no%20such%20host'")
    page.wait_for_selector("#chips:not([hidden])", state="attached")
    assert 0 < len(shown(page)) < len(every)
    page.evaluate("location.hash = '#f=adapter-not-vmxnet3/web-17.eth0'")
    page.locator("h4", has_text="web-17, ethernet0").wait_for(state="visible")
    assert "severity=warning" not in page.url
    page.evaluate("location.hash = 'host=no%20such%20host'")
    page.wait_for_timeout(100)
    assert shown(page) == every


def test_the_rail_folds_on_a_phone_and_is_gone_on_paper(opened: Any) -> None:
    """At 390 px the contents open on demand; printed there is no rail, and a filter is told in words."""
    page = opened("rich", viewport={"width": 390, "height": 800}).page
    assert page.locator("#rail").get_attribute("open") is None
    page.locator("#rail > summary").click()
    assert page.locator("#rail .contents a").first.is_visible()
    page.locator("input[data-facet=severity]").first.check()
    page.keyboard.press("Escape")
    assert page.locator("#rail").get_attribute("open") is None
    assert page.evaluate("document.activeElement.matches('#rail > summary')")
    page.emulate_media(media="print")
    assert not page.locator("#rail").is_visible()
    assert page.locator("#only").inner_text().startswith("Printed with a filter; only severity")


def test_no_accessibility_violation_in_any_state(opened: Any) -> None:
    """axe-core finds nothing in the open page, with a filter, folded on a phone, in the dark, with hostile names."""
    if not AXE.exists():
        pytest.skip("`make axe` installs axe-core")
    states: list[tuple[str, dict[str, Any], str]] = [
        ("rich", {}, "for (const box of document.querySelectorAll('details')) box.open = true"),
        ("rich", {"color_scheme": "dark"}, "document.querySelector('a[data-choose]').click()"),
        ("quiet", {"viewport": {"width": 390, "height": 800}}, "0"),
        ("hostile", {"viewport": {"width": 390, "height": 800}, "color_scheme": "dark"}, "0"),
    ]
    found = []
    for name, options, act in states:
        page = opened(name, **options).page
        page.evaluate(act)
        link = page.context.new_cdp_session(page)
        link.send("Runtime.evaluate", {"expression": AXE.read_text(encoding="utf-8")})
        run = (
            "axe.run(document, {resultTypes: ['violations']}).then((told) => told.violations.map((one) => "
            "one.id + ' ' + one.nodes.map((node) => node.html.slice(0, 120)).join(' | ')))"
        )
        found += [f"{name} {options}: {line}" for line in page.evaluate(run)]
    assert found == []


AT_HAND = """() => [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
  .filter((one) => !one.disabled && one.tabIndex >= 0 && one.checkVisibility({visibilityProperty: true})).length"""
AT = """() => {
  const one = document.activeElement, style = getComputedStyle(one), box = one.getBoundingClientRect();
  window.walked ??= new Map();
  if (one === document.body) return null;
  if (!window.walked.has(one)) window.walked.set(one, window.walked.size);
  return {ring: style.outlineStyle !== 'none', seen: box.bottom > 0 && box.top < innerHeight, walked: window.walked.size,
    what: one.outerHTML.slice(0, 90)};
}"""


@pytest.mark.parametrize("width", [1280, 390])
def test_tab_walks_through_all_of_a_report(opened: Any, width: int) -> None:
    """Every control is reached by Tab alone, each with a ring around it and inside the window, and the walk ends."""
    page = opened("rich").page
    page.set_viewport_size({"width": width, "height": 860})
    count = page.evaluate(AT_HAND)
    walked = 0
    for _ in range(2 * count + 20):  # a field for a time has several stops
        page.keyboard.press("Tab")
        at = page.evaluate(AT)
        if at is None:
            break
        assert at["ring"], at.what
        assert at["seen"], at.what
        walked = at["walked"]
    else:
        raise AssertionError("the walk does not end")
    assert walked >= count > 20
