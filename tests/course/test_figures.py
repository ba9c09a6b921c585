"""Figures say their message and their units, refuse what would mislead, and travel with their text."""

import inspect
import re
import subprocess
import sys
from base64 import b64decode
from html import unescape
from io import BytesIO
from itertools import combinations
from xml.etree import ElementTree

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.text import Text
from PIL import Image

from course import colours, curriculum, figures
from course.curriculum import CHAPTERS
from course.figures import (
    Figure,
    acting,
    attending,
    benchmarks,
    capstone,
    chains,
    closures,
    devices,
    graphs,
    jacobians,
    learning,
    losses,
    memory,
    optimizers,
    reading,
    recurrence,
    reports,
    seeing,
    serving,
    shapes,
    sharing,
    slopes,
    speaking,
    speed,
    start,
    starting,
    style,
    workers,
)
from course.stand_ins.cupy import Transfer
from course.xray import xray
from minigrad import Embedding, History, Linear, ReLU, Sequential, TransformerBlock
from minigrad.beyond.graph import Variable

WORDS = {
    "title": "The loss falls quickly",
    "caption": "The loss of each epoch, for the training set alone.",
    "alt": "The loss falls from 2.3 to 0.1 within five epochs.",
}
MODULES = [thing for thing in vars().values() if getattr(thing, "__name__", "").startswith("course.figures.")]
CLASSES = np.array([0, 1, 0, 1, 1])
POINTS = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [2.0, 1.0], [1.0, 2.0]])
PLACES = {"x": (0, 1), "w": (0, 0), "h": (1, 0), "s": (2, 1)}


def small_graph():
    x, w = Variable(3.0), Variable(2.0)
    h = x * w
    return {"x": x, "w": w, "h": h, "s": h + x}


DIGITS = np.arange(5 * 64, dtype=float).reshape(5, 64)
WAYS = {"on self": [4e-10, 1.76], "in a closure": [0.0, 4e-10]}, ["once", "twice"]

ROOFLINE = {"loops": (6.0, 2e7), "product": (6.0, 2e10), "float32": (12.0, 4e10), "lean": (12.0, 5e10)}
RUNS = {"straight": [[1.0, 0.1, np.nan], [1.2, 0.1, 50.0]], "bent": [[1.0, 0.5, np.inf]]}
OPEN = Linear(n_out=7) >> ReLU() >> Linear()
FITTING = Linear(64, 128, rng=0) >> ReLU() >> Linear(128, 10, rng=0)
CONTRADICTING = Linear(64, 128, rng=0) >> ReLU() >> Linear(100, 10, rng=0)
LANES = (
    {"X": [[1.0, 2.0]], "H": [[5.0, -3.0, 4.0]], "A": [[5.0, 0.0, 4.0]], "Y": [[1.5]]},
    {"dX": [[3.0, -1.0]], "dH": [[1.0, 0.0, -1.0]], "dA": [[1.0, 2.0, -1.0]], "dY": [[1.0]]},
)
ROW_OF_LANES = ["first", "relu", "second"]
MOVED = [
    Transfer(direction, way, 8, "a line")
    for direction, way in (("to", "asarray"), ("back", "get"), ("to", "index"), ("back", "float"))
]


def kept_by_a_layer():
    report = xray(Linear(3, 7, rng=0)(np.ones((5, 3)))[1])
    return report.rows + report.weights


def small_gpt(causal=True):
    block = TransformerBlock(4, causal=causal, rng=0)
    return Embedding(2, 4, rng=0) >> block >> Linear(4, 2, rng=0)


def squared(X):
    def backward(dY):
        return 2 * X * dY

    return backward


def doubled(gain):
    def backward(dY):
        return gain * dY

    return backward


def zeros(X):
    return 0 * X, lambda dY: 0 * dY


def identity(X):
    return X, lambda dY: dY


