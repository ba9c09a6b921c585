"""gradcheck finds what is wrong, leaves what is right alone, and gives everything back as it was."""

import copy
import itertools
import re

import numpy as np
import pytest

from minigrad.check.checker import gradcheck
from minigrad.check.numerical import NUDGE, numerical_gradient
from minigrad.data import digits
from minigrad.layer import Layer
from minigrad.layers.activations import ReLU, Softmax, Tanh
from minigrad.layers.attention import MultiHeadAttention
from minigrad.layers.combinators import chain
from minigrad.layers.convolution import Conv2d, MaxPool2d
from minigrad.layers.linear import Linear
from minigrad.layers.reductions import Flatten, Reshape
from minigrad.losses import cross_entropy, mse
from minigrad.parameter import Buffer, Parameter
from minigrad.parts import attributes
from minigrad.shapes import ShapeError
from tests.planted_bugs import BUGS, embedding, entrywise, linear, relu

X = np.random.default_rng(1).normal(size=(5, 3))
RULES = [
    "forward returns (Y, backward)",
    "forward leaves X and the weights alone",
    "the same X gives the same Y",
    "backward runs",
    "backward leaves dY alone",
    "backward leaves X, Y and the weights alone",
    "backward adds to the gradients",
    "backward remembers its own forward",
    "backward is linear in dY",
]


MUSEUM = {bug.name: bug for bug in BUGS}


def planted(name):
    """Return what gradcheck says about one bug of the museum."""
    return gradcheck(MUSEUM[name].build(), MUSEUM[name].X)


def verdicts(report):
    return {row.name: row.verdict for row in report.rows}


class Dropout(Layer):
    """Drops entries while training, with a generator of its own."""

    def __init__(self):
        self.rng = np.random.default_rng(3)

    def forward(self, X, training=False):
        if not training:
            return X, lambda dY: dY
        mask = (self.rng.uniform(size=X.shape) < 0.8) / 0.8
        return X * mask, lambda dY: dY * mask


class Centre(Layer):
    """Subtracts a running mean, which a training forward updates in place and by a new array."""

    def __init__(self):
        self.mean, self.count = Buffer(np.zeros(3)), Buffer(0.0)

    def forward(self, X, training=False):
        Y = X - self.mean.data
        if training:
            self.mean.data *= 0.9
            self.mean.data += 0.1 * X.mean(axis=0)
            self.count.data = self.count.data + 1
        return Y, lambda dY: dY


class Counting:
    """Counts the calls of a layer, in counters that gradcheck cannot see and put back."""

    def __init__(self, layer):
        self.layer, self.forwards, self.backwards = layer, itertools.count(), itertools.count()

    def __call__(self, X):
        next(self.forwards)
        Y, backward = self.layer(X)

        def counted(dY):
            next(self.backwards)
            return backward(dY)

        return Y, counted

    def __deepcopy__(self, memo):
        return self  # the copy that gradcheck works on counts too

    def calls(self):
        return next(copy.copy(self.forwards)), next(copy.copy(self.backwards))


# What it says --------------------------------------------------------------------------------------------


def test_a_right_layer_passes_and_the_report_says_so():
    report = gradcheck(Linear(3, 7, rng=0), X)
    assert report.ok and report.problems == []
    text = re.sub(r"\d\.\de-\d\d", "1.0e-10", str(report))
    assert text == (
        "gradcheck Linear  X (5, 3)\n"
        "  gradient of  shape         checked  worst error\n"
        "  input X      (5, 3)          15/15      1.0e-10  ok\n"
        "  W            (3, 7)          21/21      1.0e-10  ok\n"
        "  b            (7,)              7/7      1.0e-10  ok\n"
        "  9 rules of a layer: all kept\n"
        "passed"
    )
    assert max(row.error for row in report.rows) < 1e-8  # "clean", where the tolerance is 1e-6


def test_a_wrong_gradient_is_named_in_its_own_row():
    report = planted("linear_bias_gradient_is_a_mean")
    assert verdicts(report) == {"input X": "ok", "W": "ok", "b": "WRONG"}
    assert report.problems == ["b: 5 times too small: 5 is the batch size"]
    assert "  b            (7,)              7/7      8.0e-01  WRONG  5 times too small" in str(report)
    assert str(report).endswith("FAILED: 1 problem(s)")


def test_a_broken_rule_has_a_line_of_its_own():
    report = planted("linear_weight_gradient_overwritten")
    assert set(verdicts(report).values()) == {"ok"} and not report.ok
    assert "  BROKEN backward adds to the gradients: W: overwritten, use += instead of =\n" in str(report)
    assert "all kept" not in str(report)


def test_a_report_without_rows_has_no_table():
    report = planted("rule_1_forward_returns_only_its_result")
    assert report.rows == [] and list(report.rules) == RULES[:1]
    assert "worst error" not in str(report) and str(report).endswith("FAILED: 1 problem(s)")


def test_a_notebook_shows_the_same_words_as_a_table():
    report = planted("linear_bias_gradient_is_a_mean")
    html = report._repr_html_()
    words = re.sub(r"<[^>]+>", " ", re.sub(r"</?u[^>]*>", "", html)).split()
    assert " ".join(words) == " ".join(str(report).split())
    assert re.search(r"<u style='[^']*#D55E00[^']*'>WRONG</u>", html)
    assert re.search(r"<u style='[^']*#009E73[^']*'>ok</u>", html)
    assert not re.search(r"[^-]color:|background", html)  # words and ground are the page's own, light or dark
    spans = [sum(map(int, re.findall(r"colspan='(\d)'", row))) for row in html.split("</tr>")[:-1]]
    assert set(spans) == {6}


