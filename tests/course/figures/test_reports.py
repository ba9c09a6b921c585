"""The figure of a gradient check shows the true Jacobian, yours, and what is left between them."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from course.figures.reports import three_jacobians
from minigrad import Linear, Softmax, gradcheck
from tests.planted_bugs import BUGS

X = np.random.default_rng(0).normal(size=(5, 3))
MUSEUM = {bug.name: bug for bug in BUGS}


@pytest.fixture(autouse=True)
def no_figure_is_left_over():
    yield
    plt.close("all")


def planted(name):
    return gradcheck(MUSEUM[name].build(), MUSEUM[name].X)


def squares(figure):
    return [np.asarray(ax.images[0].get_array()) for ax in figure.drawing.axes if ax.images]


def test_three_squares_share_one_scale_around_zero():
    report = planted("softmax_is_treated_entry_by_entry")
    figure = three_jacobians(report)
    nudged, yours, difference = squares(figure)
    np.testing.assert_array_equal(nudged, report.jacobians["input X"][0])
    np.testing.assert_array_equal(difference, yours - nudged)
    assert not (yours - np.diag(np.diag(yours))).any() and not np.allclose(nudged, yours)  # the aha
    (limits,) = {ax.images[0].get_clim() for ax in figure.drawing.axes if ax.images}
    assert limits[0] == -limits[1] == -np.abs(report.jacobians["input X"]).max()
    assert figure.title == report.problems[0]


def test_the_wrong_array_is_drawn_unless_another_is_named():
    report = planted("linear_bias_gradient_is_a_mean")
    assert three_jacobians(report).title == "b: 5 times too small: 5 is the batch size"
    assert three_jacobians(report, "W").title == "W: backward and nudging agree in every entry"
    assert squares(three_jacobians(report, "W"))[0].shape == (35, 21)


def test_a_right_layer_leaves_an_empty_third_square():
    figure = three_jacobians(gradcheck(Softmax(), X))
    assert np.abs(squares(figure)[2]).max() < 1e-8  # what nudging is good to
    assert figure.title == "input X: backward and nudging agree in every entry"


def test_it_names_its_squares_its_axes_and_its_scale():
    figure = three_jacobians(gradcheck(Softmax(), X))
    captions = [text.get_text() for ax in figure.drawing.axes for text in ax.texts]
    assert captions == ["by nudging", "by backward", "the difference"]
    assert [ax.get_xlabel() for ax in figure.drawing.axes[:3]] == ["entries of input X"] * 3
    assert figure.drawing.axes[0].get_ylabel() == "entries of Y"
    assert figure.drawing.axes[3].get_ylabel() == "slope of Y along input X"


@pytest.mark.parametrize("name", ["softmax_is_treated_entry_by_entry", "linear_bias_gradient_is_a_mean"])
def test_the_picture_is_small_and_every_word_lies_inside(name):
    figure = three_jacobians(planted(name))
    drawing = figure.drawing
    canvas = FigureCanvasAgg(drawing)
    canvas.draw()
    width, height = canvas.get_width_height()
    texts = [text for ax in drawing.axes for text in (*ax.texts, ax.xaxis.label, ax.yaxis.label)]
    for box in (text.get_window_extent() for text in texts):
        assert -1 <= box.x0 <= box.x1 <= width + 1 and -1 <= box.y0 <= box.y1 <= height + 1
    assert len(figure.svg) < 40_000


def test_the_alternative_text_counts_the_slopes_that_differ():
    told = three_jacobians(planted("linear_bias_gradient_is_a_mean")).alt
    report = planted("linear_bias_gradient_is_a_mean")
    nudged, yours = report.jacobians["b"]
    assert f"{np.sum(~np.isclose(nudged, yours))} of {nudged.size} slopes differ" in told


def test_a_report_without_the_jacobian_is_refused_in_words():
    report = gradcheck(Linear(3, 7, rng=0), X, max_entries=5)
    with pytest.raises(
        ValueError, match="no Jacobian of any array. It holds: none; give gradcheck a smaller X"
    ):
        three_jacobians(report)
    with pytest.raises(ValueError, match="no Jacobian of V. It holds: input X, W, b"):
        three_jacobians(gradcheck(Linear(3, 7, rng=0), X), "V")