# Every drawing function with data it can draw; a function without a line here fails a test below.
RIGHT = {
    start.course_map: [("weekend",), ("gpt",)],
    slopes.secant: [(np.sin, 1.0, 0.5), (np.sin, 1.0, 0.5, (0, 3), np.cos(1.0))],
    slopes.savings_secant: [(np.exp2, 3.0, 4.0), (np.exp2, 5.0, 0.01)],
    slopes.errors_by_nudge: [
        ([1e-2, 1e-5, 1e-9], {"forward": [1e-2, 1e-5, 1e-7], "central": [1e-4, 0.0, 1e-6]})
    ],
    slopes.kink: [(abs, 0.0, 0.25), (lambda x: max(0.0, x), 0.0, 0.5)],
    slopes.fan_out: [([2, 3], [10, 1]), ([0.5, -1.0, 2.0], [1.0, 1.0, 0.0])],
    slopes.descent: [(np.sum, [[3.0, 2.0], [1.0, 1.0]], (0, 4), (0, 3))],
    jacobians.table: [(np.diag([1.0, 0.0, -2.5]), "relu", (5, 5)), (np.eye(20), "a long identity")],
    jacobians.two_tables: [(np.eye(5), np.eye(5, k=-1)), (np.ones((1, 5)), np.eye(10, 5))],
    jacobians.brackets: [([(1, 20), (20, 20), (20, 100)],), ([(40, 10), (10, 10), (10, 1)],)],
    jacobians.passes: [([1, 10, 100], {"forward": [1, 10, 100], "reverse": [1, 1, 1]})],
    reports.descents: [({"A": [2.0, 1.0, 0.5], "B": [4.0, 1.0]},)],
    reports.agreement: [(POINTS, POINTS / 2, "wrong by 0.5"), (POINTS[:1], POINTS, "it was broadcast")],
    reports.bug_grid: [
        ({"SumForgetsTheTwo": [False, True], "RoundsPi": [False, False]}, ["shapes", "ones"], [0, 1])
    ],
    closures.two_visits: [(["double"], "XY"), (["first layer", "second layer"], "XYZ")],
    closures.one_memory_for_two: [(3,), (-2,)],
    closures.environments: [
        ({"back": squared(3.0)},),
        ({"back_from_3": squared(3.0), "back_from_5": squared(5.0)},),
        ({"one": squared(3.0), "another": doubled(np.float64(2.0))},),
    ],
    closures.three_gradients: [(5, 3, 4), (1, 1, 8)],
    closures.kept_alive: [(kept_by_a_layer(),), (kept_by_a_layer()[:1], 10)],
    closures.five_ways: [WAYS],
    chains.lanes: [(["double"], *(dict(list(way.items())[:2]) for way in LANES)), (ROW_OF_LANES, *LANES)],
    chains.bends: [
        (np.arange(3.0), {"double": (2 * np.arange(3.0), np.full(3, 2.0))}),
        (np.arange(3.0), {"half": (np.arange(3.0) / 2, np.full(3, 0.5)), "zero": (np.zeros(3), np.zeros(3))}),
    ],
    chains.depth: [
        ({"plain": ([1.0, 0.1, 0.01], [20.0, 4.0, 1.0]), "other": ([1.0] * 3, [1.0] * 3)},),
        ({"plain": ([1.0, 3.0], [9.0, 1.0])},),
    ],
    chains.regions: [
        (lambda X: X - 0.5, POINTS, CLASSES),
        (lambda X: X[:, :1] - 0.5, POINTS, CLASSES[:, None]),
    ],
    losses.push: [([2.0, 1.0, 0.0], [0.67, 0.24, 0.09], [0.67, -0.76, 0.09], 1)],
    losses.ends: [
        (
            [0.0, 1.0, 2.0],
            {"two": [0.0, 1.0, np.inf], "one": [0.0, 1.0, 2.0]},
            {"two": [0.5, 1, np.nan], "one": [0.5, 1, 1]},
        ),
        ([0.0, 1.0], {"one": [0.0, 1.0]}, {"one": [0.5, 1.0]}),
    ],
    losses.two_losses: [([-1.0, 0.0, 1.0], {"squares": ([1.0, 0.5, 0.0], [-0.1, -0.3, -0.1])})],
    reading.sheet: [(DIGITS, CLASSES), (DIGITS, CLASSES, [0, 1, 1, 1, 1], 2)],
    reading.weights: [(np.ones((64, 8)), np.linspace(-1, 1, 512).reshape(64, 8))],
    reading.confusion: [([[5, 1], [0, 4]],), ([[5, 0], [0, 4]], ["cat", "dog"])],
    reading.history: [
        (History([{"epoch": 1, "loss": 2.0, "validation_loss": 2.1}]),),
        ([{"epoch": 7, "loss": 1.0}, {"epoch": 8, "loss": 0.5}], "squared metres"),
    ],
    reading.verdict: [(DIGITS[0], [0.25, 0.75]), (DIGITS[0], np.full(10, 0.1, dtype=np.float32), 3)],
    reading.looked_at: [
        (DIGITS[0].ravel(), [0.25, 0.75], DIGITS[0].ravel() - 0.4),
        (np.zeros(4), [1.0], np.zeros(4)),
    ],
    reading.spread: [
        ({"shuffled": [0.96, 0.94, 0.97]}, {"shuffled": 0.01}),
        ({"in the order of the file": [0.96, 0.94, 0.97]}, {"in the order of the file": 0.01}),
    ],
    learning.bowl: [([1.0, 10.0], [[-4.0, 1.5], [-3.8, 0.75], [-3.6, 0.4]], 0.05)],
    learning.rolling: [
        (10.0, {"zeroed": [1.5, 1.2, 1.0], "not zeroed": [1.5, -0.1, -1.6]}),
        (1.0, {"short": [-1.0, -0.5], "shorter": [-1.0, -0.9]}),
    ],
    learning.loss_curves: [
        ({"one layer": [2.0, 1.0, 0.9], "ten sigmoids": [2.0, 0.1, 0.01]}, ("variance of T", 0.9)),
        ({"zeroed": [2.0]}, None, "step"),
    ],
    learning.cliff: [([0.01, 0.1, 1.0], RUNS, {"straight": 0.5, "bent": 0.2})],
    learning.fitted: [(POINTS[:, :1], POINTS[:, 1:], np.sin)],
    benchmarks.draw_ratios: [
        (["W1", "W2 SGD"], {"minigrad": [0.1, 0.97], "raw NumPy": [0.05, 1.2]}),
        (["W1"], {"minigrad": [0.5]}),
    ],
    benchmarks.draw_growth: [
        ({"batch": ([1, 8, 64], {"minigrad": [5.0, 6.0, 20.0], "PyTorch": [50.0, 52.0, 70.0]})},),
        ({what: ([1, 8, 64], {"minigrad": [5.0, 6.0, 20.0]}) for what in ("batch", "width", "depth")},),
    ],
    devices.timelines: [
        ({"one wait": ([(0, 10), (10, 20)], [(10, 50), (50, 55)])},),
        (dict.fromkeys(("one wait", "two waits"), ([(0, 10), (50, 60)], [(10, 50), (60, 65)])),),
    ],
    devices.transfers: [({"as written": MOVED, "quiet": MOVED[:1]},), ({"still": []},)],
    devices.work: [
        ({"layers": [(16, 20, 1e6), (64, 20, 2e7)], "images": [(16, 900, 1e7)]}, 500_000),
        ({"layers": [(16, 20, 1e6)]}, 1e3),
    ],
    devices.crossover: [
        ([8, 80, 800], [1e-5, 1e-3, 1e-1], [4e-4, 4e-4, 4e-3], "measured"),
        ([8, 80], [1e-5, 1e-4], [4e-4, 4e-4], "a model"),
    ],
    graphs.walk: [(small_graph(), PLACES, moment) for moment in (1, 5, 7)],
    shapes.sweep: [(OPEN, np.ones((5, 3)), CLASSES, passed) for passed in (0, 1, 3)],
    shapes.row: [(CONTRADICTING, np.ones((32, 64))), (FITTING, np.ones((32, 64)))],
    graphs.calls: [([1, 2, 16], {"naive": [3, 7, 131071], "sorted": [2, 3, 17]})],
    learning.border: [
        (lambda X: X, POINTS, CLASSES, 1, 0.693),
        (lambda X: X, POINTS, CLASSES, 20, 0.1),
    ],
    optimizers.race: [
        (np.diag([1.0, 50.0]), {"plain": POINTS - 1.5, "momentum": POINTS}, 3),
        (np.eye(2), {"plain": POINTS}, 4, {"plain": 0.1}),
    ],
    optimizers.two_valleys: [
        (
            {"upright": np.eye(2), "turned": np.array([[2.0, 1.0], [1.0, 2.0]])},
            {"upright": {"plain": POINTS}, "turned": {"plain": POINTS}},
            4,
        )
    ],
    optimizers.schedule: [([0.1, 0.2, 0.0], "cosine"), ([0.3, 0.2, 0.1], "down")],
    optimizers.step_lengths: [
        ({"one": [1.0, 2.0], "two": [3.0, 1.0]},),
        ({"alone": [1.0, 2.0, 1.5]},),
    ],
    optimizers.rates: [
        ({"plain": ([0.1, 0.2], [[1.0, 0.5], [1.1, 0.6]])}, "validation loss", 3.0),
    ],
    starting.spreads: [([1.0, 0.1, 0.01], [20.0, 4.0, 1.0]), ([1.0] * 3, [1.0] * 3, (0.1, 10))],
    starting.groups: [(4, 6), (1, 1)],
    starting.lag: [([0.0, 1.0, 2.0], [0.0, 0.1, 0.3])],
    sharing.gradients: [
        ([[1.0, -2.0]], [[0.0, 0.5]], [[1.0, -1.5]], [[1.0, -1.5]]),
        (*np.zeros((3, 2, 2)), np.ones((2, 2))),
        ([[1.0]], [[2.0]], [[1.5]], [[3.0]]),
    ],
    sharing.uses: [
        (lambda A, B: (A @ B).sum(), np.eye(2), (0, 1)),
        (lambda A, B: (A @ B).sum(), np.eye(2), (1, 1), False, (0, 5), 0.5),
    ],
    sharing.cosines: [
        ({"untrained": [[0.5, -1.0], [0, 1]], "trained": np.eye(2)}, ["CAT", "DOG"], ["COT", "DIG"]),
        ({"trained": np.eye(3)}, list("ABC"), list("abc")),
    ],
    acting.news: [([[0.0, 0.0], [0.0, 1.0], [0.9, 1.0]],)],
    acting.spreading: [
        (["####", "#S1#", "####"], {"untaught": np.zeros((12, 4))}),
        (["####", "#.2#", "####"], dict.fromkeys("abc", np.ones((12, 4)))),
    ],
    acting.walkers: [
        (["#####", "#1S4#", "#####"], np.ones((15, 4)), [4.0, 1.0, 0.0]),
        (["####", "#.2#", "####"], np.zeros((12, 4)), [2.0]),
    ],
    acting.beside_truth: [
        (["####", "#.2#", "####"], 2 * np.eye(12, 4, k=-4), 3 * np.eye(12, 4, k=-4), "the network"),
        (["####", "#.2#", "####"], np.ones((12, 4)), np.full((12, 4), 0.5), "the table"),
    ],
    acting.errors: [([100, 200], {"with a copy": [[0.5, 0.01], [0.4, 0.02]], "without": [[1.0, 0.3]]})],
    capstone.bend: [
        ([0.0, 1.0], [0.0, 1.0], [1.0, 2.0]),
        ([0.0, 1.0], [0.0, -1.0], [-1.0, 0.5], [(0.0, 0.0, -1.0)]),
    ],
    capstone.beyond: [
        ({"flat": Sequential(zeros), "line": Sequential(identity)}, np.sin, (-4, 4), (-6, 6)),
        ({"one alone": Sequential(identity)}, np.negative, (-1, 1), (-3, 3)),
    ],
    capstone.notices: [
        ({"sign flipped": {"shapes": False, "nudging": True}, "stale": {"shapes": False, "nudging": False}},),
        ({"sign flipped": {"shapes": True}},),
    ],
    capstone.differences: [
        ({"mine - theirs": [0.1, -0.1], "far": [1.0, 1.1]},),
        ({"far": [1.0, 1.1]}, False),
        ({"near": [0.1, -0.1]},),
        ({"near": [0.1, -0.1], "nearer": [0.1, -0.2]}, True, "No difference is seen"),
    ],
    sharing.runs: [
        ({"shared": [0.9, 1.0], "copied": [0.0]}, "partners found", "weights"),
        ({"shared": [0.5], "copied": [0.5], "neither": [0.0]}, "partners found", "weights"),
    ],
    sharing.points: [
        ({"before": POINTS / 9, "after 10 rounds": 2 * POINTS}, 2.0),
        ({name: POINTS - 1 for name in ("before", "halfway", "after")}, 0.5, 0.1),
    ],
    attending.shapes: [(5, 3, 2), (2, 4, 0)],
    attending.tables: [({"before": np.full((3, 3), 1 / 3), "after": np.eye(3)},), ({"one": [[1.0]]},)],
    attending.one_step: [
        (range(8), np.eye(8)[3], 1, 0),
        ([3, 1, 4, 1, 5, 9, 2, 6], np.full(8, 1 / 8), 0, 20),
    ],
    attending.largest_weights: [([1, 4], {"scaled": [0.3, 0.4], "not scaled": [0.3, 0.9]})],
    attending.cuts: [(7, 6, 2), (4, 6, 3)],
    attending.seeds: [([0, 1, 2], [[0.1, 0.5, 1.0], [0.1, 1.0, 1.0]], 0.99)],
    memory.one_pass: [
        ([("forward", 0.0), ("forward", 1.0), ("backward", 2.0), ("backward", 2.0)],),
        ([("forward", 0.0), ("forward", 1.0), ("backward", 2.0)], 5.0, 9),
    ],
    memory.peak_by_blocks: [({1: 68.0, 8: 20.0, 64: 69.0}, 64), ({2: 5.0, 3: 5.0}, 6)],
    memory.memory_and_time: [
        ({"all kept": (1, 68), "8 blocks": (2, 20), "4 of 4 of 4": (3, 16), "halves": (7, 16)}, 64),
        ({"all kept": (1, 12), "from the start": (4.5, 2)}, 7),
    ],
    seeing.places: [(np.eye(3), [-1, 0, 1])],
    seeing.moved: [({"one": np.zeros((3, 4, 4)), "two": np.ones((3, 4, 4))}, "The same, moved")],
    seeing.convolved: [
        (np.eye(4), [[1.0, -0.5]], np.ones((4, 3)), "a step"),
        (np.eye(4), [[0.0]], np.zeros((4, 4)), "nothing", 3.0),
    ],
    seeing.sizes: [({"MLP": {10_000: [0.5, 0.6], 1000: [0.2, 0.3]}, "CNN": {1000: [0.9, 0.8]}},)],
    seeing.saliency: [(np.zeros((2, 4, 4)), {"CNN": np.zeros((2, 4, 4)), "MLP": np.ones((2, 4, 4))}, [3, 5])],
    recurrence.unrolled: [([0.5, 1.0], [1.0, 0.2]), ([0.0, 1e9, 1.0], [0.0, 0.5, 1.0])],
    recurrence.lstm_step: [(2.0, 0.5, 0.73, -0.4, 0.8), (0.0, 0.0, 1.0, 1.0, 1.0)],
    recurrence.reach: [
        ({"scale 2": [[1.0, 2.0, 4.0]], "scale 1": np.ones((2, 3))}, (0.1, 10)),
        ({"one": [[1.0, 0.5]]}, (0.1, 10), {"one": [1.0, 0.9]}),
    ],
    recurrence.padded: [(["GREEK", "IOTA"], 6), (["A"], 1)],
    recurrence.bits: [([4.0, 3.5], [4.1, 3.9], {"table": 4.5}), ([4.0], [4.1], {})],
    recurrence.recalled: [
        ({"open": [0.9, 1.0], "shut": [0.2, 0.3, 0.25]}, 0.25, 0.35),
        ({"one": [0.0]}, 0.0, 1.0),
    ],
    speaking.lessons: [("OMEGA",), ("AB", "stop")],
    speaking.block: [(32,), (768,)],
    speaking.whole: [(small_gpt(), "ABBA", [[0, 1, 1]]), (small_gpt(causal=False), "AB", [[0]])],
    speaking.likely_next: [
        (["A", "B"], {"cold": [1.0, 0.0], "hot": [0.5, 0.4]}, "LETTER"),
        (["A"], {"one": [1]}, "X"),
    ],
    speaking.letter_by_letter: [("A WITH HOOK", np.linspace(0.2, 1, 11)), ("A", [1.0])],
    speaking.learning: [
        (
            [0, 100, 500],
            {"other names": [5.5, 1.2, 0.9], "learned names": [5.5, 1.1, 0.6]},
            {"table of 1 character": 2.7},
        ),
    ],
    speaking.orders: [
        ([0, 100, 200], {"first": [[0.0, 0.6, 1.0], [0.0, 0.2, 0.9]], "usual": [[0.0, 0.1, 0.2]]}),
        ([0, 100], {"first": [[0.0, 0.6]]}),
    ],
    speaking.columns: [([[0.5, 0.5], [1.0, 0.0]], ["units", "tens"], ["+", "="])],
    speed.parts_of_step: [
        ([("Linear", "forward", 1e-3), ("loss", "neither", 1e-4), ("Linear", "back", 2e-3)],),
        ([("Adam", "neither", 1e-3), ("bend", "forward", 1e-4)],),
        ([("Linear", "forward", 1e-3), ("bend", "forward", 2e-3), ("Linear", "back", 2e-3)], (1, 0)),
    ],
    speed.roofline: [
        (ROOFLINE, {"float32": 1e11, "float64": 5e10}, {"from the cache": 1e11, "from memory": 2e10}),
        (ROOFLINE, {"float32": 1e11}, {"from memory": 2e10}, {"Adam": (0.5, 8e9)}),
        ({"loops": (6.0, 2e7), "product": (6.0, 2e10)}, {"float64": 5e10}, {"from memory": 2e10}),
    ],
    speed.above_floor: [
        ([8, 128], [1e-5, 1e-4], [1e-7, 9e-5], 128, "Linear", (1e-8, 1e-3)),
        ([8, 128], [1e-5, 1e-4], [1e-9, 9e-5], 8, "ReLU", (1e-10, 1e-3)),
    ],
    speed.beside_others: [
        (
            {
                name: {"PyTorch": (0.3, 0.4, 0.5), "PyTorch at its best": (0.4, 1.2, 1.3)}
                for name in ("W1", "W2 SGD")
            },
        ),
        ({"W1": {"eager": (2.0, 2.0, 2.0)}},),
    ],
    speed.walks: [
        ({"along the rows": [0, 1, 2, 3, 4, 5], "down the columns": [0, 3, 1, 4, 2, 5]}, 2),
        ({"along the rows": [0, 1, 2]}, 2),
    ],
    starting.shares: [
        ([0.0, 0.5], {"one": [[0.5, 0.25], [0.75, 0.5]]}, "rate"),
        ([0.01, 0.1], {"one": [[0.5, 0.25], [0.75, 0.5]], "two": [[1.0, 1.0]] * 2}, "learning rate", True),
    ],
    serving.orders: [
        ({"ABBA": {"A": 10.0, "B": 10.0}, "AABB": {"A": 6.0, "B": 10.0}}, {"A": 6.0, "B": 10.0}),
        ({"AA": {"A": 6.0}}, {"A": 6.0}),
    ],
    serving.wrong: [({"on self": 2800, "closure": 0}, 3200), ({"closure": 0}, 10)],
    serving.read_right: [({"old weights": 260, "new weights midway": 40}, 270)],
    serving.asked: [
        (np.eye(8), [0.5, 0.0, 2.0], [0.2, 0.8]),
        (np.zeros((8, 8)), [0.0, 0.0], [1.0, 0.0], 3.0),
    ],
    workers.agreed: [
        ([1.0, -2.0], {"equal shares": {"means": [1.0, -2.0]}, "others": {"means": [3.0, 0.0]}}),
        ([0.0], {"one share": {"means": [0.0], "weighted": [0.0]}}),
    ],
    workers.ring: [
        ([[[1, 1], [10, 10]], [[1, 11], [11, 10]], [[11, 11], [11, 11]]], step) for step in (0, 1, 2)
    ],
    workers.waits: [({"all send first": (), "0 receives first": {0}}, 4), ({"1 receives first": [1]}, 2)],
    workers.traffic: [([2, 4], {"through one": [1.0, 3.0], "in a ring": [1.0, 1.5]})],
    workers.apart: [
        ({"2 workers": {"float32": [1e-7, 0.0], "float64": [0.0, 1e-16]}},),
        ({"one": {"float32": [0.0]}, "two": {"float32": [0.0]}},),
    ],
    workers.messages: [([8, 8000], [1e-6, 2e-6], 1e-6, 1e-10)],
    workers.costs: [
        ([1, 10, 100], {"computing": [1.0, 0.1, 0.01], "bytes": [0.0, 0.2, 0.4]}),
        ([1, 2], {"computing": [1.0, 0.5]}),
    ],
}