def test_a_notebook_never_runs_what_stands_in_a_name_or_an_error():
    def layer(X):
        def backward(dY):
            raise ValueError("<script>")

        return X, backward

    assert "<script>" not in gradcheck(layer, X)._repr_html_()


def test_the_report_holds_the_jacobian_by_nudging_and_by_backward():
    layer = Linear(3, 7, rng=0)
    nudged, yours = gradcheck(layer, X).jacobians["input X"]
    assert nudged.shape == yours.shape == (35, 15)
    np.testing.assert_allclose(
        nudged, np.kron(np.eye(5), layer.W.data.T), atol=1e-9
    )  # nudging is good to 1e-9
    np.testing.assert_allclose(yours, np.kron(np.eye(5), layer.W.data.T), atol=1e-15)


# The nine rules ------------------------------------------------------------------------------------------

BREAKERS = {
    1: "rule_1_forward_returns_the_pair_reversed",
    2: "rule_2_forward_works_in_place",
    3: "rule_3_forward_counts_its_calls",
    4: "rule_4_backward_has_a_typo",
    5: "rule_5_backward_masks_in_place",
    6: "rule_6_backward_reuses_the_input",
    7: "linear_weight_gradient_overwritten",
    8: "rule_8_input_kept_on_self",
    9: "rule_9_backward_keeps_only_signs",
}


@pytest.mark.parametrize("number", BREAKERS)
def test_each_rule_is_broken_by_a_layer_of_its_own_and_no_other_rule_is(number):
    report = planted(BREAKERS[number])
    assert [rule for rule, complaint in report.rules.items() if complaint] == [RULES[number - 1]]


@pytest.mark.parametrize("number", [1, 3, 4])
def test_after_some_rules_nothing_more_is_judged(number):
    report = planted(BREAKERS[number])
    assert list(report.rules) == RULES[:number] and report.rows == []


def test_a_right_layer_keeps_all_nine():
    assert gradcheck(Linear(3, 7, rng=0), X).rules == dict.fromkeys(RULES, "")


def test_a_wrong_value_that_a_broken_rule_explains_is_not_told_twice():
    report = planted("rule_9_backward_keeps_only_signs")
    assert verdicts(report) == {"input X": "see rules"} and len(report.problems) == 1


def test_a_value_that_is_wrong_beside_a_broken_rule_is_still_told():
    W, b = Parameter(np.ones((3, 7))), Parameter(np.zeros(7))

    def layer(X):
        def backward(dY):
            W.grad = X.T @ dY
            b.grad += dY.mean(axis=0)
            return dY @ W.data.T

        return X @ W.data + b.data, backward

    report = gradcheck(layer, X)
    assert report.problems == [
        "backward adds to the gradients: W: overwritten, use += instead of =",
        "b: 5 times too small: 5 is the batch size",
    ]


def test_a_layer_that_keeps_its_input_on_self_is_caught_with_one_example():
    assert (
        "keep X in the closure" in gradcheck(MUSEUM["rule_8_input_kept_on_self"].build(), X[:1]).problems[0]
    )


def test_a_gradient_of_zero_may_be_added_many_times():
    assert gradcheck(Linear(3, 7, rng=0), np.zeros((5, 3))).ok


# Traps that cry wolf elsewhere ---------------------------------------------------------------------------


@pytest.mark.parametrize("slope", [0.0, 0.3, 1.0])
def test_at_the_kink_of_relu_any_slope_between_both_sides_passes(slope):
    layer = entrywise(relu, lambda X, Y, dY: dY * np.where(X == 0, slope, X > 0).astype(X.dtype))
    report = gradcheck(layer, np.array([[-1.0, 0.0, 2.0]]))
    assert report.ok and report.rows[0].sentence == "1 at a kink"


@pytest.mark.parametrize("slope", [-0.1, 1.1, 5.0])
def test_at_the_kink_of_relu_no_other_slope_passes(slope):
    layer = entrywise(relu, lambda X, Y, dY: dY * np.where(X == 0, slope, X > 0).astype(X.dtype))
    assert not gradcheck(layer, np.array([[-1.0, 0.0, 2.0]])).ok


@pytest.mark.parametrize("X", [np.zeros((2, 4)), np.eye(4), np.eye(4)[:1] - np.eye(4)[1:2]])
@pytest.mark.parametrize("bias", [True, False])
def test_several_kinks_behind_one_output_pass(X, bias):
    for seed in range(5):
        layer = Linear(4, 3, bias=bias, rng=seed) >> ReLU() >> Linear(3, 2, rng=seed + 1)
        assert gradcheck(layer, X).problems == []


def test_a_kink_along_a_direction_alone_is_not_counted_as_an_entry():
    layer = Linear(64, 5, rng=0) >> ReLU() >> Linear(5, 3, rng=1)
    report = gradcheck(layer, digits()[0][:2], max_entries=3)
    assert report.ok and not any(row.sentence.startswith("0") for row in report.rows)


