"""The clockwork, with clocks of our own: whose turn it is, what a burst costs, what a child answers."""

import json
from itertools import count

import pytest

from benchmarks import child, comparison, rounds, scaling
from benchmarks.runner import Runner
from benchmarks.workloads import WORKLOADS


class Fake:
    """A runner whose step takes a given time, and that records its turns."""

    def __init__(self, name, seconds, turns):
        self.name, self.seconds, self.turns = name, seconds, turns

    def run(self, steps):
        self.turns.append((self.name, steps))
        return {"cpu": steps * self.seconds, "wall": 3 * steps * self.seconds}


def test_a_turn_takes_about_as_long_as_asked():
    assert rounds.steps_for(Fake("slow", 5.0, []), seconds=0.2) == 1
    assert rounds.steps_for(Fake("quick", 0.001, []), seconds=0.2) == 200
    assert rounds.steps_for(Fake("quick", 0.001, []), seconds=0.3, clock="wall") == 100


def test_turns_go_forwards_and_backwards_and_times_are_seconds_a_step():
    turns, calls = [], []
    runners = {name: Fake(name, seconds, turns) for name, seconds in (("a", 0.25), ("b", 0.5))}
    times = rounds.interleave(runners, rounds=3, seconds=1.0, after_turn=lambda: calls.append(1))
    assert times == {"a": [0.25] * 3, "b": [0.5] * 3}
    assert turns[-6:] == [("a", 4), ("b", 2), ("b", 2), ("a", 4), ("a", 4), ("b", 2)]
    assert len(calls) == 6


def test_a_burst_counts_both_clocks_and_keeps_the_last_loss():
    losses = count(5.0)
    cpu, wall = iter([1.0, 4.0]), iter([10.0, 17.0])
    cost = child.burst(lambda: next(losses), 3, lambda: next(cpu), lambda: next(wall))
    assert cost == {"cpu": 3.0, "wall": 7.0, "last": 7.0}
    assert child.burst(lambda: None, 1)["last"] is None


def test_a_child_answers_each_line_with_what_the_steps_cost():
    order = {"target": "small_costs:check", "arguments": {"width": 3}, "first": None}
    answers = []
    child.main(iter([json.dumps(order), "1\n", "2\n"]), answers.append)
    first, second = map(json.loads, answers)
    assert first["last"] == second["last"] == 0.0  # gradcheck finds no problem
    assert second["cpu"] >= 0 and second["wall"] > 0 and second["bytes"] >= 0


def test_a_runner_talks_to_its_child_and_notices_its_end(capfd):
    with Runner("small_costs:closures", {"kind": "Layer", "depth": 5}) as runner:
        assert runner.run(7)["wall"] > 0
    with Runner("small_costs:closures", {"kind": "none", "depth": 5}) as runner:
        with pytest.raises(RuntimeError, match="small_costs:closures ended early"):
            runner.run(1)
    assert runner.child.returncode == 1
    assert "KeyError: 'none'" in capfd.readouterr().err


def test_a_row_is_measured_from_end_to_end(monkeypatch):
    targets = {name: t for name, t in comparison.CONTESTANTS.items() if "torch" not in name}
    monkeypatch.setattr(comparison, "contestants", lambda: targets)
    row = comparison.compare(WORKLOADS["W1"], threads=1, rounds=1, seconds=0.001)
    assert row["workload"] == "W1" and row["threads"] == 1
    assert row["to_torch"] is row["to_torch_best"] is row["torch_bytes"] is None
    lowest, median, highest = row["to_numpy"]
    assert 0 < lowest == median == highest
    assert 0 < row["products"] and row["microseconds"] > 0


def test_who_disagrees_is_not_timed(monkeypatch):
    monkeypatch.setattr(comparison, "contestants", lambda: {"numpy": "with_numpy:step"})
    monkeypatch.setattr(comparison, "interleave", lambda *_: pytest.fail("they were timed"))
    monkeypatch.setattr(comparison, "TOLERANCE", -1)  # now nobody agrees, not even with themselves
    with pytest.raises(comparison.Disagreement, match="at the start the loss of numpy"):
        comparison.compare(WORKLOADS["W1"])


def test_the_small_measurements_give_a_number_for_each_thing(monkeypatch):
    monkeypatch.setattr(scaling, "WIDTHS", (3, 5))
    monkeypatch.setattr(scaling, "contestants", lambda: {"minigrad": "with_minigrad:step"})
    grown = scaling.growth({1: scaling.GROWTH["batch"][1], 4: scaling.GROWTH["batch"][4]}, 1, 0.001)
    assert grown["values"] == [1, 4] and len(grown["minigrad"]) == 2 and "torch" not in grown
    cost = scaling.gradcheck_cost(1, 0.001)
    assert cost["parameters"] == [12, 30] and min(cost["milliseconds"]) > 0
    assert set(scaling.layer_cost(1, 0.001)) == {"function", "Layer"}
    assert set(scaling.epoch_cost(1, examples=256)) == {"minigrad"}
    assert min(scaling.import_cost(1).values()) > 0
    assert list(scaling.scale([], 1, 0.001)) == []