# Calls that a learner's numbers can make, and that would draw what looks right and is wrong.
MISLEADING = [
    (graphs.walk, (small_graph(), PLACES, 7, "hh"), "each of h, s has one turn, got h, h"),
    (slopes.kink, (abs, 0.0, -0.1), "positive nudge"),
    (slopes.secant, (np.sin, 1.0, 0.0), "a line needs two points"),
    (jacobians.brackets, ([(1, 2), (3, 4), (4, 5)],), "as many rows as the one before has columns"),
    (chains.regions, (lambda X: np.ones((len(X), 6)), POINTS, CLASSES), "5 colours, got 6 classes"),
    (optimizers.race, (np.eye(2), {"plain": POINTS}, 5), "plain has 4 steps, to be drawn are 5"),
    (recurrence.lstm_step, (0.0, 0.5, 1.5, 0.0, 0.5), "gates lie from 0 to 1.* got 0.5, 1.5"),
    (recurrence.lstm_step, (0.0, 0.5, 0.5, 2.0, 0.5), "the candidate from -1 to 1"),
    (recurrence.recalled, ({"one": [0.5]}, 0.35, 0.25), "guessing must be below beaten, got 0.35 and 0.25"),
    (attending.shapes, (5, 3, 5), "one of the steps 0 to 4, got 5"),
    (attending.cuts, (7, 6, 4), "the heads must divide the width 6, got 4"),
    (attending.seeds, ([0, 1], [[0.5, 1.0], [0.5, 0.6]], 0.9), "each run must reach 0.9, .* 0.6"),
    (acting.news, ([[0.0, 1.0]],), "in the last row every cell must be worth more than 0"),
    (
        speed.parts_of_step,
        ([("Linear", "forward", 1.0), ("Linear", "back", 1.0)], (0, 1)),
        "a pair runs in one direction",
    ),
    (capstone.differences, ({"a": [1.0]},), "differences of two or more seeds"),
]