def test_digits_with_their_zeros_pass():
    image = Reshape(1, 8, 8) >> Conv2d(1, 2, padding="same", rng=0) >> ReLU() >> MaxPool2d(2) >> Flatten()
    report = gradcheck(image >> Linear(32, 10, rng=0), digits()[0][:2], max_entries=40)
    assert report.ok and "at a kink" in str(report)


@pytest.mark.parametrize("max_entries", [0, 7, 300])
def test_where_all_is_at_a_kink_what_is_compared_is_a_little_beside(max_entries):
    report = gradcheck(ReLU(), np.zeros((5, 4)), max_entries=max_entries)
    assert report.ok and report.rows[0].sentence.endswith("at a kink, compared at nearby values")
    wrong = gradcheck(lambda X: (np.maximum(X, 0), lambda dY: dY), np.zeros((5, 4)), max_entries=max_entries)
    assert verdicts(wrong) == {"input X": "WRONG"}
    assert wrong.problems[0].startswith("input X: all entries are at a kink, where no comparison is possible")


def shared_by_a_tie(how):
    """Return the maximum of each row; in a tie dY goes to the first, in parts to all, or whole to each."""

    def layer(X):
        Y = X.max(axis=1, keepdims=True)
        largest = (X == Y).astype(X.dtype)
        first = largest * (np.cumsum(largest, axis=1) == 1)
        parts = {"first": first, "parts": largest / largest.sum(axis=1, keepdims=True), "whole": largest}
        return Y[:, 0], lambda dY: parts[how] * dY[:, None]

    return layer


@pytest.mark.parametrize("rows", [1, 5])
@pytest.mark.parametrize("max_entries", [0, 20, 1000])
def test_a_tie_on_digits_may_be_shared_but_not_counted_twice(rows, max_entries):
    X = digits()[0][:rows]
    for how in ("first", "parts"):
        assert gradcheck(shared_by_a_tie(how), X, max_entries=max_entries).problems == []
    assert not gradcheck(shared_by_a_tie("whole"), X, max_entries=max_entries).ok


@pytest.mark.parametrize("factor", [0.9, 1.1, -1.0])
def test_kinks_hide_no_wrong_gradient(factor):
    first, last = Linear(4, 3, rng=0), Linear(3, 2, rng=1)
    wrong = entrywise(relu, lambda X, Y, dY: factor * dY * (X > 0))
    for X in (np.zeros((2, 4)), np.eye(4)):
        assert not gradcheck(first >> wrong >> last, X).ok


def at_kinks_by_cancellation(seed):
    """Return a Linear layer and X, whole numbers, of which some sums are 0: a last digit turns ReLU there."""
    rng, hidden = np.random.default_rng(seed), Linear(2, 3, rng=0)
    hidden.W.data[...] = rng.integers(-2, 3, (2, 3))
    return hidden, rng.integers(-2, 3, (3, 2)).astype(float)


@pytest.mark.parametrize("seed", range(5))
def test_a_kink_that_a_last_digit_turns_hides_no_wrong_gradient(seed):
    hidden, X = at_kinks_by_cancellation(seed)
    Z = hidden(X)[0]
    assert (Z == 0).any() and (Z > 0).any()
    assert gradcheck(hidden >> ReLU() >> Linear(3, 2, rng=1), X).problems == []
    for factor in (0.9, 1.1, 2.0, -1.0):
        wrong = entrywise(relu, lambda X, Y, dY, factor=factor: factor * dY * (X > 0))
        assert not gradcheck(hidden >> wrong >> Linear(3, 2, rng=1), X).ok
    clipped = entrywise(relu, lambda X, Y, dY: np.clip(dY, -3, 3) * (X > 0))
    assert any("linear in dY" in problem for problem in gradcheck(hidden >> clipped, X).problems)


@pytest.mark.parametrize("steepness", 10.0 ** np.arange(2, 7))
def test_a_steep_layer_is_judged_by_a_shorter_step(steepness):
    def layer(factor):
        slope = lambda X: factor * steepness * np.cos(steepness * X)  # noqa: E731
        return entrywise(lambda X: np.sin(steepness * X), lambda X, Y, dY: dY * slope(X))

    assert gradcheck(layer(1.0), X).problems == []
    for factor in (1.001, 0.9, 2.0, -1.0, 0.0):
        assert verdicts(gradcheck(layer(factor), X)) == {"input X": "WRONG"}


def test_far_out_float32_is_asked_at_ordinary_numbers():
    wrong = entrywise(np.tanh, lambda X, Y, dY: dY * (1 - Y * Y) * (1 if X.dtype == float else 2))
    for scale in (1.0, 1e4):
        assert gradcheck(Tanh(), scale * X).ok
        (problem,) = gradcheck(wrong, scale * X).problems
        assert problem == "the same holds in float32: input X: the values differ from those in float64"


@pytest.mark.parametrize("scale", [1e3, 1e4])
def test_attention_far_out_passes(scale):
    for seed in range(3):
        X = scale * np.random.default_rng(seed).normal(size=(2, 3, 4))
        assert gradcheck(MultiHeadAttention(4, 2, rng=seed), X).problems == []


