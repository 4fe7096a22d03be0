"""Charts of the report: esxtop's own names, the worst object of a metric first, marked and centred at the incident.

The captures are synthetic: 2,160 samples 5 s apart, from 10:00 to 13:00 UTC.
"""

from __future__ import annotations

import re
import shutil
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec import structs

from analyzer.case import case_file
from analyzer.case.document import CaseChart, ChartLine
from analyzer.cli import main
from analyzer.report import charts, html

HOST = r"\\esx71.lab.example"
START = datetime(2021, 3, 2, 10)
VMS = {"calm": 12.0, "worst": 70.0, "bad": 45.0}  # %RDY of a VM with one vCPU
CHROMIUM = shutil.which("chromium")


def write(path: Path, samples: int = 2160) -> Path:
    """Write a capture in which each VM waits for a CPU as long as VMS says."""
    heads = ["(PDH-CSV 4.0) (UTC)(0)"]
    row: list[str] = []
    for number, (name, ready) in enumerate(VMS.items(), 4000):
        heads += [
            rf"{HOST}\Group Cpu({number}:{name})\% {counter}"
            for counter in ("Ready", "VmWait", "Max Limited")
        ]
        heads.append(rf"{HOST}\Vcpu({number}:{name}:{number + 900}:vmx-vcpu-0:{name})\% Ready")
        row += [f"{ready:.2f}", "0.00", "0.00", f"{ready:.2f}"]
    lines = ['"' + '","'.join(heads) + '",']
    for sample in range(samples):
        stamp = (START + timedelta(seconds=5 * sample)).strftime("%m/%d/%Y %H:%M:%S")
        lines.append('"' + '","'.join([stamp, *row]) + '",')
    path.write_text("\n".join(lines) + "\n")
    return path


def document(tmp_path: Path, *words: str) -> dict[str, Any]:
    capture = write(tmp_path / "esxtop.csv")
    done = CliRunner().invoke(
        main, ["triage", str(capture), "-o", str(tmp_path / "out"), "--quiet", *words]
    )
    assert done.exit_code == 0, done.output
    return case_file.read_case(tmp_path / "out" / "case.json")


def test_lines_bear_the_names_that_esxtop_shows(tmp_path: Path) -> None:
    """%RDY, not the name of our column; the unit stands on the axis and not behind a name that has it."""
    doc = document(tmp_path)
    labels = {line.label for chart in doc.series.values() for line in chart.lines}
    assert {"%RDY", "%MLMTD"} <= labels
    assert not any("_" in label for label in labels)
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "<b>worst: %RDY</b>" in page
    assert "rdy_pct, %" not in page


def test_of_each_metric_the_worst_object_comes_first(tmp_path: Path) -> None:
    """All charts of %RDY stand together, the VM that waits longest above."""
    found = [
        chart.title for chart in charts.list_charts(document(tmp_path)) if chart.metric == "%RDY"
    ]
    assert found == ["worst: %RDY", "bad: %RDY", "calm: %RDY"]
    metrics = [chart.metric for chart in charts.list_charts(document(tmp_path))]
    assert metrics == sorted(metrics, key=metrics.index)


def test_of_a_metric_whose_little_is_bad_the_least_comes_first(tmp_path: Path) -> None:
    """N%L of 40 is worse than 90."""
    doc = document(tmp_path)
    times = ["2021-03-02T10:00:00Z", "2021-03-02T10:00:05Z"]
    one = CaseChart(title="", unit="%", node="esx", times=times, lines=[])
    lines = {"good": [90.0, 99.0], "poor": [40.0, 99.0]}
    doc.series = {
        name: structs.replace(one, title=name, lines=[ChartLine(label="N%L", values=values)])
        for name, values in lines.items()
    }
    assert [chart.title for chart in charts.list_charts(doc)] == ["poor", "good"]


@pytest.mark.parametrize(
    ("incident", "said"),
    [
        ("2021-03-02T09:00:00Z", "the incident is 1.0 h before the first sample"),
        ("2021-03-02T15:00:00Z", "the incident is 2.0 h after the last sample"),
    ],
)
def test_an_incident_outside_the_capture_is_said(tmp_path: Path, incident: str, said: str) -> None:
    """A chart that does not show the moment says how far away it is, instead of a mark."""
    document(tmp_path, "--incident", incident)
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert said in page
    assert 'class="tick moment"' not in page
    assert "data-window" not in page


def test_an_incident_inside_is_marked_and_the_hour_around_it_shown(tmp_path: Path) -> None:
    """Half an hour on either side; the drawings for print and without a script have the mark as well."""
    doc = document(tmp_path, "--incident", "2021-03-02T11:30:00Z")
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "Marked: the incident at 2021-03-02 11:30:00 UTC." in page
    assert 'data-window="1614682800,1614686400"' in page  # 11:00 to 12:00
    marks = re.findall(r'class="tick moment" d="M([\d.]+) 0V140"', page)
    assert marks
    assert all(445 < float(mark) < 455 for mark in marks)  # of 900, at half of the three hours
    assert html.render_page(doc) == page


def test_a_short_capture_is_marked_and_shown_whole(tmp_path: Path) -> None:
    """Ten minutes need no window."""
    path = write(tmp_path / "esxtop.csv", 120)
    words = [
        "triage",
        str(path),
        "-o",
        str(tmp_path / "out"),
        "--quiet",
        "--incident",
        "2021-03-02T10:05:00Z",
    ]
    assert CliRunner().invoke(main, words).exit_code == 0
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert 'class="tick moment"' in page
    assert "data-window" not in page


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_the_browser_draws_the_mark_in_the_middle_of_each_chart(tmp_path: Path) -> None:
    """In the middle of the plot runs a line in the colour of the mark, from top to bottom, and nowhere else."""
    playwright = pytest.importorskip("playwright.sync_api")
    document(tmp_path, "--incident", "2021-03-02T11:30:00Z")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        trouble: list[str] = []
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.goto((tmp_path / "out" / "report.html").as_uri())
        page.wait_for_selector("body[data-done]", state="attached")
        page.wait_for_timeout(300)
        found = page.evaluate(
            """() => [...document.querySelectorAll('[data-chart] canvas')].map((canvas) => {
              const { width, height } = canvas, { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
              const columns = {};
              for (let at = 0; at < data.length; at += 4)
                if (data[at] > 120 && data[at] < 165 && data[at + 1] < 45 && data[at + 2] < 80 && data[at + 3] > 200) {
                  const x = (at / 4) % width;
                  columns[x] = (columns[x] ?? 0) + 1;
                }
              const tall = Object.keys(columns).map(Number).filter((x) => columns[x] > 40);
              return [tall, width];
            })"""
        )
        browser.close()
    assert not trouble
    assert len(found) >= 3
    for tall, width in found:
        assert tall, "no line in the colour of the mark"
        assert max(tall) - min(tall) <= 3
        assert 0.48 * width < sum(tall) / len(tall) < 0.56 * width