@pytest.fixture(autouse=True)
def no_figure_is_left_over():
    yield
    plt.close("all")


def drawings():
    return [(draw, data) for draw, examples in RIGHT.items() for data in examples]


def drawings_with_words():
    """Those that return a Figure; the others wait until their chapter is converted."""
    return [(draw, data) for draw, data in drawings() if not draw.__name__.startswith("draw_")]


def takes_axes(draw):
    return "ax" in inspect.signature(draw).parameters


def texts(ax):
    return [text.get_text() for text in ax.texts]


def drawing_of(drawn):
    """The matplotlib figure of what a drawing function returned."""
    return drawn.drawing if isinstance(drawn, Figure) else figures.figure_of(drawn)


def is_drawing(function, module):
    """A public function of a module draws; what only helps others to draw takes its axes first."""
    first = next(iter(inspect.signature(function).parameters), "")
    return (
        function.__module__ == module.__name__
        and not function.__name__.startswith("_")
        and first not in ("ax", "axes")
    )


def test_every_drawing_function_is_tested():
    public = {
        function
        for module in MODULES
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if is_drawing(function, module)
    }
    public -= {
        reports.three_jacobians,
        style.use,
    }  # the first is tested in test_reports.py, the second draws nothing
    assert public == set(RIGHT)


@pytest.mark.parametrize(("draw", "data"), drawings())
def test_a_drawing_is_said_whole_small_and_the_same_every_time(draw, data):
    drawn = draw(*data)
    says_its_message_and_its_units(drawn)
    picture = svg_of(drawn)
    assert len(picture) < 80_000 and "matplotlib" not in picture.lower()
    every_word_lies_inside(drawing_of(drawn))
    assert svg_of(draw(*data)) == picture
    assert plt.get_fignums() == []


def says_its_message_and_its_units(drawn):
    axes = drawing_of(drawn).axes
    titles = [ax.get_title(loc="left") for ax in axes if ax.get_title(loc="left")]
    titles += [drawn.title] if isinstance(drawn, Figure) else []
    assert [len(title.split()) >= 3 for title in titles] == [True]
    for ax in axes:
        assert ax.get_title(loc="center") == ""
        if ax.axison and (ax.get_title(loc="left") or (isinstance(drawn, Figure) and ax is axes[0])):
            assert ax.get_xlabel()
            assert ax.get_ylabel()
            assert not ax.spines["top"].get_visible()
            assert not ax.spines["right"].get_visible()


@pytest.mark.parametrize(("draw", "data"), drawings_with_words())
def test_a_figure_tells_what_it_draws(draw, data):
    figure = draw(*data)
    words = f"{figure.title} {figure.caption} {figure.alt}"
    assert figure.caption[0].isupper() and not figure.alt[0].islower()
    assert figure.alt not in figure.caption and figure.caption not in figure.alt
    assert "nan" not in words.split() and "  " not in words and "{" not in words
    assert ".." not in words.replace("...", "")


@pytest.mark.parametrize(
    "draw", list(dict.fromkeys(draw for draw, _ in drawings_with_words())), ids=lambda draw: draw.__name__
)
def test_the_words_of_a_figure_come_from_its_data(draw):
    """Two examples with other data have other words, where a function has two."""
    told = [draw(*data).alt for data in RIGHT[draw]]
    assert len(set(told)) == len(told)


@pytest.mark.parametrize(("draw", "data"), [(draw, data) for draw, data in drawings() if takes_axes(draw)])
def test_a_drawing_stays_on_the_axes_it_is_given(draw, data):
    figure, ax = plt.subplots()
    assert draw(*data, ax=ax) is ax
    assert plt.get_fignums() == [figure.number]


def every_word_lies_inside(figure):
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    width, height = canvas.get_width_height()
    axes = [axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)]
    ticks = {label for axis in axes for label in axis.get_ticklabels()}  # some of them are not drawn
    words = {text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()} - ticks
    boxes = [axis.get_tightbbox() for axis in axes if axis.axes.axison]
    boxes = [text.get_window_extent() for text in words] + [box for box in boxes if box]
    assert boxes
    for box in boxes:
        assert -1 <= box.x0 <= box.x1 <= width + 1  # a pixel: boxes are rounded outwards
        assert -1 <= box.y0 <= box.y1 <= height + 1


def svg_of(drawn):
    return drawn.svg if isinstance(drawn, Figure) else Figure(drawn, **WORDS).svg


@pytest.mark.parametrize(("draw", "data", "sentence"), MISLEADING)
def test_what_would_mislead_is_refused_in_words(draw, data, sentence):
    with pytest.raises(ValueError, match=sentence):
        draw(*data)


