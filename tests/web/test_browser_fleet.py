"""The fleet page in a real Chromium: the map, its filters and keys, the panel, the way to the case report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from analyzer.report import fleet as page
from tests.archive.test_fleet import CASES, SHOWN
from tests.kit.ask_kit import run
from tests.kit.case_factory import HOSTILE
from tests.kit.fleet_factory import fleet, stored
from tests.web.test_browser_reports import CHROMIUM, Opened, browser

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]
__all__ = ["browser"]  # the fixture
PHONE = {"width": 390, "height": 800}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a page of 60 cases, one of 2,000, a hostile one, and one of a stored archive with its reports."""
    folder = tmp_path_factory.mktemp("fleet")
    for name, made in {
        "some": fleet(60),
        "many": fleet(2_000, 40),
        "hostile": fleet(40, 9, spoil=HOSTILE),
    }.items():
        (folder / f"{name}.html").write_text(page.render_page(made), encoding="utf-8")
    archive = stored(folder / "archive", CASES)
    done = run("heatmap", "--archive", archive.objects.url, "-o", folder / "out", "--with-reports")
    assert done.exit_code == 0, done.output
    names = {name: folder / f"{name}.html" for name in ("some", "many", "hostile")}
    return names | {"stored": folder / "out" / "fleet.html"}


@pytest.fixture
def opened(browser: Any, pages: dict[str, Path]) -> Iterator[Callable[..., Opened]]:
    shown: list[Opened] = []

    def open_(name: str, **options: Any) -> Opened:
        shown.append(Opened(browser, pages[name], **options))
        return shown[-1]

    yield open_
    for each in shown:
        each.context.close()


def rows(tab: Any) -> list[str]:
    """Return the heads of the rows that are drawn."""
    return [str(text) for text in tab.locator("#box tbody th .label").all_inner_texts()]


def focused(tab: Any) -> str:
    """Return `row column` of the cell that has the focus."""
    return str(tab.evaluate("document.activeElement.dataset.at ?? document.activeElement.id"))


