"""The settings of JupyterLab, as JupyterLab reads them."""

import json
import sys

import pytest
from jupyterlab.commands import get_page_config

from authoring.lab import DISABLED, OVERRIDES, PAGE, set_up


def test_a_lab_disables_what_a_learner_need_not_see_and_keeps_no_dead_slider(tmp_path, monkeypatch):
    set_up(tmp_path)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    page = get_page_config([], app_settings_dir=None)
    assert set(DISABLED) <= set(page["disabledExtensions"])
    assert json.loads((tmp_path / OVERRIDES).read_text())["@jupyter-widgets/jupyterlab-manager:plugin"] == {
        "saveState": False
    }


def test_what_others_have_set_stays_and_a_second_time_changes_nothing(tmp_path):
    (tmp_path / PAGE).parent.mkdir(parents=True)
    (tmp_path / PAGE).write_text('{"disabledExtensions": {"theirs": true}, "appName": "Lab"}')
    set_up(tmp_path)
    once = (tmp_path / PAGE).read_bytes()
    set_up(tmp_path)
    page = json.loads(once)
    assert (tmp_path / PAGE).read_bytes() == once
    assert page["appName"] == "Lab" and set(page["disabledExtensions"]) == {"theirs", *DISABLED}


def test_settings_that_cannot_be_read_are_left_as_they_are(tmp_path):
    (tmp_path / OVERRIDES).parent.mkdir(parents=True)
    (tmp_path / OVERRIDES).write_text("{not json")
    with pytest.raises(ValueError, match=r"overrides\.json is not JSON .*: repair or remove it"):
        set_up(tmp_path)
    assert (tmp_path / OVERRIDES).read_text() == "{not json" and not (tmp_path / PAGE).exists()