def test_a_colour_bar_keeps_both_ends_though_the_figure_uses_one():
    blues = np.linspace(0.3, 1.0, 100).reshape(10, 10)
    letters = list("ABCDEFGHIJ")
    picture = figures.png(sharing.cosines({"a": blues, "b": blues, "c": blues}, letters, letters).drawing)
    pixels = np.asarray(Image.open(BytesIO(picture)).convert("RGB"), dtype=int)
    for wanted in (plt.get_cmap(colours.SIGNED_FIELD)(part, bytes=True)[:3] for part in (0.0, 0.15, 1.0)):
        assert np.abs(pixels - np.array(wanted, dtype=int)).max(axis=2).min() < 16


def test_slopes_of_uses_are_those_of_the_loss_and_not_of_the_drawn_points():
    figure = sharing.uses(lambda A, B: 1 + np.sin(20 * (A - 1)).item() + abs(B).item(), [[1.0]], (0, 0))
    assert figure.title == "One shared entry: the slopes +20.00 and +1.00 become +21.00"


def test_the_map_fills_the_chapters_of_a_route():
    figure, route = start.course_map("weekend"), curriculum.route("weekend")
    (ax,) = figure.drawing.axes
    assert len(ax.patches) == len(CHAPTERS)
    assert sum(to_hex(box.get_facecolor()) == colours.FORWARD.lower() for box in ax.patches) == 6
    assert figure.title == "A weekend leads through 6 of 25 chapters"
    assert figure.caption.startswith(route.aim)
    assert figure.alt.endswith("08 Reading digits.") and "06" not in figure.alt


def test_the_secant_writes_nudge_and_slope_and_hides_the_true_slope():
    figure = slopes.secant(lambda x: x * x, 1.0, 0.5)
    assert texts(figure.drawing.axes[0]) == ["nudge h = 0.5\nsecant: slope 2.5"]
    assert "slope 2.5" in figure.alt and "touches" not in figure.alt


@pytest.mark.parametrize(
    ("x", "h", "words"),
    [
        (1.0, 0.5, "too steep by 0.5 m per s"),
        (1.0, -0.5, "too flat by 0.5 m per s"),
        (-1.0, -0.5, "too steep by 0.5 m per s"),
    ],
)
def test_the_secant_beside_the_true_slope_says_how_far_it_is_off(x, h, words):
    figure = slopes.secant(lambda x: x * x, x, h, true_slope=2 * x, unit="m per s")
    assert figure.title == f"With a nudge of {h:g}, the secant is {words}"
    assert f"touches the curve at {x:g}, with slope {2 * x:g}" in figure.alt


def test_the_v_draws_every_error_but_exact_zeros_and_names_its_tips():
    figure = slopes.errors_by_nudge([1e-2, 1e-5, 1e-9], {"central": [1e-4, 0.0, 1e-6]})
    np.testing.assert_array_equal(figure.drawing.axes[0].lines[0].get_ydata(), [1e-4, np.nan, 1e-6])
    assert figure.caption.endswith("central, 1e-06 at h = 1e-09.")


def test_a_kink_shows_both_slopes_and_the_one_between():
    figure = slopes.kink(abs, 0.0, 0.25)
    curve, line, points = figure.drawing.axes[0].lines
    assert points.get_xdata().tolist() == [-0.25, 0.25] and points.get_ydata().tolist() == [0.25, 0.25]
    assert np.ptp(line.get_ydata()) == 0 and line.get_ydata()[0] == 0.25  # along no branch
    assert "slope -1 on the left and 1 on the right" in figure.alt
    assert {"slope -1", "slope 1", "central difference:\nslope 0"} <= set(texts(figure.drawing.axes[0]))


def test_the_products_along_the_routes_of_a_fan_out_are_added():
    figure = slopes.fan_out([2, -3], dY=[10, 1])
    assert {"2 · 10 = 20", "-3 · 1 = -3", "end result\n20 - 3 = 17"} <= set(texts(figure.drawing.axes[0]))
    assert figure.title.endswith("add up to 17")


def test_a_ball_that_rolls_on_is_named_in_the_title():
    figure = learning.rolling(2.0, {"zeroed": [1.0, 0.5], "not zeroed": [1.0, 0.5, -0.5]})
    assert figure.title.startswith("Not zeroed, the ball rolls past the lowest point")
    assert "zeroed, from 1 to -0.5 in 2 steps, and across the lowest point in step 2" in figure.alt
    assert "Zeroed, from 1 to 0.5 in 1 step, and never across" in figure.alt


def test_the_descent_counts_the_steps_that_do_most_of_the_way():
    path = [[3.0, 0.0], [0.5, 0.0], [0.25, 0.0], [0.0, 0.0]]
    figure = slopes.descent(lambda W: W[0] ** 2 + W[1] ** 2, path, (0, 4), (0, 3))
    assert figure.caption.endswith("Nine tenths of the way down are done after 1 of 3 steps.")


@pytest.mark.parametrize(
    ("newest", "waiting", "arrays"), [("X", 0, 1), ("A", 2, 3), ("dY", 3, 5), ("dA", 2, 6), ("dX", 0, 8)]
)
def test_the_lanes_grow_array_by_array_and_count_what_waits(newest, waiting, arrays):
    figure = chains.lanes(ROW_OF_LANES, *LANES, newest)
    (ax,) = figure.drawing.axes
    assert f"{waiting} of 3 backward functions wait" in figure.title
    assert sum("waits" in text for text in texts(ax)) == waiting
    letters = [text.partition("\n")[0] for text in texts(ax)]
    assert sum(letter in {*LANES[0], *LANES[1]} for letter in letters) == arrays
    assert newest in letters


def test_the_regions_count_the_points_of_their_class():
    figure = chains.regions(lambda X: X[:, 1:] - 0.5, POINTS, CLASSES)
    assert figure.title == "4 of 5 points lie in the region of their class"
    assert "class 0 on 30%" in figure.alt and "class 1 on 70%" in figure.alt


def test_the_ends_of_both_ways_are_told():
    alt = chains.depth({"plain": ([1.0, 0.1, 0.01], [20.0, 4.0, 1.0])}).alt
    assert "plain, 0.01 at the end of the forward pass and 20 at the end of the backward" in alt


def test_a_table_leaves_zeros_empty_and_counts_the_others():
    figure = jacobians.table(np.diag([1.0, 0.0, -2.5]) + 1e-12, "relu", (5, 5))
    (ax,) = figure.drawing.axes
    assert texts(ax) == ["1", "-2.5"]
    assert figure.title == "relu: 2 of 9 slopes are not 0"
    assert figure.alt.endswith("3 by 3: row 0 holds 1 in column 0; row 2 holds -2.5 in column 2.")
    assert (ax.get_xlim(), ax.get_ylim()) == ((0, 5), (5, 0))


def test_two_tables_share_their_room_and_wrong_slopes_are_framed():
    figure = jacobians.two_tables(np.eye(3), np.diag([1.0, 2.0, 1.0]))
    yours, true = figure.drawing.axes
    assert [frame.get_xy() for frame in yours.patches] == [(1, 1)]
    assert figure.title == "1 of 9 slopes differ from the true table"
    figure = jacobians.two_tables(np.ones((1, 5)), np.eye(10, 5))
    yours, true = figure.drawing.axes
    assert yours.get_xlim() == true.get_xlim() and yours.get_ylim() == true.get_ylim()
    assert "another shape" in figure.title


def test_the_brackets_count_both_ways():
    figure = jacobians.brackets([(1, 20), (20, 20), (20, 100)])
    said = [text for text in texts(figure.drawing.axes[0]) if "multiplications" in text]
    assert said == ["from the left: 2,400 multiplications", "from the right: 42,000 multiplications"]
    assert "from the left 2,400, from the right 42,000" in figure.alt
    assert "from the left" in figure.title
    assert "from the right" in jacobians.brackets([(40, 9), (9, 9), (9, 1)]).title


