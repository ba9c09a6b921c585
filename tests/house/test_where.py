"""The page about servers for the course: its numbers, and the files that set servers up."""

import json
import mmap
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from classroom import server

ROOT = Path(__file__).parents[2]
WHERE = ROOT / "book/teaching/where"
PAGE = server.PAGE.read_text(encoding="utf-8")
FOUND = json.loads(server.MEASURED.read_text(encoding="utf-8"))["classroom"]
NOT_ON_WINDOWS = pytest.mark.skipif(sys.platform == "win32", reason="these scripts run on Linux")
SCRIPTS = [ROOT / "postBuild", WHERE / "install.sh"]
SMALL = {
    "server": {"alone": 111, "each": 110, "at_once": 5},
    "chapters": [
        {"chapter": "14_a", "after": 300, "peak": 320, "seconds": 45, "longest": 6},
        {"chapter": "17_b", "after": 100, "peak": 500, "seconds": 20, "longest": 2},
    ],
    "work": {"given": 1, "with_outputs": 10},
}


def settings(name):
    """Read a YAML file."""
    return yaml.safe_load((WHERE / name).read_text(encoding="utf-8"))


def test_the_page_shows_the_measurements():
    assert server.filled(PAGE, FOUND) == PAGE
    other = FOUND | {"work": {"given": 5, "with_outputs": 7}}
    assert server.filled(PAGE, other) != PAGE


def test_a_page_without_a_table_is_refused():
    with pytest.raises(ValueError, match="where.md needs one block"):
        server.filled(PAGE.replace("measured: sizes", "measured: nothing"), FOUND)


def test_computed_numbers_follow_the_formulas():
    assert server.guarantee(SMALL) == 750  # 110 + 2 · 300 = 710, up to the next 50
    assert server.limit(SMALL) == 2000  # 750 + 400 = 1150, up to the next 1000
    assert server.size(SMALL, 30) == {
        "working": 30,
        "memory": pytest.approx(30 * 750 / 0.9),
        "cores": 3,  # 30 · 6 s / 60 s
        "machines": 1,
        "work": 300,
    }
    assert server.size(SMALL, 10_000)["machines"] == 27  # 2,000 · 750 / 0.9 MB on machines of 64,000 MB


def test_the_settings_equal_the_computed_numbers():
    cluster = settings("z2jh.yaml")["singleuser"]
    assert cluster["memory"] == {
        "guarantee": f"{server.guarantee(FOUND)}M",
        "limit": f"{server.limit(FOUND)}M",
    }
    assert settings("tljh.yaml")["limits"]["memory"] == f"{server.limit(FOUND)}M"


def test_the_settings_in_python_are_python():
    class Settings:
        Spawner = type("Spawner", (), {})

    source = (WHERE / "jupyterhub_config.py").read_text(encoding="utf-8")
    exec(compile(source, "jupyterhub_config.py", "exec"), {"get_config": Settings})
    assert Settings.Spawner.environment == settings("z2jh.yaml")["singleuser"]["extraEnv"]
    for url in (Settings.Spawner.default_url, settings("z2jh.yaml")["singleuser"]["defaultUrl"]):
        assert (ROOT / url.split("/work/")[1]).exists()


@NOT_ON_WINDOWS
@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_the_scripts_are_valid_and_stop_at_the_first_error(path):
    done = subprocess.run(["bash", "-n", path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "#!/bin/bash" and "set -euo pipefail" in lines


@NOT_ON_WINDOWS
def test_binder_s_script_is_executable():
    assert (ROOT / "postBuild").stat().st_mode & 0o100  # repo2docker starts it as a program


def test_the_page_shows_every_file():
    shown = set(re.findall(r"literalinclude\} where/(\S+)", PAGE))
    assert shown == {path.name for path in WHERE.iterdir() if path.is_file()} - {"measured.json"}


@pytest.mark.skipif(sys.platform != "linux", reason="the measurement reads /proc")
def test_a_kernel_s_cost_is_measured_and_not_guessed():
    with open("/proc/self/status", encoding="utf-8") as status:
        pid = int(re.search(r"^Pid:\s+(\d+)", status.read(), re.MULTILINE)[1])
    before, most = server.memory(pid)
    # New memory from the system: malloc may reuse memory that an earlier test freed, which counts already.
    with mmap.mmap(-1, 50_000_000, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as held:
        held.write(b"x" * len(held))
        after, most = server.memory(pid)
    assert after - before > 40_000_000 and most > 0.9 * after  # the kernel counts the peak in steps
    assert server.share_of(pid) >= after // 2
    assert server.processor(pid) > 0
