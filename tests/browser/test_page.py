"""The HTML report in a real browser: it works, reaches out for nothing, and has no fault that shuts people out."""

import random
from pathlib import Path

import pytest

from envmgr.model.cell import Cell, Plan
from envmgr.model.comparison import Verdict
from envmgr.model.env import Device
from envmgr.model.history import Point
from envmgr.model.outcome import Outcome
from envmgr.model.result import CellResult, JudgedCell, Parity, Report, Run, RunRecord
from envmgr.report.original import OriginalTable
from envmgr.report.page.model import ROWS_AT_ONCE, Story, page_of
from envmgr.report.page.render import html
from envmgr.report.summary import matrix_view
from envmgr.stats.summary import summarise

pytestmark = pytest.mark.browser

sync_api = pytest.importorskip("playwright.sync_api")
axe = pytest.importorskip("axe_playwright_python.sync_playwright")

CHROMIUM = [Path(name) for name in ("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
DEVICES = ("cpu:0", "gpu:0", "llvm_cpu.0", "mps")
OUTCOMES = (
    Outcome.PASSED,
    Outcome.PASSED,
    Outcome.WRONG,
    Outcome.FAILED,
    Outcome.UNAVAILABLE,
    Outcome.XFAIL,
    Outcome.XPASS,
)


def judged_cell(number, draw):
    device = DEVICES[number % 4]
    cell = Cell(
        id=f"c{number:05d}",
        manifest=f"stack-{number // 8:04d}",
        variant="default",
        runner=("keras_inference", "torch_mnist")[number // 4 % 2],
        device=Device(id=device, api=device.partition(":")[0], physical="Xeon <b>"),
        parameters={"batch-size": 8},
        host="box",
    )
    outcome = OUTCOMES[number % len(OUTCOMES)]
    seconds = 10 ** draw.uniform(-3, 1)
    timed = outcome in {Outcome.PASSED, Outcome.XPASS}
    report = Report(
        protocol=1,
        cell=cell.id,
        status="ok",
        first_call=5 * seconds,
        samples=[seconds * draw.uniform(1, 1.1) for _ in range(9)],
    )
    results = (
        [CellResult(cell=cell.id, round=at, outcome=Outcome.PASSED, report=report) for at in range(3)] if timed else []
    )
    return JudgedCell(
        cell=cell,
        outcome=outcome,
        observed=outcome,
        unexpected=outcome is Outcome.FAILED,
        reason="" if timed else "it <i>does</i> not work & says why",
        results=results,
        parity=Parity(reference="c00000", max_abs=0, max_rel=1e-6, share_off=0, verdict="agrees") if timed else None,
    )


def page_of_cells(count, place):
    draw = random.Random(1)
    judged = tuple(judged_cell(number, draw) for number in range(count))
    plan = Plan(matrix="quick", effort="default", processes=3, host="box", cells=tuple(each.cell for each in judged))
    record = RunRecord(id="r3", started_at="2026-01-02T03:04:05+00:00", host="box", envmgr="0.1.0", plan=plan)
    run = Run(record=record, results=(), finished=True, damaged=("x.json: damaged",))
    summaries = {each.cell.id: summarise(each.results) for each in judged}
    points = [
        Point(
            run=f"r{at}",
            started_at="",
            outcome=Outcome.PASSED,
            median=1 + at / 10,
            change=Verdict.SLOWER if at == 2 else None,
            ratio=1.1,
        )
        for at in range(4)
    ]
    table = OriginalTable(title="VGG19", heads=("batch", "cpu"), rows=(("1", "0.9"), ("vs CPU", "1.00x")))
    view, logs = matrix_view(run, judged, summaries), {"c00000": "its last words"}
    story = Story(run, judged, view, logs, {"c00000": points}, (table,))
    place.write_text(html(page_of(story)), encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    return page_of_cells(120, tmp_path_factory.mktemp("page") / "report.html")


@pytest.fixture(scope="module")
def long_page_file(tmp_path_factory):
    return page_of_cells(8 * (ROWS_AT_ONCE + 20), tmp_path_factory.mktemp("page") / "long.html")


@pytest.fixture(scope="module")
def chromium():
    found = next((path for path in CHROMIUM if path.exists()), None)
    if found is None:
        pytest.fail("the marker `browser` is asked for, and there is no Chromium: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(found), args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium, page_file):
    """Open the page, and at the end hold that it reached out for nothing and complained of nothing."""
    contexts, said, asked = [], [], []

    def open_page(*, scheme="light", width=1280, media="screen", place=page_file):
        context = chromium.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.emulate_media(media=media)
        page.goto(place.as_uri())
        page.wait_for_function("document.getElementById('status').textContent !== ''")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []
    assert {url.rpartition("/")[2] for url in asked} <= {page_file.name, "long.html"}
    assert all(url.startswith("file:") for url in asked)


def visible_rows(page):
    return page.locator("#grid tbody tr:visible").count()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)])
def test_no_serious_fault_shuts_people_out(opened, scheme, width):
    page = opened(scheme=scheme, width=width)
    page.evaluate("location.hash = '#cell-c00000'")
    page.wait_for_selector("#detail:visible")
    found = axe.Axe().run(page).response["violations"]
    assert [(each["impact"], each["id"], each["nodes"][0]["html"]) for each in found] == []


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_is_no_wider_than_the_window(opened, width):
    page = opened(width=width)
    page.evaluate("location.hash = '#cell-c00000'")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_words_outcomes_and_columns_filter(opened):
    page = opened()
    assert visible_rows(page) == 15
    page.fill("#words", "stack-0003 gpu")
    assert page.inner_text("#status") == "2 of 120 cells"
    assert visible_rows(page) == 1
    page.click("text=Clear")
    page.select_option("#outcome", "unexpected")
    assert page.inner_text("#status") == "17 of 120 cells"
    page.click("text=Clear")
    page.select_option("#column", "1")
    assert page.inner_text("#status") == "15 of 120 cells"
    assert page.locator("#list tbody tr").count() == 15


def test_the_list_sorts_both_ways_by_keyboard(opened):
    page = opened()

    def medians():
        return page.evaluate(
            "[...document.querySelectorAll('#list tbody tr')].map(row => row.cells[4].textContent).filter(Boolean)"
        )

    first = medians()
    page.focus("#list [data-sort=median]")
    page.keyboard.press("Enter")
    assert page.get_attribute("#list th:has([data-sort=median])", "aria-sort") == "descending"
    assert medians() == first[::-1]


def test_two_columns_stand_side_by_side(opened):
    page = opened()
    page.select_option("#first-column", "0")
    page.select_option("#second-column", "1")
    assert page.locator("#pairs tbody tr").count() == 15
    ratios = page.locator("#pairs tbody tr td:nth-child(4)").all_inner_texts()
    assert any(text.endswith("x") for text in ratios)


def test_columns_of_two_runners_have_no_ratio(opened):
    page = opened()
    page.select_option("#first-column", "0")
    page.select_option("#second-column", "4")
    assert page.locator("#pairs thead th").nth(2).inner_text().startswith("torch_mnist")
    assert set(page.locator("#pairs tbody tr td:nth-child(4)").all_inner_texts()) == {""}


def test_reasons_stand_on_the_page_and_lead_to_their_cells(opened):
    page = opened()
    assert "it <i>does</i> not work & says why" in page.inner_text("#why")
    page.click("#why a >> nth=0")
    assert page.locator("#detail").is_visible()
    title = page.locator("#detail-title").bounding_box()
    controls = page.locator("form.controls").bounding_box()
    assert title["y"] >= controls["y"] + controls["height"]


def test_a_cell_has_its_part_of_the_page_and_text_stays_text(opened):
    page = opened()
    page.click("#grid a[data-id=c00000]")
    part = page.locator("#detail")
    text = part.inner_text()
    for words in ("stack-0000/keras_inference/cpu:0", "Xeon <b>", "its last words", "▼ slower (1.10x) in r2", "box"):
        assert words in text
    assert part.locator("svg").count() == 2
    assert page.evaluate("document.activeElement.id") == "detail-title"


def test_arrow_keys_move_between_cells(opened):
    page = opened()
    page.focus("#grid a[data-id=c00000]")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.id") == "c00001"
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.id") == "c00009"


def test_dark_and_light_can_be_chosen(opened):
    page = opened(scheme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    page.click("#theme")
    assert page.evaluate(background) != dark


def test_in_print_the_matrix_stands_without_controls(opened):
    page = opened(media="print")
    assert page.locator("#controls").is_hidden()
    assert visible_rows(page) == 15
    assert page.locator("#why").is_visible()


def test_dark_is_not_printed(opened):
    page = opened(scheme="dark", media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_without_script_the_matrix_is_there(chromium, page_file):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(page_file.as_uri())
    assert visible_rows(page) == 15
    assert page.locator("#controls").is_hidden()
    context.close()


def test_of_many_rows_the_first_are_laid_out_and_the_others_on_demand(opened, long_page_file):
    page = opened(place=long_page_file)
    assert visible_rows(page) == ROWS_AT_ONCE
    assert page.inner_text("#rows-shown") == f"{ROWS_AT_ONCE} of {ROWS_AT_ONCE + 20} rows."
    page.focus(f"#grid tbody tr:nth-child({ROWS_AT_ONCE}) a >> nth=0")
    page.keyboard.press("ArrowDown")
    assert visible_rows(page) == ROWS_AT_ONCE + 20
    row = "document.activeElement.closest('tr').rowIndex - document.getElementById('grid').tHead.rows.length"
    assert page.evaluate(row) == ROWS_AT_ONCE
    assert page.locator("#more-rows").is_hidden()


def test_the_filter_finds_rows_that_were_not_laid_out_yet(opened, long_page_file):
    page = opened(place=long_page_file)
    page.fill("#words", f"stack-{ROWS_AT_ONCE + 11:04d} gpu")
    assert page.inner_text("#grid tbody th") == f"stack-{ROWS_AT_ONCE + 11:04d}"
    assert visible_rows(page) == 1
    assert page.locator("#grid tbody .square:not(.dim)").count() == 2
    page.click("text=Clear")
    assert visible_rows(page) == ROWS_AT_ONCE
    assert page.locator("#grid tbody .dim").count() == 0
    page.click("text=Show more rows")
    assert visible_rows(page) == ROWS_AT_ONCE + 20


def test_all_rows_are_printed(opened, long_page_file):
    page = opened(place=long_page_file)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert visible_rows(page) == ROWS_AT_ONCE + 20


def test_without_script_all_rows_are_there(chromium, long_page_file):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(long_page_file.as_uri())
    assert page.locator(".grid tbody tr:visible").count() == ROWS_AT_ONCE + 20
    context.close()


def test_a_table_wider_than_the_window_says_so_and_keeps_its_first_column(opened):
    assert opened().locator("#sideways").is_hidden()
    page = opened(width=390)
    assert page.locator("#sideways").is_visible()
    page.evaluate("document.getElementById('grid').parentElement.scrollLeft = 300")
    assert page.locator("#grid tbody th >> nth=0").bounding_box()["x"] >= 0
    assert page.locator("#grid tbody td >> nth=0").bounding_box()["x"] < 0