def test_the_grid_counts_bugs_caught_and_right_layers_accused():
    figure = reports.bug_grid({"A": [False, True], "B": [True, True]}, ["shapes", "ones"], [0, 3])
    assert texts(figure.drawing.axes[0]) == ["1", "0", "2", "3"]
    assert figure.title == "Of 2 planted bugs the first check catches 1, the last one 2"
    assert figure.alt.endswith("shapes, 1 and 0; ones, 2 and 3.")


def test_what_agrees_lies_on_the_line_and_what_is_far_off_at_the_edge():
    figure = reports.agreement(np.array([5.0, -100.0]), np.array([5.0, 10.0]), "wrong by 11")
    _, points = figure.drawing.axes[0].lines
    np.testing.assert_allclose(points.get_xdata(), [0.5, 1.0])
    np.testing.assert_allclose(points.get_ydata(), [0.5, -1.6])
    assert "1 of 2 points lie on the line" in figure.alt


def test_losses_are_told_as_shares_of_their_first_value():
    figure = reports.descents({"A": [4.0, 1.0], "B": [1.0, 2.0]})
    assert figure.title == "The loss falls in 1 of 2 descents"
    assert figure.alt.endswith("At the end: A 25.0%, B 200.0%.")


def test_bytes_that_are_shared_are_not_summed():
    figure = closures.kept_alive(kept_by_a_layer())
    assert figure.title.startswith("120 bytes")
    assert texts(figure.drawing.axes[0]) == ["120", "168, shared", "56, shared"]


def test_wrong_ways_to_remember_are_given_in_percent_and_right_ones_without_digits():
    figure = closures.five_ways(*WAYS)
    (ax,) = figure.drawing.axes
    assert texts(ax)[:4] == ["once: right", "once: right", "twice: 176% wrong", "twice: right"]
    assert figure.title.startswith("1 of 2")
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], [0, 0, 176, 0])


def test_the_axis_of_kept_arrays_stays_where_it_is_put():
    (ax,) = closures.kept_alive(kept_by_a_layer(), most=10).drawing.axes
    assert ax.get_xlim() == (0, 13)


def test_the_first_layer_waits_longest():
    figure = closures.two_visits(["first", "second"], "XYZ")
    assert "X from visit 1 to visit 4, Y from visit 2 to visit 3" in figure.caption
    assert [text for text in texts(figure.drawing.axes[0]) if "waits" in text] == ["X waits", "Y waits"]


def test_closures_are_drawn_with_what_they_really_see():
    figure = closures.environments({"back_from_3": squared(3.0), "back_from_5": squared(5.0)})
    (ax,) = figure.drawing.axes
    words = {text.replace("\u00a0", " ") for text in texts(ax)}
    assert {"X = 3.0", "X = 5.0", "def backward(dY):\n    return 2 * X * dY"} < words
    assert "the same piece of code" in figure.title
    assert "2 pieces" in closures.environments({"one": squared(3.0), "other": doubled(2.0)}).title


def test_a_closure_whose_source_is_unknown_is_drawn_with_its_name():
    made = {}
    exec("def outer(X):\n    def backward(dY):\n        return X * dY\n    return backward", made)
    (ax,) = closures.environments({"back": made["outer"](3.0)}).drawing.axes
    assert "backward(dY)" in texts(ax)


def test_the_shapes_of_the_gradients_are_drawn_to_scale():
    (ax,) = closures.three_gradients(5, 3, 4).drawing.axes
    outlines = [(box.get_height(), box.get_width()) for box in ax.patches if box.get_linewidth() == 2]
    assert outlines == [(5, 3), (5, 4), (4, 3), (3, 4), (3, 5), (5, 4), (1, 4), (5, 4)]


def test_a_misread_digit_is_framed_and_says_so():
    figure = reading.sheet(DIGITS, CLASSES, [0, 1, 1, 1, 1])
    (ax,) = figure.drawing.axes
    assert texts(ax) == ["0", "1", "read 1, is 0", "1", "1"]
    assert len(ax.patches) == 1
    assert figure.title == "1 of 5 digits are misread"
    assert figure.alt.endswith("Misread are, in order: read 1, is 0.")
    assert reading.sheet(DIGITS, CLASSES, 1 - CLASSES).title == "These 5 digits were misread"
    assert reading.sheet(DIGITS, CLASSES, CLASSES).alt.endswith("None of them is misread.")


def test_digits_without_labels_tell_no_label():
    figure = reading.sheet(DIGITS, columns=3)
    (ax,) = figure.drawing.axes
    assert texts(ax) == []
    assert (figure.title, figure.alt) == (
        "5 digits, 8 by 8 numbers each",
        "5 small grey pictures in a grid of 3 columns.",
    )


def test_the_words_below_a_mistake_do_not_run_into_each_other():
    figure = reading.sheet(np.tile(DIGITS, (4, 1)), np.tile(CLASSES, 4), np.tile(1 - CLASSES, 4))
    (ax,) = figure.drawing.axes
    FigureCanvasAgg(figure.drawing).draw()
    assert figure.alt.endswith("read 0, is 1; and 8 more.")
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) == 20
    for box, other in combinations(boxes, 2):
        assert not box.overlaps(other)


def test_the_confusion_names_the_commonest_mistake():
    figure = reading.confusion([[5, 1, 0], [0, 4, 3], [0, 0, 9]], ["a", "b", "c"])
    assert figure.title == "4 of 22 are wrong; most often b is taken for c"
    assert figure.alt.endswith("Class b is misread most often, 3 times.")
    assert sorted(texts(figure.drawing.axes[0])) == ["1", "3", "4", "5", "9"]


def test_an_arrow_goes_against_the_gradient_and_a_tiny_one_is_not_drawn():
    left, _ = losses.push([2.0, 1.0, 0.0], [0.7, 0.3, 0.0], [0.7, -0.7, 0.0], 1).drawing.axes
    arrows = [text for text in left.texts if getattr(text, "arrow_patch", None)]
    assert [np.sign(arrow.xy[1] - arrow.xyann[1]) for arrow in arrows] == [-1, 1]
    assert [text for text in texts(left) if text.startswith(("+", "-"))] == ["+0.70", "-0.70", "+0.00"]


def test_a_line_ends_where_it_ceases_to_be_finite():
    lines = {"two": [0.0, 1.0, np.inf, 3.0], "one": [0.0, 1.0, 2.0, 3.0]}
    figure = losses.ends(range(4), lines, lines)
    left, _ = figure.drawing.axes
    ends = {line.get_label(): line.get_xdata()[-1] for line in left.lines if len(line.get_xdata()) == 1}
    assert ends == {"two": 1, "one": 3}
    assert figure.title == "1 of 2 forms ends before the logits do"
    assert "two, value up to 1, gradient up to 1; one, value to the end, gradient to the end" in figure.alt


def test_history_draws_the_validation_where_there_is_one():
    alone = reading.history([{"epoch": 1, "loss": 2.0}])
    both = reading.history([{"epoch": 1, "loss": 2.0, "validation_loss": 2.1}])
    assert [len(figure.drawing.axes[0].lines) for figure in (alone, both)] == [1, 2]
    assert ["validation" in figure.caption for figure in (alone, both)] == [False, True]


@pytest.mark.parametrize(("epochs", "marker"), [(1, "o"), (12, "o"), (13, "")])
def test_history_marks_every_epoch_or_none(epochs, marker):
    figure = reading.history([{"epoch": epoch, "loss": 1 / epoch} for epoch in range(1, epochs + 1)])
    (ax,) = figure.drawing.axes
    assert (ax.lines[0].get_marker(), ax.lines[0].get_markevery()) == (marker, 1)


def test_a_title_is_as_sure_as_its_bar():
    figure = reading.verdict(DIGITS[0], [0.0006, 0.9994])
    assert figure.title == "The network reads 1, with a probability of 99.9%"
    assert texts(figure.drawing.axes[0]) == ["0.1%", "99.9%"]