@pytest.mark.parametrize("scale", 10.0 ** np.arange(-15, 16, 5))
def test_gradients_of_every_size_are_judged_alike(scale):
    right = entrywise(lambda X: scale * np.tanh(X), lambda X, Y, dY: dY * scale * (1 - np.tanh(X) ** 2))
    wrong = entrywise(lambda X: scale * np.tanh(X), lambda X, Y, dY: dY * scale * (1.01 - np.tanh(X) ** 2))
    assert gradcheck(right, X).ok and not gradcheck(wrong, X).ok


@pytest.mark.parametrize("distance", 10.0 ** np.arange(-9.0, -3.0))
@pytest.mark.parametrize("side", [-1, 1])
def test_near_the_kink_of_relu_the_step_across_it_is_no_error(distance, side):
    assert gradcheck(ReLU(), np.array([[side * distance, 2.0, -3.0]])).ok


def test_many_kinks_at_once_are_accepted_output_by_output():
    start_at_zero = Linear(3, 4, rng=0)
    start_at_zero.W.data[...] = 0.0  # every hidden unit stands at the kink of ReLU, for every example
    report = gradcheck(start_at_zero >> ReLU() >> Linear(4, 2, rng=1), X)
    assert report.ok and "at a kink" in str(report)
    assert gradcheck(start_at_zero >> ReLU() >> Linear(4, 2, rng=1), X, max_entries=5).ok


@pytest.mark.parametrize("layer", [Tanh(), Softmax()], ids=repr)
@pytest.mark.parametrize("scale", [30.0, 100.0, 700.0])
def test_saturated_layers_pass(layer, scale):
    assert gradcheck(layer, scale * X).ok


def test_a_saturated_loss_passes():
    assert gradcheck(lambda Y: cross_entropy(Y, np.array([0, 1, 2, 0, 1])), 100 * np.eye(5, 3)).ok


def test_a_gradient_that_is_exactly_zero_passes_although_nudging_says_1e_11():
    query, b_key = Parameter(np.ones((3, 2))), Parameter(np.ones(2))

    def attention(X):
        S = (X @ query.data) @ (X[:, :2] + b_key.data).T  # the bias adds the same to a whole row of scores
        P = np.exp(S - S.max(axis=-1, keepdims=True))
        P /= P.sum(axis=-1, keepdims=True)

        def backward(dY):
            dS = P * (dY - (dY * P).sum(axis=-1, keepdims=True))
            dK, dQ = dS.T @ (X @ query.data), dS @ (X[:, :2] + b_key.data)
            b_key.grad += dK.sum(axis=0)
            query.grad += X.T @ dQ
            return dQ @ query.data.T + np.pad(dK, ((0, 0), (0, 1)))

        return P, backward

    report = gradcheck(attention, 10 * X)
    assert report.ok and verdicts(report)["b_key"] == "ok"


def test_a_constant_output_passes():
    assert gradcheck(lambda X: (np.ones((5, 2)), lambda dY: np.zeros_like(X)), X).ok
    assert gradcheck(lambda X: (0 * X, lambda dY: 0 * dY), X).ok


@pytest.mark.parametrize("batch", [1, 2])
def test_a_batch_of_one_passes(batch):
    assert gradcheck(Linear(3, 7, rng=0) >> Tanh() >> Linear(7, 1, rng=0), X[:batch]).ok


def test_a_loss_with_its_target_fixed_is_a_layer():
    report = gradcheck(lambda Y: mse(Y, np.ones((5, 3))), X)
    assert report.ok and report.jacobians["input X"][0].shape == (1, 15)


def test_a_float32_layer_is_judged_in_float64():
    layer = Linear(3, 7, rng=0).to(np.float32)
    report = gradcheck(layer, X.astype(np.float32))
    assert report.ok and set(verdicts(report).values()) == {"ok"}
    assert layer.W.data.dtype == layer.W.grad.dtype == np.float32


def in_float32(layer):
    """Return a layer that does its work in float32 inside."""

    def forward(X):
        Y, backward = layer(X.astype(np.float32))
        return Y.astype(np.float64), lambda dY: backward(dY.astype(np.float32)).astype(np.float64)

    return forward


def test_float32_inside_is_suspicious_and_not_wrong():
    report = gradcheck(in_float32(Tanh()), X)
    assert report.ok and verdicts(report) == {"input X": "suspicious"}
    assert "float32 used inside" in str(report) and str(report).endswith("passed")


@pytest.mark.parametrize("factor", [-1.0, 0.9, 1.1, 2.0])
def test_an_error_of_a_tenth_is_found_in_spite_of_float32_inside(factor):
    wrong = entrywise(np.tanh, lambda X, Y, dY: factor * dY * (1 - Y * Y))
    assert verdicts(gradcheck(in_float32(wrong), X)) == {"input X": "WRONG"}


def test_at_the_edge_of_the_domain_nudging_gives_no_verdict():
    def root(X):
        Y = np.sqrt(np.maximum(X, 0)) + np.where(X < 0, np.nan, 0)
        return Y, lambda dY: dY / np.where(Y > 0, 2 * Y, 1)

    report = gradcheck(root, np.array([[0.0, 1.0, 4.0]]))
    assert report.ok and verdicts(report) == {"input X": "suspicious"} and "at the edge" in str(report)


def test_a_random_layer_with_its_own_generator_passes():
    assert gradcheck(Dropout(), X, training=True).ok
    random = np.random.default_rng(0)

    def noise(X):
        mask = random.uniform(size=X.shape) < 0.5
        return X * mask, lambda dY: dY * mask

    assert gradcheck(chain(noise, Linear(3, 7, rng=0)), X).ok


