"""What is shown: the table, the file of results, and the book's page, whose numbers come from that file."""

import json
import platform
import re

import pytest

from benchmarks import __main__ as command
from benchmarks import page, results, table

ROW = {
    "workload": "W1",
    "threads": 1,
    "microseconds": 40.06,
    "products": 0.1249,
    "bytes": 3 * 2**19,
    "torch_bytes": 2**21,
    "to_torch": [0.09, 0.1031, 0.11],
    "to_torch_best": [0.1, 0.125, 0.13],
    "to_numpy": [1.2, 1.3, 1.5],
}
ALONE = ROW | {"torch_bytes": None, "to_torch": None, "to_torch_best": None}


def test_a_row_says_whether_its_goals_are_met():
    assert table.cells(ROW) == [
        *("W1", "1", "40.1", "0.103", "0.125", "1.30", "≤\xa02.0, met"),
        *("12%", "≥\xa017%, not met", "1.5\xa0MB", "2.0\xa0MB"),
    ]
    assert table.cells(ROW | {"to_numpy": [1.9, 2.07, 2.1]})[6] == "≤\xa02.0, not met"
    assert table.cells(ROW | {"products": 0.1651})[8] == "≥\xa017%, met"


def test_goals_are_for_one_thread():
    cells = table.cells(ROW | {"threads": 2})
    assert [cells[6], cells[8]] == ["", ""]


def test_without_pytorch_the_cells_stay_empty():
    assert table.cells(ALONE)[3:7] == ["–", "–", "1.30", "≤\xa02.0, met"]
    assert table.cells(ALONE)[-1] == "–"


def test_the_text_has_aligned_columns():
    lines = table.text([ROW, ALONE | {"workload": "W2 Adam"}]).splitlines()
    assert len(lines) == 4
    assert len({len(line) for line in lines}) == 1
    assert lines[2].startswith("W1       ")


def test_the_spread_is_the_farthest_round():
    assert table.spread([ROW]) == pytest.approx((0.1031 - 0.09) / 0.1031)
    assert table.spread([ALONE]) == pytest.approx(0.2 / 1.3)


def test_a_part_is_saved_beside_the_other_one(tmp_path):
    path = tmp_path / "results.json"
    assert results.load(path) == {}
    results.save("table", {"rows": [ROW]}, path)
    results.save("scaling", {"layer": {"function": 0.123456}}, path)
    found = results.load(path)
    assert found["table"]["rows"][0]["microseconds"] == 40.06
    assert found["scaling"]["layer"] == {"function": 0.1235}
    assert found["table"]["machine"] == results.machine()
    assert [path.name for path in tmp_path.iterdir()] == ["results.json"]


def test_the_machine_is_described_without_its_name():
    text = json.dumps(results.machine())
    assert platform.node() not in text
    assert "/" not in text.replace("/s", "")


def test_every_number_of_the_page_is_the_saved_one():
    text = page.PAGE.read_text(encoding="utf-8")
    assert page.filled(text, results.load()) == text
    for name in page.BLOCKS:
        text = re.sub(page.BLOCK.format(name=name), "", text, flags=re.DOTALL)
    assert (
        re.findall(r"\d\.\d|µs|\bms\b|\bseconds\b", text) == []
    )  # no number of a measurement stands outside


def test_a_page_without_a_block_is_refused():
    with pytest.raises(ValueError, match="one block between .*results: table"):
        page.filled("# How fast is it?\n", results.load())


def test_draw_writes_the_figures_and_the_page(tmp_path, monkeypatch):
    copy = tmp_path / "speed.md"
    copy.write_text(page.PAGE.read_text(encoding="utf-8").replace("MB", "GB"), encoding="utf-8")
    monkeypatch.setattr(page, "BOOK", tmp_path)
    monkeypatch.setattr(page, "PAGE", copy)
    assert command.main(["draw"]) == 0
    pictures = sorted(path.name for path in (tmp_path / "_static").iterdir())
    assert pictures == ["speed_growth.png", "speed_ratios.png"]
    assert page.filled(copy.read_text(encoding="utf-8"), results.load()) == copy.read_text(encoding="utf-8")


def test_half_of_the_results_do_not_make_a_page(monkeypatch, capsys):
    monkeypatch.setattr(results, "load", lambda: {"table": {"rows": [ROW]}})
    assert command.main(["draw"]) == 1
    assert "run `python -m benchmarks --save`" in capsys.readouterr().err


@pytest.mark.parametrize("more", [["--quick"], ["--rounds", "3"], ["--workloads", "W1"]])
def test_only_whole_results_are_saved(more, capsys):
    with pytest.raises(SystemExit):
        command.main(["--save", *more])
    assert "whole results" in capsys.readouterr().err


def test_without_pytorch_the_command_says_how_to_add_it(monkeypatch, capsys):
    monkeypatch.setattr(command, "contestants", lambda: {"minigrad": "", "numpy": ""})
    monkeypatch.setattr(command, "compare", lambda workload, threads, *_: ALONE | {"threads": threads})
    assert command.main(["--quick", "--workloads", "W1"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("\nW1 ") == 2
    assert '--editable ".[bench]"' in printed


def test_ratios_of_rounds_that_lie_far_apart_are_not_shown():
    steady, restless = ROW, ROW | {"threads": 2, "to_torch": [0.05, 0.1, 4.0]}
    shown = page.ratios_table({"table": {"rows": [steady, restless]}})
    assert "| W1 | 0.103 |" in shown and "Two threads" not in shown
    assert shown.count("| W1 |") == 1
    assert "Two threads" in page.ratios_table({"table": {"rows": [steady, ROW | {"threads": 2}]}})
