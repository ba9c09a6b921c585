"""Nothing of a page is cut: each cell, output, figure and table fits, or moves sideways under a shadow."""

import json
import subprocess

import pytest

from tests.browser.conftest import FETCHED, HERE, needed, served
from tests.browser.test_pages import PAGES

pytestmark = pytest.mark.browser

ALWAYS = {
    "notebooks/03_gradcheck.html",  # wide tables
    "notebooks/04_closures.html",  # the chain
    "notebooks/12_shapes.html",  # long sentences, sliders
    "genindex.html",
    "index.html",
}  # the others take minutes
WIDTHS = ["1280", "768", "390"]

SHADOW = (
    "background: linear-gradient(to left, #fff, transparent) right/9px 100% no-repeat local, "
    "linear-gradient(to left, #999, transparent) right/9px 100% no-repeat scroll"
)
LONG = "x" * 400
BOX = f'<pre style="overflow: auto; {SHADOW}">'
FAULTS = {
    "moves sideways without a shadow": f'<pre style="overflow: auto">{LONG}</pre>',
    "hides the shadow": f'{BOX}<div style="background: #fff">{LONG}</div></pre>',
    "cut": f'<pre style="overflow: hidden">{LONG}</pre>',
    "past the page": f"<pre>{LONG}</pre>",
    "overlap": '<pre>one</pre><pre style="margin-top: -2em">over it</pre>',
    "cut by its drawing": '<figure><svg width="90"><text x="70">too long a word</text></svg></figure>',
}
SOUND = (
    f"{BOX}{LONG}</pre>"
    f'<pre style="white-space: pre-wrap; overflow-wrap: anywhere">{LONG}</pre>'
    '<figure><svg width="200"><text x="10" y="20">a word</text>'
    '<g id="axis_1"><text x="190" y="40">of an axis</text></g></svg></figure>'
)
PAGE = '<!doctype html><article><div class="cell_output">{}</div></article>'


@pytest.fixture
def measured(node, chromium):
    """Return a function that tells what is found on pages in windows of three widths."""
    needed((HERE / "node_modules" / "playwright-core").exists(), f"playwright-core {FETCHED}")

    def measured(address, *pages):
        command = [node, str(HERE / "whole.mjs"), chromium, address, *pages]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        return [json.loads(line) for line in done.stdout.splitlines()]

    return measured


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.long] * (page not in ALWAYS)) for page in sorted(PAGES)]
)
def test_nothing_of_a_page_is_cut_or_covered_at_three_widths(measured, book, page):
    (found,) = measured(book, page)
    assert found["faults"] == {}
    assert sorted(found["boxes"]) == sorted(WIDTHS)


def test_each_way_of_being_cut_is_found_at_each_width_and_what_fits_is_not(measured, tmp_path):
    for place, content in enumerate([*FAULTS.values(), SOUND]):
        (tmp_path / f"{place}.html").write_text(PAGE.format(content), encoding="utf-8")
    with served(tmp_path) as address:
        *bad, good = measured(address, *(f"{place}.html" for place in range(len(FAULTS) + 1)))
    for kind, found in zip(FAULTS, bad, strict=True):
        assert sorted(found["faults"]) == sorted(WIDTHS)
        for faults in found["faults"].values():
            assert faults and all(fault.startswith(kind) for fault in faults), faults
    assert good["faults"] == {}
    assert good["moving"] == dict.fromkeys(WIDTHS, 1)