def test_a_buffer_that_each_training_forward_updates_passes_and_has_no_row():
    report = gradcheck(Centre() >> Linear(3, 7, rng=0), X, training=True)
    assert report.ok and list(verdicts(report)) == ["input X", "layers.1.W", "layers.1.b"]


def test_training_reaches_the_layers_that_declare_it_and_no_other():
    assert gradcheck(Dropout(), X).jacobians["input X"][0].any(axis=1).all()
    assert not gradcheck(Dropout(), X, training=True).jacobians["input X"][0].any(axis=1).all()
    assert gradcheck(lambda X: (X, lambda dY: dY), X, training=True).ok


def test_a_shared_weight_gets_the_sum_of_both_paths():
    shared = Linear(3, 3, rng=0)
    report = gradcheck(shared >> Tanh() >> shared, X)
    assert report.ok and [row.name for row in report.rows] == ["input X", "layers.0.W", "layers.0.b"]


def test_a_gradient_may_come_back_as_dY_itself():
    assert gradcheck(lambda X: (X.copy(), lambda dY: dY), X).ok


# What it takes -------------------------------------------------------------------------------------------


def test_a_tuple_of_inputs_has_a_tuple_of_gradients():
    def product(X):
        A, B = X
        return A * B, lambda dY: (dY * B, dY * A)

    report = gradcheck(product, (X, X + 1))
    assert report.ok and list(verdicts(report)) == ["input X[0]", "input X[1]"]


def test_integers_among_the_inputs_get_no_gradient():
    lengths = np.array([1, 3, 2, 3, 1])

    def masked(X):
        mask = np.arange(3) < X[1][:, None]
        return X[0] * mask, lambda dY: (dY * mask, None)

    report = gradcheck(masked, (X, lengths))
    assert report.ok and list(verdicts(report)) == ["input X[0]"]
    with pytest.raises(TypeError, match=r"input X\[1\] holds integers: return None for it"):
        gradcheck(lambda X: (X[0], lambda dY: (dY, 0 * X[1])), (X, lengths))


def test_an_embedding_of_integers_is_checked_for_its_table():
    report = gradcheck(
        embedding(lambda table, ids, dY: np.add.at(table.grad, ids, dY)), np.array([1, 2, 1, 6])
    )
    assert report.ok and list(verdicts(report)) == ["table"]


def test_integers_that_the_layer_has_a_gradient_for_are_an_error_that_says_what_to_write():
    with pytest.raises(TypeError, match=r"input X holds integers.*astype\(float\)"):
        gradcheck(Linear(3, 7, rng=0), np.ones((5, 3), dtype=int))


@pytest.mark.parametrize(
    "bad, error, words",
    [
        (np.zeros((0, 3)), ShapeError, "empty: give at least one example"),
        (np.array([[1.0, np.nan, 0.0]]), ValueError, r"not finite.*the first at \[0, 1\]"),
        (np.array(3.0), ShapeError, "no batch axis"),
        (np.array([["a", "b", "c"]]), TypeError, r"X.astype\(float\)"),
        ([[1.0, 2.0, 3.0]], TypeError, "write np.array"),
    ],
    ids=["empty", "nan", "number", "text", "list"],
)
def test_what_is_no_batch_of_numbers_is_refused(bad, error, words):
    with pytest.raises(error, match=words):
        gradcheck(Linear(3, 7, rng=0), bad)


@pytest.mark.parametrize("tol", [0, -1e-6, 1, np.inf, np.nan, "1e-6", None, True])
def test_a_tolerance_that_would_pass_everything_or_nothing_is_refused(tol):
    with pytest.raises((TypeError, ValueError), match="tol must be a finite number above 0 and below 1"):
        gradcheck(Tanh(), X, tol=tol)


@pytest.mark.parametrize("max_entries", [-1, 2.5, "all"])
def test_a_sample_has_a_whole_number_of_entries(max_entries):
    with pytest.raises((TypeError, ValueError), match="max_entries must be an integer of at least 0"):
        gradcheck(Tanh(), X, max_entries=max_entries)


@pytest.mark.parametrize(
    "layer, words",
    [
        (3, "a layer must be callable"),
        (Linear, r"Linear is a class, not a layer: create one"),
        (mse, r"mse\(\) missing 1 required positional argument: 'T'"),
        (lambda: 3, "takes 0 positional arguments but 1 was given"),
    ],
    ids=["number", "class", "loss without its target", "nothing"],
)
def test_what_is_no_layer_is_refused(layer, words):
    with pytest.raises(TypeError, match=words):
        gradcheck(layer, X)


@pytest.mark.parametrize("Y", [None, "text", [1.0, 2.0], (), (X, (X,)), (X, None)])
def test_an_output_that_is_no_array_breaks_the_first_rule(Y):
    (problem,) = gradcheck(lambda X: (Y, lambda dY: dY), X).problems
    assert "not an array and a function" in problem


def test_an_output_that_is_not_finite_is_refused():
    with pytest.raises(ValueError, match="Y .*not finite"):
        gradcheck(lambda X: (X * np.inf, lambda dY: dY), X)


def test_the_error_of_forward_is_left_as_it_is():
    with pytest.raises(ShapeError, match="expects 3 inputs in the last axis"):
        gradcheck(Linear(3, 7, rng=0), np.ones((5, 4)))