@pytest.mark.parametrize("name", ["hostile", "stored"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [{"width": 1280, "height": 900}, PHONE], ids=["desk", "phone"])
def test_opens_without_a_sound_and_fits(
    opened: Any, name: str, scheme: str, size: dict[str, int]
) -> None:
    """All views and panels: no dialog, message, error or request, and no scrolling of the page sideways."""
    each = opened(name, viewport=size, color_scheme=scheme)
    for view in ("host", "month", "case"):
        each.page.locator(f"#tab-{view}").click()
        assert each.page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        each.page.locator("#box tbody th").first.click()
        each.page.wait_for_selector("body[data-open]", state="attached")
        assert each.page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        each.page.keyboard.press("Escape")
    each.page.locator("#box tbody td").first.click()
    each.page.wait_for_selector("body[data-open]", state="attached")
    assert each.trouble == []


def test_a_phone_shows_the_whole_name_of_a_case(opened: Any) -> None:
    """On a phone too no name of a case is cut, also where the row says that the case is incomplete."""
    each = opened("some", viewport=PHONE)
    assert each.page.locator("#box tbody .tag").count() > 2
    cut = "labels => labels.filter(one => one.scrollWidth > one.clientWidth).map(one => one.textContent)"
    assert each.page.locator("#box tbody .label").evaluate_all(cut) == []


def test_paper_shows_the_marks_in_black(opened: Any) -> None:
    """Who chose dark and prints gets no pale mark on white paper, with and without printed grounds."""
    tab = opened("some", color_scheme="light").page
    tab.locator("#theme").click()
    tab.emulate_media(media="print")
    look = "all => [...new Set(all.map(one => getComputedStyle(one)).map(is => `${is.color} ${is.backgroundColor} ${is.backgroundImage}`))]"
    assert tab.locator(".swatch").evaluate_all(look) == ["rgb(0, 0, 0) rgba(0, 0, 0, 0) none"]


def test_hostile_names_are_shown_letter_by_letter(opened: Any) -> None:
    """Case, host and sentence in the map and in the panel are what was stored, and nothing of it becomes an element."""
    each = opened("hostile")
    assert all(name.endswith(SHOWN) for name in rows(each.page))
    each.page.locator("#box tbody th").first.click()
    panel = each.page.locator("#panel")
    assert panel.locator("h2").inner_text().endswith(SHOWN)
    assert panel.get_by_text(f"times.{SHOWN}").first.is_visible()
    assert each.page.locator("img, iframe, object").count() == 0
    each.page.locator("#tab-host").click()
    assert all(name.endswith(SHOWN) for name in rows(each.page))
    assert each.trouble == []


def test_what_got_in_unescaped_would_not_run(
    browser: Any, pages: dict[str, Path], tmp_path: Path
) -> None:
    """With markup put into the finished page by force, the policy keeps it from running."""
    attack = "<img src=x onerror=\"document.title='ran'\"><script>document.title='ran'</script>"
    text = pages["some"].read_text(encoding="utf-8").replace("<h1>", attack + "<h1>", 1)
    (tmp_path / "attack.html").write_text(text, encoding="utf-8")
    each = Opened(browser, tmp_path / "attack.html")
    try:
        assert each.page.title() != "ran"
        assert [line for line in each.trouble if "Content Security Policy" in line]
    finally:
        each.context.close()


def test_only_what_is_in_view_exists_and_is_where_it_belongs(opened: Any) -> None:
    """Of 80,000 cells some hundreds exist; after any scrolling the right rows stand at their place under their head."""
    tab = opened("many").page
    assert tab.locator("#box td").count() < 2_000
    for share in (0.3, 0.77, 1.0):
        tab.evaluate(
            "share => { const box = document.getElementById('box'); box.scrollTop = box.scrollHeight * share; }",
            share,
        )
        tab.wait_for_timeout(50)
        found = tab.evaluate(
            """() => {
              const box = document.getElementById("box"), head = box.querySelector("thead").getBoundingClientRect();
              const row = box.querySelectorAll("tbody tr")[6], cell = row.querySelector("td").getBoundingClientRect();
              const height = row.getBoundingClientRect().height, number = Number(row.querySelector("td").dataset.at.split(" ")[0]);
              const expected = box.getBoundingClientRect().top + box.clientTop + head.height + number * height - box.scrollTop;
              const top = box.querySelector("thead th[data-at]").getBoundingClientRect();
              return [Math.abs(cell.top - expected), Math.abs(cell.left - top.left), Math.abs(cell.width - top.width),
                head.top - box.getBoundingClientRect().top, row.getAttribute("aria-rowindex") - number];
            }"""
        )
        assert max(found[0], found[1], found[2], abs(found[3] - 1)) <= 1, (share, found)
        assert found[4] == 2
    assert tab.locator("#box table").get_attribute("aria-rowcount") == "2001"


def test_the_keys_move_from_cell_to_cell(opened: Any) -> None:
    """One cell is reached by Tab; arrows, pages, Home and End move; the heads are part of it; nothing gets lost."""
    tab = opened("many").page
    assert tab.locator("#box [tabindex='0']").count() == 1
    tab.locator("#show").focus()
    for _ in range(3):
        tab.keyboard.press("Tab")
        if tab.evaluate("document.getElementById('box').contains(document.activeElement)"):
            break
    assert focused(tab) == "0 0"
    for key, place in (
        ("ArrowRight", "0 1"), ("ArrowDown", "1 1"), ("End", "1 39"), ("Home", "1 0"), ("ArrowLeft", "1 -1"),
        ("ArrowLeft", "1 -1"), ("ArrowRight", "1 0"), ("ArrowUp", "0 0"), ("ArrowUp", "-1 0"), ("ArrowRight", "-1 1"),
        ("Control+End", "1999 39"), ("ArrowDown", "1999 39"), ("Control+Home", "0 0"),
    ):  # fmt: skip
        tab.keyboard.press(key)
        assert focused(tab) == place, key
    tab.keyboard.press("PageDown")
    row = int(focused(tab).split()[0])
    assert row > 5
    assert tab.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    box = tab.evaluate(
        "(() => { const c = document.activeElement.getBoundingClientRect(), b = document.getElementById('box').getBoundingClientRect(); return [c.top >= b.top, c.bottom <= b.bottom]; })()"
    )
    assert box == [True, True]
    assert "kb-" in tab.locator("#here").inner_text()


def test_a_cell_says_in_words_what_its_mark_means(opened: Any) -> None:
    """The label names what was found, the rule and the case; «cannot tell» and «found nothing» differ in mark and words."""
    tab = opened("stored").page
    labels = {
        tab.locator(f'[data-at="{place}"]').inner_text(): tab.locator(
            f'[data-at="{place}"]'
        ).get_attribute("aria-label")
        for place in ("0 0", "0 1", "0 2", "0 3")
    }
    assert labels["C"] == "critical: 1 finding; also 1 warning. ring, alpha"
    assert labels["?"] == "cannot tell: 1 open subject. paths, alpha"
    assert labels["·"] == "found nothing: the rule looked and found nothing. limit, alpha"
    assert labels["–"] == "not applicable: there was nothing for the rule to look at. old, alpha"
    refused = tab.locator("#box tbody tr", has_text="not read")
    assert (
        refused.locator("td").first.get_attribute("aria-label")
        == "not judged: the case could not be read. ring, eta"
    )


def test_filters_narrow_and_say_how_many(opened: Any) -> None:
    """By name, by host, by rule, by what was found; the order follows the rules that are left."""
    tab = opened("stored").page
    count = tab.locator("#count")
    assert count.inner_text() == "8 of 8 cases, 4 of 4 rules"
    tab.locator("#q").fill("esx4")
    tab.wait_for_selector("#count:has-text('1 of 8')")
    assert rows(tab) == ["gamma"]
    tab.keyboard.press("Escape")
    tab.wait_for_selector("#count:has-text('8 of 8')")
    tab.locator("#qr").fill("1005577")
    tab.wait_for_selector("#count:has-text('1 of 4 rules')")
    assert rows(tab)[0] == "gamma"
    tab.locator("#qr").fill("")
    tab.wait_for_selector("#count:has-text('4 of 4 rules')")
    for choice, names in (
        ("C", ["alpha"]), ("M", ["alpha", "beta", "gamma"]), ("?", ["alpha", "theta"]), ("!", ["gamma"]),
        ("unread", ["eta", "zeta"]), ("found", ["alpha", "beta", "gamma", "epsilon"]),
    ):  # fmt: skip
        tab.locator("#show").select_option(choice)
        assert rows(tab) == names, choice
    tab.locator("#show").select_option("")
    tab.locator("#sort").select_option("name")
    assert rows(tab)[:3] == ["alpha", "beta", "delta"]


def test_a_cell_opens_with_its_sentences_and_closes_again(opened: Any) -> None:
    """Enter shows what was found, since when, where, and the way to the whole; Escape goes back to the cell."""
    each = opened("stored")
    tab = each.page
    tab.locator('[data-at="0 0"]').focus()
    tab.keyboard.press("Enter")
    panel = tab.locator("#panel")
    text = panel.inner_text()
    for part in (
        "alpha: ring", "The ring is bad", "KB 2039495", "critical: 1 finding; also 1 warning", "critical, likely", "esx1",
        "vm0, first seen 2017-10-03 00:00 UTC", "ring on vm0 is bad.", "vm1, first seen 2017-09-02 00:00 UTC", "Read from /cases/alpha",
    ):  # fmt: skip
        assert part in text, part
    assert tab.evaluate("document.activeElement.id") == "panel"
    assert each.hash().startswith("#case=")
    tab.keyboard.press("Escape")
    assert not panel.is_visible()
    assert focused(tab) == "0 0"


def test_an_open_question_tells_what_to_ask_for(opened: Any) -> None:
    """What is missing, why, and the text to send, which can be copied."""
    each = opened("stored", permissions=["clipboard-read", "clipboard-write"])
    each.page.locator('[data-at="0 1"]').click()
    assert "Missing: esxi.x. no x" in each.page.locator("#panel").inner_text()
    each.page.locator("#panel [data-copy]").first.click()
    each.page.wait_for_selector("#said:has-text('copied')")
    assert each.page.evaluate("navigator.clipboard.readText()") == "get x"


def test_from_the_cell_to_the_report_of_the_case(opened: Any) -> None:
    """«In the report» leads to the finding in the report of the case, which lies beside the page."""
    each = opened("stored")
    each.page.locator('[data-at="0 0"]').click()
    each.page.locator("#panel").get_by_role("link", name="In the report").first.click()
    each.page.wait_for_selector("body[data-done]", state="attached")
    assert each.page.locator("h1").inner_text() == "alpha"
    assert each.page.locator(".detail").get_by_text("ring on vm0 is bad.").first.is_visible()
    assert each.hash() == "#f=ring/vm0"
    assert each.trouble == []


def test_without_reports_the_command_stands_there(opened: Any) -> None:
    """The panel names the command that shows the whole case, with its id and archive."""
    tab = opened("some").page
    tab.locator("#box tbody th").first.click()
    command = tab.locator("#panel code").first.inner_text()
    assert command.startswith("backline archive show ")
    assert command.endswith(" --archive /archives/lab")


def test_open_questions_that_are_not_on_the_page_are_counted(browser: Any, tmp_path: Path) -> None:
    """The panel of a case says how many rules cannot tell, also where the page does not hold their questions."""
    made = fleet(60)
    made.hits = [hit for hit in made.hits if hit.sign != "?"]
    row = next(row for row, case in enumerate(made.cases) if case.cells.count("?") > 1)
    path = tmp_path / "bounded.html"
    path.write_text(page.render_page(made), encoding="utf-8")
    each = Opened(browser, path)
    each.page.locator("#box tbody th").nth(row).click()
    text = each.page.locator("#panel").inner_text()
    assert f"cannot tell: {made.cases[row].cells.count('?')} rules" in text
    each.context.close()


def test_a_rule_shows_its_hosts_and_when_first(opened: Any) -> None:
    """The head of a column opens the rule: cases by state, hosts earliest first; and narrows the map to it."""
    tab = opened("stored").page
    tab.locator('[data-at="-1 0"]').click()
    text = tab.locator("#panel").inner_text()
    assert "Hosts that showed it: 2, earliest first" in text
    assert text.index("first seen 2017-09-02") < text.index("first seen 2017-09-19")
    tab.get_by_role("button", name="Only what this rule").click()
    assert rows(tab) == ["alpha", "beta", "theta"]
    tab.locator("#only").click()
    assert len(rows(tab)) == 8


def test_hosts_and_months_are_views_of_their_own(opened: Any) -> None:
    """Hosts worst first with their cases and first time; rules by month with the number of cases."""
    tab = opened("stored").page
    tab.locator("#tab-host").click()
    assert rows(tab)[0] == "esx1"
    assert tab.locator('[data-at="0 0"]').get_attribute("aria-label") == (
        "C 3, critical: 1 finding; also 1 major, 1 cannot tell, 1 muted, in 3 cases, first seen 2017-09-19 00:00 UTC. ring, esx1"
    )
    tab.locator("#tab-month").click()
    assert rows(tab)[0] == "ring The ring is bad"
    cells = dict(
        zip(
            tab.locator("#box thead .up").all_inner_texts(),
            tab.locator("#box tbody tr").first.locator("td").all_inner_texts(),
            strict=True,
        )
    )
    assert cells["2017-09"] == "2"
    tab.locator("#tab-month").focus()
    tab.keyboard.press("ArrowRight")
    assert tab.evaluate("document.activeElement.id") == "tab-case"
    assert len(rows(tab)) == 8


def test_a_link_opens_a_cell(browser: Any, pages: dict[str, Path], opened: Any) -> None:
    """The address of an open cell leads to the same panel when it is opened again."""
    first = opened("stored")
    first.page.locator('[data-at="1 2"]').click()
    link = str(first.page.evaluate("location.hash"))
    again = opened("stored")
    again.page.evaluate("hash => { location.hash = hash; }", link)
    again.page.wait_for_selector("body[data-open]", state="attached")
    assert (
        again.page.locator("#panel h2").inner_text()
        == first.page.locator("#panel h2").inner_text()
        == "beta: limit"
    )


def test_dark_can_be_chosen(opened: Any) -> None:
    """The button changes ground and marks, and changes them back."""
    tab = opened("some", color_scheme="light").page
    look = "[document.body, document.querySelector('.swatch.s0')].map((node) => getComputedStyle(node).backgroundColor)"
    light = tab.evaluate(look)
    tab.locator("#theme").click()
    dark = tab.evaluate(look)
    assert all(one != other for one, other in zip(light, dark, strict=True))
    tab.locator("#theme").click()
    assert tab.evaluate(look) == light


def test_without_javascript_there_are_tables(opened: Any) -> None:
    """The worst cases and the rules by month stand in words; controls that would do nothing are not there."""
    tab = opened("stored", wait=False, java_script_enabled=False).page
    assert tab.locator("#worst-rows tr").count() == 8
    assert tab.locator("#worst-rows tr").first.inner_text().startswith("alpha")
    assert tab.locator("#by-month").is_visible()
    assert not tab.locator("button:visible, input:visible, select:visible").count()


def test_paper_has_the_first_rows_of_what_is_shown(opened: Any) -> None:
    """Printed is a table in words of the rows that the filters left, and no map; titles have room on A4."""
    tab = opened("stored").page
    tab.locator("#show").select_option("M")
    assert len(tab.pdf()) > 10_000
    assert [text.split()[0] for text in tab.locator("#worst-rows th").all_text_contents()] == [
        "alpha",
        "beta",
        "gamma",
    ]
    tab.emulate_media(media="print")
    assert tab.locator("#worst-rows").is_visible()
    assert not tab.locator("#box").is_visible()
    tab.set_viewport_size({"width": 718, "height": 1046})
    widths = tab.locator(".months tbody th").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect().width)"
    )
    assert min(widths) > 150


def test_the_focus_stays_when_its_cell_is_scrolled_away(opened: Any) -> None:
    """The wheel takes the cell out of the table; the next arrow key goes on from it."""
    tab = opened("many").page
    tab.locator('[data-at="2 1"]').focus()
    tab.evaluate("document.getElementById('box').scrollTop = 60000")
    tab.wait_for_selector('[data-at="2 1"]', state="detached")
    assert focused(tab) == "box"
    tab.keyboard.press("ArrowDown")
    assert focused(tab) == "3 1"


def test_on_a_phone_the_panel_covers_the_page_and_closes(opened: Any) -> None:
    """A tap opens the cell over the whole screen, Close gives the map back."""
    tab = opened("stored", viewport=PHONE, has_touch=True).page
    tab.locator('[data-at="0 0"]').tap()
    panel = tab.locator("#panel")
    panel.wait_for(state="visible")
    assert panel.bounding_box() == {"x": 0, "y": 0, **PHONE}
    panel.get_by_role("button", name="Close").tap()
    assert not panel.is_visible()