def test_parts_as_good_as_each_other_are_stacked_on_a_band_that_ends_at_one():
    figure = reading.spread({"shuffled": [0.9, 1.0, 0.98, 1.0]}, {"shuffled": 0.05})
    assert figure.title == "Every part lies within two standard errors of its mean"
    (ax,) = figure.drawing.axes
    heights = {tuple(line.get_xdata()): np.round(line.get_ydata(), 3).tolist() for line in ax.lines[1:]}
    assert heights == {(0.9,): [0.0], (0.98,): [0.0], (1.0, 1.0): [-0.065, 0.065]}
    band = ax.patches[0]
    np.testing.assert_allclose([band.get_x(), band.get_x() + band.get_width()], [0.87, 1.0])


def test_runs_beyond_the_cliff_are_crosses_at_the_edge():
    (ax,) = learning.cliff([0.01, 0.1, 1.0], RUNS, {"straight": 0.5, "bent": 0.2}).drawing.axes
    crosses = [line.get_ydata().tolist() for line in ax.lines if line.get_marker() == "x"]
    assert crosses == [[10.0, 10.0], [8.0]]
    medians = [line.get_ydata().tolist() for line in ax.lines if line.get_linestyle() == "-"]
    np.testing.assert_allclose(medians, [[1.1, 0.1], [1.0, 0.5]])


def test_a_graph_shows_what_has_arrived_and_who_has_had_a_turn():
    nodes = small_graph()
    nodes["x"].g += 5
    figure = graphs.walk(nodes, PLACES, 6)
    (ax,) = figure.drawing.axes
    assert figure.title == "Backward pass: 1 of 2 operators have had their turn"
    assert "Gradients so far in orange: x 1, h 1, s 1. Turns: s." in figure.alt
    assert sum(bool(getattr(text, "arrow_patch", None)) for text in ax.texts) == 4 + 2
    assert nodes["x"].g == 5 and nodes["s"].g == 0
    assert "x 3, w 3, h 1, s 1. Turns: s, h." in graphs.walk(nodes, PLACES, 7).alt
    assert graphs.walk(nodes, PLACES, 2).title == "Forward pass: 2 of 4 values are computed"


def test_a_walk_in_a_wrong_order_shows_what_comes_too_late():
    nodes = small_graph()
    assert "x 3, w 3, h 1, s 1. Turns: s, h." in graphs.walk(nodes, PLACES, 7, "sh").alt
    assert "h 1, s 1. Turns: h, s." in graphs.walk(nodes, PLACES, 7, "hs").alt
    assert "x 1, h 1" in graphs.walk(nodes, PLACES, 7, "hs").alt


def test_a_parent_that_comes_twice_has_two_arrows_apart():
    a = Variable(1.0)
    (ax,) = graphs.walk({"a": a, "b": a + a}, {"a": (0, 0), "b": (1, 0)}, 4).drawing.axes
    arrows = [text.arrow_patch for text in ax.texts if getattr(text, "arrow_patch", None)]
    assert len({arrow.get_connectionstyle().rad for arrow in arrows}) == len(arrows) == 4


@pytest.mark.parametrize(
    ("receivers", "waiting", "words"),
    [
        ((), [colours.BACKWARD] * 4, "all: none."),
        ({0}, [colours.CONTEXT] * 2 + [colours.FORWARD], "all: messages pass in 4 rounds, 3 to 0; 2 to 3;"),
        ({0, 2}, [colours.FORWARD] * 2, "all: messages pass in 2 rounds, 1 to 2, 3 to 0; 0 to 1, 2 to 3."),
    ],
)
def test_workers_that_all_send_first_wait_in_a_cycle_and_one_that_receives_breaks_it(
    receivers, waiting, words
):
    figure = workers.waits({"all": receivers}, 4)
    (ax,) = figure.drawing.axes
    arrows = [to_hex(arrow.get_edgecolor()) for arrow in ax.patches]
    assert arrows == [colour.lower() for colour in waiting]
    assert words in figure.alt


@pytest.mark.parametrize(("causal", "lines"), [(True, 1 + 2 + 3), (False, 3 * 3)])
def test_the_lines_of_a_gpt_join_each_step_to_those_that_can_see_it(causal, lines):
    figure = speaking.whole(small_gpt(causal), "ABBA", [[0, 1, 1]])
    assert len(figure.drawing.axes[0].lines) == lines
    assert f"in each TransformerBlock, {lines} lines" in figure.alt
    assert "(1, 3), (1, 3, 4), (1, 3, 4), (1, 3, 2)" in figure.alt


def test_calls_are_given_for_the_last_level():
    figure = graphs.calls([1, 16], {"naive": [3, 131071], "sorted": [2, 17]})
    assert figure.title == "For 16 levels: 131,071 visits (naive) and 17 visits (sorted)"


def test_the_layer_that_refuses_is_named_in_the_title_and_what_is_not_reached_has_no_shape():
    figure = shapes.row(CONTRADICTING, np.ones((32, 64)))
    assert figure.title == "Layer 3 of 3 cannot take what comes"
    assert "Linear(100, 10) expects 100 inputs" in figure.caption
    (ax,) = figure.drawing.axes
    assert texts(ax).count("(32, 128)") == 2 and texts(ax).count("?") == 1
    figure = shapes.row(FITTING, np.ones((32, 64)))
    assert figure.title == "All 3 layers fit together"
    assert "?" not in texts(figure.drawing.axes[0]) and "(32, 10)" in figure.alt


@pytest.mark.parametrize(
    ("passed", "missing", "row", "weights"),
    [
        (0, "3 sizes", "Linear(?, 7), ReLU(), Linear(?, ?)", "none"),
        (2, "2 sizes", "Linear(3, 7), ReLU(), Linear(?, ?)", "W (3, 7) of layer 1"),
        (3, "no sizes", "Linear(3, 7), ReLU(), Linear(7, 2)", "W (3, 7) of layer 1, W (7, 2) of layer 3"),
    ],
)
def test_a_sample_opens_the_layers_that_it_has_passed(passed, missing, row, weights):
    figure = shapes.sweep(OPEN, np.ones((5, 3)), CLASSES, passed)
    assert figure.title == f"After {passed} of 3 layers, {missing} missing"
    assert f"between them: {row}." in figure.alt
    assert figure.alt.endswith(f"Weights drawn so far: {weights}.")
    assert OPEN.is_open


def test_transfers_are_counted_and_the_hidden_ones_hatched():
    figure = devices.transfers({"as written": MOVED, "quiet": MOVED[:1]})
    (ax,) = figure.drawing.axes
    assert texts(ax) == ["4", "1"]
    assert figure.title == "Transfers in one epoch: 4 at first, 1 in the end"
    assert "quiet: 1 open to, 0 hidden to, 0 open back, 0 hidden back" in figure.alt
    widths = [(bar.get_width(), bool(bar.get_hatch())) for bar in ax.patches]
    assert widths == [(1, False), (1, True)] * 2 + [(1, False), (0, True), (0, False), (0, True)]


def test_the_crossover_is_the_first_width_at_which_the_device_is_faster():
    figure = devices.crossover([8, 80, 812], [1e-5, 1e-3, 1e-1], [4e-4, 4e-3, 4e-3], "a model")
    assert figure.title == "The device overtakes at a width of about 810"
    (ax,) = figure.drawing.axes
    assert ax.lines[-1].get_xdata().tolist() == [812]
    figure = devices.crossover([8, 80], [1e-5, 1e-4], [4e-4, 4e-4], "a model")
    assert "every width" in figure.title


def test_networks_above_the_line_are_worth_sending():
    figure = devices.work({"layers": [(16, 20, 1e6), (64, 20, 2e7)], "images": [(16, 900, 1e7)]}, 500_000)
    assert figure.title == "1 of 3 networks is worth sending"
    (ax,) = figure.drawing.axes
    assert ax.lines[-1].get_ydata()[0] == 500_000 * ax.lines[-1].get_xdata()[0]


def test_timelines_end_when_the_device_is_done():
    figure = devices.timelines({"one wait": ([(0, 10), (10, 20)], [(10, 50), (50, 55)])})
    assert figure.title == "Done after 55 µs with one wait"
    assert "stands still for 0 in between" in figure.alt
    assert texts(figure.drawing.axes[0]) == ["1", "1", "2", "2", "one wait"]