def test_the_parameters_of_plain_functions_are_found_in_closures_lists_and_methods():
    W, kept, owner = Parameter(np.ones(3)), [Parameter(2 * np.ones(3))], Linear(3, 3, rng=0)

    def layer(X):
        H, backward = owner.forward(X)

        def back(dY):
            W.grad += (dY * H * kept[0].data).sum(axis=0)
            kept[0].grad += (dY * H * W.data).sum(axis=0)
            return backward(dY * W.data * kept[0].data)

        return H * W.data * kept[0].data, back

    report = gradcheck(layer, X)
    assert report.ok and set(verdicts(report)) == {"input X", "W", "kept.0", "owner.W", "owner.b"}
    assert list(verdicts(gradcheck(owner.forward, X))) == ["input X", "W", "b"]


def test_the_parameters_of_any_callable_object_are_found_among_its_attributes():
    class Scale:
        def __init__(self):
            self.factors = [Parameter(np.ones(3)), Parameter(2 * np.ones(3))]

        def __call__(self, X):
            a, b = self.factors

            def backward(dY):
                a.grad += (dY * X * b.data).sum(axis=0)
                return dY * a.data * b.data  # the second factor is forgotten

            return X * a.data * b.data, backward

    report = gradcheck(Scale(), X)
    assert report.problems == ["factors.1: all zero: no gradient arrives here"]


def test_where_there_is_nothing_to_nudge_the_rules_are_still_judged():
    report = gradcheck(lambda ids: (np.eye(7)[ids], lambda dY: None), np.array([1, 2, 1]))
    assert report.ok and report.rows == [] and list(report.rules) == RULES


def test_the_same_seed_gives_the_same_report():
    assert str(gradcheck(Tanh(), X, rng=4)) == str(gradcheck(Tanh(), X, rng=np.random.default_rng(4)))


def test_the_tolerance_decides_what_passes():
    rough = entrywise(np.sin, lambda X, Y, dY: dY * np.cos(X) * (1 + 3e-6))
    assert not gradcheck(rough, X).ok and gradcheck(rough, X, tol=1e-5).ok


def test_an_entry_far_below_the_largest_is_measured_against_one_percent_of_that():
    def layer(error):
        factor = lambda X: 1 + error * (np.abs(X) < 0.01).astype(X.dtype)  # noqa: E731
        return entrywise(lambda X: X * X / 2, lambda X, Y, dY: dY * X * factor(X))

    small_beside_one = np.array([[2e-3, 1.0, -1.0]])
    assert gradcheck(layer(3e-6), small_beside_one).ok and not gradcheck(layer(3e-4), small_beside_one).ok


def test_the_step_grows_with_the_entry_so_that_large_ones_are_judged_as_strictly():
    wrong = entrywise(np.square, lambda X, Y, dY: dY * 2 * X * (1 + 1e-5))
    assert gradcheck(entrywise(np.square, lambda X, Y, dY: dY * 2 * X), 1e6 * X).ok
    assert not gradcheck(wrong, 1e6 * X).ok


# The same under other circumstances ----------------------------------------------------------------------

ASKED_AGAIN = {
    "parameters() finds every parameter": "parameter_is_an_attribute_of_the_class",
    "the same holds with need_dX=False": "without_dX_nothing_is_added",
    "the same holds with training=True": "training_forgets_the_two",
    "the same holds after another X": "mask_of_the_first_X_is_kept_in_a_global",
    "the same holds after an X of another shape": "shape_of_the_first_X_is_kept",
    "the same holds after an optimizer's step": "transposed_weights_are_cached",
    "the same holds for a batch of one": "batch_of_one_counts_twice",
    "the same holds for a batch of two": "batch_of_two_is_wrong",
    "the same holds for X in Fortran order": "mask_is_read_as_it_lies_in_memory",
    "the same holds for a transposed dY": "dY_is_read_as_it_lies_in_memory",
    "float32 in gives float32 back": "gradient_is_made_by_zeros",
    "the same holds in float32": "slope_is_another_in_float32",
}


@pytest.mark.parametrize("line", ASKED_AGAIN)
def test_what_is_wrong_under_other_circumstances_alone_has_one_line_of_its_own(line):
    report = planted(ASKED_AGAIN[line])
    assert [rule for rule, complaint in report.rules.items() if complaint] == [line]
    assert list(report.rules)[:9] == RULES and len(report.problems) == 1


def test_a_layer_that_is_wrong_at_once_is_asked_nothing_more():
    layer = entrywise(np.square, lambda X, Y, dY: np.zeros(X.shape) + X * dY)  # nor is dX ever float32
    assert gradcheck(layer, X).problems == ["input X: 2 times too small"]


def test_training_is_asked_the_other_way_round_too():
    layer = MUSEUM["training_forgets_the_two"].build()
    assert gradcheck(layer, X, training=True).problems == ["input X: 2 times too small"]

    def wrong_outside(X, training=False):
        return 2 * X, lambda dY: (2 if training else 1) * dY

    (problem,) = gradcheck(wrong_outside, X, training=True).problems
    assert problem == "the same holds with training=False: input X: 2 times too small"


def test_a_loss_keeps_the_length_of_its_target():
    T = np.ones((5, 3))
    assert gradcheck(entrywise(lambda Y: Y - T, lambda X, Y, dY: dY.copy()), X).ok
    assert gradcheck(lambda Y: (((Y - T) ** 2).sum(axis=1), lambda dY: 2 * (Y - T) * dY[:, None]), X).ok
    assert gradcheck(lambda Y: (np.mean((Y - T) ** 2), lambda dL: dL * 2 * (Y - T) / Y.size), X).ok


def test_numbers_of_its_own_in_float64_make_no_layer_wrong():
    C = np.arange(1.0, 4.0)
    assert gradcheck(lambda X: (X * C, lambda dY: dY * C), X).ok


def test_what_overflows_in_float32_alone_is_not_judged_there():
    assert gradcheck(entrywise(np.exp, lambda X, Y, dY: dY * Y), np.array([[100.0, 1.0, 20.0]])).ok


def test_rounding_may_turn_a_kink_in_float32():
    near = Linear(3, 4, rng=0)
    near.W.data[...] = 0.0
    near.b.data[...] = 1e-9
    assert gradcheck(near >> ReLU() >> Linear(4, 2, rng=1), X).ok


# One cause, one sentence ---------------------------------------------------------------------------------


def test_a_second_call_that_fails_is_called_that():
    (problem,) = planted("rule_8_inputs_kept_on_a_stack").problems
    assert problem == "backward runs: the second call failed: IndexError: pop from empty list"


# A tuple of outputs --------------------------------------------------------------------------------------


def test_a_tuple_of_outputs_takes_a_tuple_of_gradients():
    report = gradcheck(lambda X: ((X * X, X.sum(axis=1)), lambda dY: 2 * X * dY[0] + dY[1][:, None]), X)
    assert report.ok and report.jacobians["input X"][0].shape == (20, 15)


def test_integers_among_the_outputs_get_None():
    sent = []

    def layer(X):
        return (X * X, np.array([1, 2, 3, 1, 2])), lambda dY: (sent.append(dY[1]), 2 * X * dY[0])[1]

    assert gradcheck(layer, X).ok and set(sent) <= {None}


# How it leaves things ------------------------------------------------------------------------------------


def everything(thing):
    """Return the identity and the bytes of all that a Parameter or Buffer holds."""
    return {name: (id(value), np.asarray(value).tobytes()) for name, value in attributes(thing)}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("as_function", [False, True])
def test_the_layer_is_bit_for_bit_what_it_was(dtype, as_function):
    dropout, centre, right = Dropout(), Centre(), Linear(3, 7, rng=0).to(dtype)
    right.W.grad += 0.25
    things = [right.W, right.b, centre.mean, centre.count]
    before = [everything(thing) for thing in things], copy.deepcopy(dropout.rng.bit_generator.state)
    layer = dropout >> centre >> right
    given = X.astype(dtype)
    if as_function:
        layer = chain(dropout, chain(centre, right))
    assert gradcheck(layer, given, training=True).ok
    assert ([everything(thing) for thing in things], dropout.rng.bit_generator.state) == before
    np.testing.assert_array_equal(given, X.astype(dtype))


def test_even_a_layer_that_fails_or_misbehaves_is_given_back():
    W = Parameter(np.ones((3, 7)))
    before = everything(W)

    def failing(X):
        W.data += 1.0
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        gradcheck(failing, X)
    assert everything(W) == before
    for name in ("linear_learns_inside_backward", "linear_decays_its_weights_in_forward"):
        layer = MUSEUM[name].build()
        weights = layer.__closure__[0].cell_contents
        before = everything(weights)
        gradcheck(layer, X)
        assert everything(weights) == before


def test_a_layer_that_writes_on_itself_works_on_a_copy():
    layer = MUSEUM["rule_8_input_kept_on_self"].build()
    gradcheck(layer, X)
    assert vars(layer) == {}


def test_what_a_function_keeps_is_put_back():
    global KEPT_GLOBAL, ADDED_GLOBAL
    KEPT_GLOBAL, kept = {"a": np.ones(3)}, [1]

    def layer(X):
        global KEPT_GLOBAL, ADDED_GLOBAL
        KEPT_GLOBAL["a"] += 1
        KEPT_GLOBAL["b"] = ADDED_GLOBAL = X
        kept.append(X)
        layer.seen = X
        return 2 * X, lambda dY: 2 * dY

    ADDED_GLOBAL = None
    assert gradcheck(layer, X).ok
    assert list(KEPT_GLOBAL) == ["a"] and KEPT_GLOBAL["a"].tolist() == [1, 1, 1]
    assert ADDED_GLOBAL is None and kept == [1] and vars(layer) == {}


def test_a_hidden_parameter_is_given_back_too():
    layer = MUSEUM["parameter_is_an_attribute_of_the_class"].build()
    layer.W.grad += 0.25
    before = everything(layer.W)
    assert not gradcheck(layer, X).ok
    assert everything(layer.W) == before


def test_read_only_inputs_are_fine():
    given = X.copy()
    given.flags.writeable = False
    assert gradcheck(Linear(3, 7, rng=0), given).ok


# What it costs -------------------------------------------------------------------------------------------


def test_a_small_linear_layer_costs_four_forwards_an_entry_and_little_more():
    counting = Counting(Linear(3, 7, rng=0))
    assert gradcheck(counting, X).ok
    entries, outputs = 15 + 21 + 7, 35
    # Four nudges an entry, one forward for the whole Jacobian; the rest are the rules and the circumstances.
    forwards, backwards = counting.calls()
    assert 4 * entries + 1 < forwards <= 4 * entries + 1 + 70
    assert outputs < backwards <= outputs + 50