def test_shares_come_with_the_standard_error_of_their_seeds():
    figure = starting.shares([0.1, 0.2], {"one": [[0.5, 0.25], [0.75, 0.25]]}, "rate")
    (ax,) = figure.drawing.axes
    (bars,) = ax.containers
    line, _, (lengths,) = bars
    assert line.get_ydata().tolist() == [0.625, 0.25]
    ends = [segment[:, 1].tolist() for segment in lengths.get_segments()]
    np.testing.assert_allclose(ends, [[0.5, 0.75], [0.25, 0.25]])
    assert figure.title == "At best, at least 60% are right: one"
    assert "from 0.1 to 0.2" in figure.alt and figure.alt.endswith("from low to high: one.")
    whole = starting.shares([0.1], {"one": [[1.0], [1.0]], "two": [[0.3], [0.5]]}, "rate")
    assert whole.title == "At best, at least 100% are right: one" and whole.alt.endswith(": two; one.")


def test_an_average_says_how_far_it_is_behind():
    figure = starting.lag([0.0, 1.0, 2.0], [0.0, 0.1, 0.5])
    assert figure.title == "In the end the average is 1.5 behind its batch"
    assert "0 behind at the first batch and 1.5 at the last" in figure.alt


def test_lines_differ_in_more_than_their_colour():
    style.use()
    cycle = matplotlib.rcParams["axes.prop_cycle"].by_key()
    for key in ("linestyle", "marker"):
        assert len(set(map(str, cycle[key]))) == len(colours.PALETTE)


def faces(figure):
    return figure._repr_mimebundle_()


def svg_in(html):
    address = re.search('src="data:image/svg[+]xml;base64,([^"]*)"', html)[1]
    return b64decode(address).decode()


def test_a_figure_shows_its_drawing_its_words_and_a_page_for_paper():
    words = {**WORDS, "title": "A <b> & c?", "alt": 'A "sine" rises & falls between 0 and 3.'}
    figure = Figure(plt.subplots()[1], **words)
    bundle = faces(figure)
    assert set(bundle) == {"text/plain", "text/html", "application/pdf"}
    assert bundle["text/plain"] == repr(figure) == words["alt"]
    assert unescape(re.search('alt="([^"]*)"', bundle["text/html"])[1]) == words["alt"]
    assert "<strong>A &lt;b&gt; &amp; c?</strong> The loss of each epoch" in bundle["text/html"]
    assert svg_in(bundle["text/html"]) == figure.svg
    assert b64decode(bundle["application/pdf"]).startswith(b"%PDF")
    assert faces(figure) == bundle
    assert plt.get_fignums() == []


def test_a_drawing_is_one_element_that_changes_nothing_around_it_and_asks_nobody():
    svg = slopes.descent(np.sum, [[3.0, 2.0], [1.0, 1.0]], (0, 4), (0, 3)).svg
    root = ElementTree.fromstring(svg)
    assert root.tag.endswith("svg") and svg.startswith("<svg") and "<style" not in svg
    loaded = re.findall(r'href="([^"]*)"', svg) + re.findall(r"url\(([^)]*)\)", svg)
    assert loaded and all(address.startswith(("#", "data:image/png;base64,")) for address in loaded)
    names = re.findall(r' id="([^"]*)"', svg)
    assert set(names) == {address[1:] for address in loaded if address[0] == "#"}
    picture = max(re.findall('base64,([^"]*)', svg), key=len)
    width, _ = Image.open(BytesIO(b64decode(picture))).size
    inches = 6.4 * 0.5  # the field takes at least a half of the figure's width
    assert width >= 2 * figures.PIXELS * inches


def test_a_drawing_without_a_layout_keeps_its_places():
    figure = seeing.convolved(np.eye(4), np.eye(2), np.eye(3), "a step")
    before = [ax.get_position().bounds for ax in figure.drawing.axes]
    assert figure.svg and faces(figure)
    assert figure.drawing.get_layout_engine() is None
    assert [ax.get_position().bounds for ax in figure.drawing.axes] == before


def test_a_drawing_has_no_ground_and_says_black_aloud():
    svg = slopes.secant(np.sin, 1.0, 0.5, true_slope=1.0).svg
    assert f"fill: {colours.TRUTH}" in svg and f"stroke: {colours.TRUTH}" in svg
    ground = re.search(r'<path d="M 0 [^"]*" style="([^"]*)"', svg)[1]
    assert ground == "fill: none"
    assert colours.INK in svg and colours.FORWARD.lower() in svg


def test_places_are_rounded_and_words_and_pictures_are_not():
    figure = plt.figure()
    figure.text(0.123456, 0.5, "3.14159")
    svg = Figure(figure, **WORDS).svg
    assert ">3.14159</text>" in svg
    assert all(len(digits) <= 2 for digits in re.findall(r"(?: d| x| y)=\"[^\"]*?\.(\d+)", svg))


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("alt", "", "alt tells the picture in a whole sentence"),
        ("alt", "plot", "alt tells the picture in a whole sentence"),
        ("alt", "A plot of the loss and so on", "whole sentence"),
        ("alt", None, "whole sentence"),
        ("caption", "Loss.", "caption tells the picture in a whole sentence"),
        ("title", "Loss", "title says the message"),
        ("title", "The loss falls.", "without a full stop"),
        ("title", None, "title says the message"),
    ],
)
def test_a_figure_wants_sentences(name, text, sentence):
    with pytest.raises(ValueError, match=sentence):
        Figure(plt.subplots()[1], **{**WORDS, name: text})


def test_a_figure_takes_axes_or_a_figure_and_nothing_else():
    assert Figure(plt.subplots()[0], **WORDS).svg
    with pytest.raises(TypeError, match="the axes or the figure that were drawn on, got list"):
        Figure([], **WORDS)


def printed_by(*lines):
    """Run lines in a Python of its own and return the words it prints."""
    command = [sys.executable, "-c", "\n".join(lines)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def test_importing_course_brings_in_nothing_heavy():
    modules = printed_by("import course, sys", "print(*sys.modules)")
    assert "course" in modules
    assert {"matplotlib", "ipywidgets", "IPython"}.isdisjoint(modules)


def test_importing_figures_and_widgets_does_not_need_ipywidgets():
    modules = printed_by("import course.figures.widgets, course.figures.chains, sys", "print(*sys.modules)")
    assert "matplotlib" in modules
    assert {"ipywidgets", "IPython"}.isdisjoint(modules)


def test_the_words_of_a_chapter_are_functions_even_after_their_modules_were_imported():
    words = printed_by(
        "import course.xray, course.kept.keep",
        "from course import keep, xray",
        "print(callable(keep), callable(xray))",
    )
    assert words == ["True", "True"]


def test_course_lists_its_words_and_says_which_it_has():
    import course

    for name in course.__all__:
        assert callable(getattr(course, name))
        assert name in dir(course)
    with pytest.raises(AttributeError, match=r"course has no 'sow'; it has .*\bexplore\b"):
        course.sow  # noqa: B018


def test_losses_are_written_as_numbers_that_are_read_easily():
    figure = learning.loss_curves(
        {"unclipped": [1.0, 214.3], "clipped": [1.0, 0.0142]}, ("zero", 1_234_567.0)
    )
    assert figure.title == "After 2 epochs: unclipped at 210, clipped at 0.014"
    assert "A grey line marks the zero, 1,200,000." in figure.alt
    plt.close("all")


@pytest.mark.parametrize(
    "draw",
    [
        lambda: jacobians.table(np.diag([0.1, 1.0]), "one"),
        lambda: seeing.places(np.eye(3), [-1, 0, 1]),
        lambda: starting.groups(2, 2),
    ],
)
def test_numbers_on_a_pale_square_stay_dark_by_night(draw):
    """A square has the same colour by night, so its number must not follow the page's ink."""
    assert colours.ON_PALE not in colours.THEMED
    assert re.search(f"<text [^>]*fill: {colours.ON_PALE}", draw().svg)
    plt.close("all")