def test_of_a_large_model_only_a_sample_is_nudged():
    counting = Counting(Linear(17, 23, rng=0) >> ReLU() >> Linear(23, 11, rng=1))
    report = gradcheck(counting, np.random.default_rng(0).normal(size=(13, 17)), max_entries=29)
    assert report.ok and report.jacobians == {}
    assert [row.checked for row in report.rows] == [29, 29, 23, 29, 11]
    # Three directions for each array that is sampled.
    assert counting.calls()[0] <= 4 * (3 * (29 + 3) + 23 + 11) + 1 + 100


@pytest.mark.parametrize("rng", range(10))
def test_three_directions_find_the_one_wrong_entry_that_the_sample_missed(rng):
    wrong = np.zeros((3, 101))
    wrong[1, 71] = 0.1
    layer = linear(dW=lambda X, W, dY: X.T @ dY + wrong * dY.sum(), n_out=101)
    report = gradcheck(layer, X, max_entries=7, rng=rng)
    assert report.problems == ["W: right where sampled, wrong elsewhere: raise max_entries"]


@pytest.mark.parametrize("bug", BUGS, ids=[bug.name for bug in BUGS])
def test_three_directions_alone_see_every_bug(bug):
    report = gradcheck(bug.build(), bug.X, tol=1e-8, max_entries=0)
    assert not report.ok or any(row.sentence for row in report.rows)


def test_without_entries_it_is_said_that_something_is_wrong_and_how_to_see_where():
    report = gradcheck(entrywise(np.sin, lambda X, Y, dY: dY), X, max_entries=0)
    assert report.problems == ["input X: right where sampled, wrong elsewhere: raise max_entries"]
    assert report.rows[0].checked == 0 and report.jacobians == {}


@pytest.mark.parametrize("seed", range(20))
def test_two_errors_of_which_one_makes_up_for_the_other_are_seen(seed):
    here, there = np.eye(2, 20)

    def layer(X):
        return X * X, lambda dY: 2 * X * dY + dY.sum() * (here - there)

    assert gradcheck(layer, np.random.default_rng(0).normal(size=(1, 20)), max_entries=0, rng=seed).problems


# numerical_gradient --------------------------------------------------------------------------------------


def test_numerical_gradient_of_a_number():
    x = np.array([[1.0, -3.0], [0.0, 2.0]])
    np.testing.assert_allclose(numerical_gradient(lambda x: (x * x * x).sum(), x), 3 * x * x, atol=1e-8)


def test_numerical_gradient_of_an_array_counts_each_entry_as_dY_says():
    W, dY = np.random.default_rng(0).normal(size=(3, 7)), np.random.default_rng(1).normal(size=(5, 7))
    np.testing.assert_allclose(numerical_gradient(lambda X: X @ W, X, dY), dY @ W.T, atol=1e-9)


def test_numerical_gradient_works_on_copies_and_in_float64():
    x = np.array([1, 2], dtype=np.float32)
    x.flags.writeable = False
    seen = []

    def f(x):
        seen.append(x.dtype)
        x *= 2
        return x.sum()

    gradient = numerical_gradient(f, x)
    np.testing.assert_allclose(gradient, [2, 2], atol=1e-9)
    assert gradient.dtype == np.float64 and set(seen) == {np.dtype(np.float64)} and x.tolist() == [1, 2]


def test_numerical_gradient_of_the_identity_is_not_fooled_by_getting_its_own_array_back():
    np.testing.assert_allclose(numerical_gradient(lambda x: x, X, np.ones((5, 3))), 1, atol=1e-9)


def test_numerical_gradient_at_a_kink_is_the_mean_of_both_sides():
    assert numerical_gradient(abs, np.array(0.0)) == 0
    assert numerical_gradient(lambda x: np.maximum(x, 0), np.array(0.0)) == 0.5


def test_numerical_gradient_divides_by_the_step_really_stored():
    x = np.array(1e-3 + 1 / 3)  # x + h is rounded: dividing by 2h instead is 50 times worse here
    h = NUDGE
    stored = (x + h) - (x - h)
    assert stored != 2 * h
    assert abs(numerical_gradient(lambda x: x, x) - 1) < 1e-15  # one rounding, of the division


def test_numerical_gradient_refuses_a_dY_of_another_shape():
    with pytest.raises(ShapeError, match=r"f returned shape \(5, 3\): dY must have it too, got \(3,\)"):
        numerical_gradient(lambda x: 2 * x, X, np.ones(3))
    with pytest.raises(ShapeError, match=r"f returned shape \(5,\): dY must have it too, got \(\)"):
        numerical_gradient(lambda x: x.sum(axis=1), X)


def test_a_parameter_without_axes_is_found_and_nudged():
    class Scale(Layer):
        def __init__(self):
            self.factor = Parameter(2.0)

        def forward(self, X):
            def backward(dY):
                self.factor.grad += (dY * X).sum()
                return dY * self.factor.data

            return X * self.factor.data, backward

    report = gradcheck(Scale(), X)
    assert report.ok, report
    assert [row.name for row in report.rows] == ["input X", "factor"]
