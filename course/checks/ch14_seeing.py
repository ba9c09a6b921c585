"""The exercises of chapter 14: sizes, windows with gaps, a painted kernel, overlaps, means, a map."""

from functools import partial

import numpy as np

from course.checks.exercise import CheckFailed, Exercise, described
from course.checks.questions import (
    BATCH,
    OWN_MEMORY,
    also_drawn,
    because,
    both_ways,
    by_nudging,
    drawn_sizes,
    expect_gradcheck,
    expect_guesses,
    expect_layer,
    expect_made,
    expect_several,
    expect_shape,
    expect_values,
    explained,
    untouched,
)
from minigrad.layer import Layer, Sequential
from minigrad.layers.activations import ReLU
from minigrad.layers.convolution import Conv2d, MaxPool2d
from minigrad.layers.linear import Linear
from minigrad.layers.reductions import Flatten

# 1. how large, how many

how_large = Exercise(
    "14_seeing.how_large",
    title="How large, how many",
    points=3,
    kind="predict",
    minutes=8,
    hints=(
        "The last window begins at rows + 2 padding - kernel. Count the windows from 0 to there, one at each "
        "stride, the first one too.",
        "Each of the n_out kernels has kernel · kernel weights for each channel of X, and one bias.",
        "Go from the end to the beginning. A number after the last convolution sees 3 pooled rows. "
        "Each of these comes from 2 rows of its own: 6 rows, side by side, after the first convolution. The "
        "first of the 6 sees 3 rows of X, and each further one begins one row later.",
    ),
)


def _rows_seen(model, rng):
    """Return the number of rows of X that affect the first row of Y, found by changing each."""
    rows, seen = np.arange(20), np.zeros(20, dtype=bool)
    for _ in range(30):  # a maximum does not react to each change
        X = rng.normal(size=(1, 3, 20, 20))
        others = np.repeat(X, 20, axis=0)
        others[rows, :, rows] = 3 * rng.normal(size=(20, 3, 20))
        Y = model(np.concatenate([X, others]))[0][:, :, 0]
        seen |= ~np.isclose(Y[1:], Y[0]).all(axis=(1, 2))
    return int(seen.sum())


OVERLAP = "Windows of neighbouring numbers overlap: rows that are seen twice count once."
KERNEL, LEARN, POOL, MOVED, SEEN = (
    {
        15: "A window of 5 begins at row 0 for the first time, and at row 15 for the last.",
        20: "Without padding, rows are lost: only whole windows count.",
        4: "The stride is 1 here: windows overlap.",
    },
    {
        100: "A kernel goes through all 3 channels of X, and each has a bias too.",
        104: "A kernel goes through all channels of X: it has 3 · 5 · 5 weights.",
        300: "Each of the four kernels has a bias too.",
        301: "Each of the four kernels has a bias of its own.",
        312: "There is one bias for each channel of Y, and not one for each weight or channel of X.",
        303: "There is one bias for each channel of Y, and not one for each channel of X.",
        76: "That is one kernel with its bias, and there are four.",
    },
    {
        10: "Only whole windows count: one of 3 that begins at row 18 does not fit.",
        8: "The window that begins at row 0 counts, and so does the one that begins at row 16.",
        6: "The windows of this pooling overlap: they move by 2, and not by 3.",
        18: "The windows of this pooling move by 2, and not by 1.",
    },
    {
        11: "The window that begins at row 0 counts, and so does the last one.",
        10: "Padding is put on both sides: it counts twice.",
        9: "The padding counts too, on both sides.",
        13: "Only whole windows count: with the padding there are 26 rows, and the last window "
        "begins at row 22.",
        23: "The windows move by 2, and not by 1.",
    },
    {
        5: "The pooling counts too: neighbours after it are two rows apart, and each sees more than 3 rows.",
        6: "After the pooling, neighbouring rows are two rows of X apart.",
        7: "A number after the pooling sees 4 rows of X, and not 3.",
        4: "That is what a number after the pooling sees; the last kernel looks at 3 rows of those.",
        3: "Those are 3 rows of what the pooling has made, and each of them sees 4 rows of X.",
        9: OVERLAP,
        10: "The last kernel sees 3 pooled rows, made of 6 rows of answers; what these see overlaps.",
        12: OVERLAP,
        18: OVERLAP,
    },
)


@how_large.check
def _(answer, rng):
    X = rng.normal(size=(1, 3, 20, 20))
    large, moved = Conv2d(3, 4, kernel=5, rng=rng), Conv2d(3, 4, kernel=4, stride=2, padding=3, rng=rng)
    model = Sequential(Conv2d(3, 4, kernel=3, rng=rng), MaxPool2d(2), Conv2d(4, 4, kernel=3, rng=rng))
    numbers = {
        "the number of rows after the kernel of 5": large(X)[0].shape[2],
        "the count of what Conv2d(3, 4, kernel=5) learns": sum(p.data.size for p in large.parameters()),
        "the number of rows after the pooling": MaxPool2d(3, stride=2)(X)[0].shape[2],
        "the number of rows with stride 2 and padding 3": moved(X)[0].shape[2],
        "the number of rows that are seen": _rows_seen(model, rng),
    }
    slips = dict(zip(numbers, (KERNEL, LEARN, POOL, MOVED, SEEN), strict=True))
    expect_guesses(answer(), numbers, slips)
    return "four layers, made and run; rows of X, changed one by one"


# 2. windows with gaps

windows_with_gaps = Exercise(
    "14_seeing.windows_with_gaps",
    title="Windows with gaps",
    points=3,
    kind="fill",
    minutes=12,
    hints=(
        "The first window reaches from 0 to (size - 1) · gap. How far can it be moved to the right?",
        "For each place i in a window, all windows together hold one slice of X: it begins at i · gap, and "
        "is as long as there are windows.",
        "Stack these slices along the last axis. In the backward pass, go through i once more: "
        "`dX[:, i * gap : i * gap + count] += d_windows[:, :, i]`.",
    ),
)


def gapped(X, size, gap):
    """Return the windows by their definition."""
    count = X.shape[1] - (size - 1) * gap
    return np.stack([X[:, i * gap : i * gap + count] for i in range(size)], axis=-1)


STRIDE_FOR_GAP = "The gap is inside a window; the window itself moves by 1."
GAP_BETWEEN = "The gap is the distance from one number to the next, not how many lie between."
LAST_MISSING = "The last window is missing: it ends with the last column of X."
RIGHT_TO_LEFT = "A window reads its row from left to right: its first number is the leftmost."
PLACES_FIRST = "Windows come before the places in them: exchange the last two axes."


@windows_with_gaps.check
def _(answer, rng):
    (batch,) = drawn_sizes(rng, BATCH)

    def other():
        # more windows than places in one: were they as many, exchanged axes would not show
        size, gap, windows = rng.integers((2, 1, 5), (5, 4, 9)).tolist()
        return size, gap, (size - 1) * gap + windows

    earlier = []
    for size, gap, length in also_drawn(((3, 2, 11), (2, 3, 7), (2, 1, 5), (3, 2, 5)), other):
        X, case = rng.normal(size=(batch, length)), f"with size {size} and gap {gap}, "
        truth = gapped(X, size, gap)
        slips = {"windows": _wrong_windows(X, size, gap)}
        windows, backward = expect_several(answer(X.copy(), size, gap), "windows", "backward")
        with explained({"windows": windows}, slips):
            _expect_as_many(case, np.shape(windows), truth.shape, (size - 1) * gap + 1)
        expect_layer(
            lambda X, size=size, gap=gap: answer(X, size, gap),
            lambda X, size=size, gap=gap: gapped(X, size, gap),
            rng.normal(size=truth.shape),
            slips=slips,
            case=case,
            result="windows",
            X=X,
        )
        d_windows = np.ones(truth.shape)
        earlier.append((case, backward, d_windows, np.copy(backward(d_windows))))
    for case, backward, d_windows, dX in earlier:
        try:
            later = backward(d_windows)
        except Exception as error:
            raised = f"{type(error).__name__}: {error}".strip(". ")
            raise CheckFailed(
                f"{case}after passes of other sizes, backward raises {raised}. {OWN_MEMORY}"
            ) from error
        with because(OWN_MEMORY):
            expect_values(f"{case}after passes of other sizes, dX", later, dX, "before it was")
    return "three sizes and gaps, windows and dX"


def _wrong_windows(X, size, gap):
    """Return likely wrong windows, each with a sentence that explains it."""
    slid, truth = np.lib.stride_tricks.sliding_window_view, gapped(X, size, gap)
    wrongs = [(STRIDE_FOR_GAP, slid(X, size, axis=1)[:, ::gap])]
    wrongs += [(LAST_MISSING, truth[:, :-1]), (PLACES_FIRST, truth.transpose(0, 2, 1))]
    wrongs += [(RIGHT_TO_LEFT, truth[:, :, ::-1])]
    fits = X.shape[1] > (size - 1) * (gap + 1)
    return [*wrongs, (GAP_BETWEEN, gapped(X, size, gap + 1))] if fits else wrongs


def _expect_as_many(case, shape, wanted, reach):
    """Require the right number of windows, each spanning this many columns."""
    if len(shape) == 3 and (shape[0], shape[2]) == (wanted[0], wanted[2]) and shape[1] != wanted[1]:
        raise CheckFailed(
            f"{case}windows has shape {shape}: you make {shape[1]} of each row of {wanted[1] + reach - 1}. "
            f"A window reaches over {reach} columns, so it fits at {wanted[1]} places"
        )


def window_places(X, size, gap):
    """Return the column of X at each position of each window."""
    count = X.shape[1] - (size - 1) * gap
    return np.arange(count)[:, None] + gap * np.arange(size)


def _with_back(back):
    """Return an answer with this backward function, for the mistakes."""

    def answer(X, size, gap):
        return gapped(X, size, gap), lambda d_windows: back(X, size, gap, d_windows)

    return answer


def _assigns(X, size, gap, d_windows):
    dX = np.zeros(X.shape)
    for i in range(size):
        dX[:, i * gap : i * gap + d_windows.shape[1]] = d_windows[:, :, i]
    return dX


def _assigns_by_windows(X, size, gap, d_windows):
    dX = np.zeros(X.shape)
    for r in range(d_windows.shape[1]):
        dX[:, r : r + (size - 1) * gap + 1 : gap] = d_windows[:, r]
    return dX


def _adds_once(X, size, gap, d_windows):
    dX = np.zeros(X.shape)
    dX[:, window_places(X, size, gap)] += d_windows
    return dX


def _means(X, size, gap, d_windows):
    dX, counts = np.zeros(X.shape), np.zeros(X.shape)
    for i in range(size):
        columns = np.s_[:, i * gap : i * gap + d_windows.shape[1]]
        dX[columns] += d_windows[:, :, i]
        counts[columns] += 1
    return dX / np.maximum(counts, 1)


def _without_gaps(X, size, gap, d_windows):
    dX = np.zeros(X.shape)
    for i in range(size):
        dX[:, i : i + d_windows.shape[1]] += d_windows[:, :, i]
    return dX


for _back in (_assigns, _assigns_by_windows, _adds_once):
    windows_with_gaps.mistake(
        "A number in several windows keeps only its last share, also with `dX[:, places] +=`."
    )(_with_back(_back))


@windows_with_gaps.mistake("A window runs beyond its row: the last one ends with the last column of X.")
def runs_beyond_the_row(X, size, gap):
    return X[:, np.arange(X.shape[1] - size + 1)[:, None] + gap * np.arange(size)], None


windows_with_gaps.mistake("Add up the gradients of several windows; do not average them.")(_with_back(_means))
windows_with_gaps.mistake("The backward pass needs the gaps too.")(_with_back(_without_gaps))


# 3. a painted kernel

find_dot = Exercise(
    "14_seeing.find_dot",
    title="Find the dot",
    points=2,
    kind="fill",
    minutes=8,
    hints=(
        "How does a lone pixel differ from a pixel of a stroke? In its neighbours.",
        "Ink in the middle of the window should raise the answer, ink around it should lower it. In a block "
        "all nine are ink; on a stroke in any direction, at least one of the eight neighbours is.",
        "A positive number in the middle, the same negative one at all eight positions around it.",
    ),
)


ENDS = {
    "the level stroke": ("left", "right"),
    "the upright stroke": ("upper", "lower"),
    "the rising stroke": ("lower", "upper"),
    "the falling stroke": ("upper", "lower"),
}


def _drawing(rng):
    """Return an image of strokes, a block and one lone pixel, what each pixel belongs to, and the dot."""
    image, what = np.zeros((16, 16)), np.full((16, 16), "empty space", dtype=object)
    for name, places in {
        "the level stroke": (np.full(5, 1), np.arange(1, 6)),
        "the upright stroke": (np.arange(1, 7), np.full(6, 14)),
        "the rising stroke": (np.arange(7, 2, -1), np.arange(5, 10)),
        "the falling stroke": (np.arange(10, 15), np.arange(1, 6)),
        "the block": np.nonzero(np.pad(np.ones((4, 4)), ((9, 0), (9, 0)))),
    }.items():
        image[places], what[places] = 1.0, name
        if name in ENDS:
            for end, side in zip((0, -1), ENDS[name], strict=True):
                what[places[0][end], places[1][end]] = f"the {side} end of {name}"
    dot = ((4, 12), (4, 2), (7, 11), (11, 7), (14, 10))[rng.integers(5)]  # no ink around it
    image[dot], what[dot] = 1.0, "the dot"
    return image, what, dot


@find_dot.check
def _(answer, rng):
    kernel = answer()
    expect_shape("the kernel", kernel, "a 3 by 3 window", np.zeros((3, 3)))
    kernel = np.asarray(kernel, dtype=float)
    if not np.isfinite(kernel).all():
        raise CheckFailed("the kernel must hold finite numbers")
    for _ in range(4):
        image, what, dot = _drawing(rng)
        windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3))
        answers = np.einsum("rcij,ij->rc", windows, kernel)
        at_dot = answers[dot[0] - 1, dot[1] - 1]
        others = answers.copy()
        others[dot[0] - 1, dot[1] - 1] = -np.inf
        largest = np.argwhere(others >= others.max() - 1e-9)
        r, c = min(largest.tolist(), key=lambda at: " end of " in what[at[0] + 1, at[1] + 1])  # if only there
        if others[r, c] >= at_dot - 1e-9:
            place = what[r + 1, c + 1]
            than = "more than" if others[r, c] > at_dot + 1e-9 else "as much as"
            raise CheckFailed(
                f"with the window's middle on {place} it answers {others[r, c]:.3g}, {than} on the dot"
                + (f", {at_dot:.3g}" if than == "more than" else "")
            )
    return "four images with strokes in four directions, a block and a dot"


@find_dot.probe
def _(answer, rng):
    return np.asarray(answer(), dtype=float)


@find_dot.mistake("Ink in the middle is enough for it: a pixel of any stroke gives the same.")
def one_pixel():
    return np.pad([[1.0]], 1)


@find_dot.mistake("It counts ink, and a block has most of it: ink around the middle must lower the answer.")
def counts_ink():
    return np.ones((3, 3))


@find_dot.mistake(
    "On a rising or falling stroke the neighbours are at the corners of the window, and yours are 0."
)
def four_neighbours():
    return np.array([[0.0, -1, 0], [-1, 4, -1], [0, -1, 0]])


@find_dot.mistake("The signs are flipped: ink in the middle must raise the answer.")
def signs_turned():
    kernel = np.ones((3, 3))
    kernel[1, 1] = -8
    return kernel


@find_dot.mistake(
    "This tells strokes of two directions from a dot, but not those of the other two: all neighbours count."
)
def left_and_right():
    return np.array([[0.0, 0, 0], [-1, 2, -1], [0, 0, 0]])


@find_dot.mistake("The largest number belongs in the middle, at the pixel in question.")
def not_in_the_middle():
    kernel = -np.ones((3, 3))
    kernel[0, 0] = 8
    return kernel


# 4. overlapping windows

slide_row = Exercise(
    "14_seeing.slide_row",
    title="Where windows overlap",
    points=2,
    kind="repair",
    minutes=6,
    hints=(
        "With stride 3 no number is in two windows, and all is right. With stride 1, what happens to a "
        "number of dX that is in two windows?",
        "Two lines write into arrays of zeros. One of them keeps the earlier content.",
        "A window's share is to be added: `dX[window] += ...`.",
    ),
)


def slid_rows(X, w, stride):
    """Return every stride-th window of each row times w."""
    return np.lib.stride_tricks.sliding_window_view(X, len(w), axis=1)[:, ::stride] @ w


TURNED = "The first weight meets the first number of the window: do not flip the kernel."
TURNED_BACK = "The kernel is in dX as it is in a window: do not flip it."
TURNED_W = "dw has the order of w: its first number belongs to the first position of each window."
NOT_BY_SIZE = "Add a window's share whole; do not divide it by the size of the window."
NOT_BY_STRIDE = "A window's share is added whole; the stride only sets the position of the window."


@slide_row.check
def _(answer, rng):
    (batch,) = drawn_sizes(rng, BATCH)
    for stride, length in ((2, 10), (3, 12), (1, 7), (4, 11)):
        X, w = rng.normal(size=(batch, length)), rng.normal(size=3)
        dY = rng.normal(size=slid_rows(X, w, stride).shape)

        def slide(X, w, stride=stride):
            return slid_rows(X, w, stride)

        dX, dw = by_nudging(slide, X, w)[1](dY)
        turned = by_nudging(lambda X, w=w[::-1], slide=slide: slide(X, w), X)[1](dY)
        slips = {
            "Y": [(TURNED, slide(X, w[::-1]))],
            "dX": [(TURNED_BACK, turned), (NOT_BY_STRIDE, dX / stride), (NOT_BY_SIZE, dX / len(w))],
            "dw": [(TURNED_W, dw[::-1])],
        }
        with_stride = partial(answer, stride=stride)
        expect_layer(with_stride, slide, dY, slips=slips, case=f"with stride {stride}, ", X=X, w=w)
    return "strides of 1 to 4, an edge that no window reaches, both gradients"


@slide_row.probe
def _(answer, rng):
    """Return the results with a stride of 1, where windows overlap; the check starts with another."""
    X, w, dY = rng.normal(size=(BATCH, 7)), rng.normal(size=3), rng.normal(size=(BATCH, 5))
    return both_ways(answer, dY, X, w, 1)


def row_by(collect):
    """Return an answer with these rules for the gradients of a window's positions and of w."""

    def answer(X, w, stride):
        Y = slid_rows(X, w, stride)

        def backward(dY):
            dX, dw = np.zeros(X.shape), np.zeros(w.shape)
            for r in range(dY.shape[1]):
                window = np.s_[:, stride * r : stride * r + len(w)]
                share = dY[:, r, None]
                dX, dw = collect(dX, dw, window, share * w, (X[window] * share).sum(axis=0))
            return dX, dw

        return Y, backward

    return answer


def _still_assigns(dX, dw, window, to_X, to_w):
    dX[window] = to_X
    return dX, dw + to_w


def _both_assign(dX, dw, window, to_X, to_w):
    dX[window] = to_X
    return dX, to_w


def _the_other_one(dX, dw, window, to_X, to_w):
    dX[window] += to_X
    return dX, to_w


def _half_each(dX, dw, window, to_X, to_w):
    dX[window] = (dX[window] + to_X) / 2
    return dX, dw + to_w


def _all_the_windows(dX, dw, window, to_X, to_w):
    dX[:, : len(to_w)] += to_X
    return dX, dw + to_w


slide_row.mistake("A number in two windows keeps only the last share; add the shares.")(
    row_by(_still_assigns)
)
slide_row.mistake("Both gradients keep only the last window's share; add the shares.")(row_by(_both_assign))
slide_row.mistake("Now dX is right, but dw keeps only the last window's share.")(row_by(_the_other_one))


slide_row.mistake("Shares are added up, not averaged.")(row_by(_half_each))
slide_row.mistake("All windows write to the first columns: each has its own position, `window`.")(
    row_by(_all_the_windows)
)


# 5. means

average_pool = Exercise(
    "14_seeing.AveragePool2d",
    title="The mean of each window",
    points=4,
    kind="fill",
    minutes=12,
    answer="class",
    hints=(
        "Going forward: cut off what no whole window covers, then add the size · size places of a window, "
        "as slices with a step, `X[:, :, i:rows:size, j:columns:size]`.",
        "Each number of a window has the slope 1 / (size · size). So each pixel gets its window's dY, "
        "divided by that; a pixel in no window gets 0.",
        "Make dX as zeros in X's shape, and go through the same slices once more: each is dY / size². The "
        "ends are `rows = X.shape[2] // size * size`, and so for the columns.",
    ),
)


def means_of(X, size):
    """Return the mean of each window."""
    rows, columns = (length // size for length in X.shape[2:])
    X = X[:, :, : rows * size, : columns * size]
    windows = X.reshape(*X.shape[:2], rows, size, columns, size)
    return np.einsum("ncrisj->ncrs", windows) / size**2  # called at each nudge, and faster than mean


DIVIDES = "A mean divides by its number of entries, in the backward pass as well."
BY_SIZE = "A window has size · size numbers, not size."
LARGEST = "That is max pooling; a mean adds up all numbers of a window and divides."
READING = (
    "A reshape to (..., rows // size, columns // size, size, size) takes size · size pixels in reading "
    "order; put each size behind its own axis: (..., rows // size, size, columns // size, size)."
)
AXES = "After a reshape to (..., rows // size, size, columns // size, size), a window is axes 3 and 5."
TILED = "The entries of a window are adjacent: repeat each number of dY, and do not tile the whole."
EDGE = "The pixels that no window covers belong to X: their dX is 0."
SUMS = "This is the sum of each window: divide by its number of entries."
OVERLAP = "The windows must not overlap: move by `size`."
WHOLE_IMAGE = "Take the mean of each window, not of the whole image."
TWO_BY_TWO = "These are means of windows of 2 by 2: `size` says how large a window is."
FRONT = "Leave out rows and columns at the end, not at the beginning."
NO_ZEROS = "A 0 is a number of its window as well: it counts."
BY_WINDOWS = "Divide by the number of entries in a window, not by the number of windows."
WHOLE_NUMBERS = "`//` drops the fraction: divide dY with `/`."


@average_pool.check
def _(answer, rng):
    for size, shape in ((2, (5, 1, 6, 10)), (3, (2, 1, 6, 3)), (2, (1, 2, 5, 7))):
        layer = answer(size)
        expect_made(layer, "AveragePool2d")
        X = rng.normal(size=shape) * (rng.random(size=shape) < 0.8)  # pictures hold zeros, too
        dY = rng.normal(size=means_of(X, size).shape)
        slips = partial(_wrong_pools, X, size, dY)
        case = f"for size {size} and X of {shape[2]} by {shape[3]}, "
        expect_layer(layer, lambda X, size=size: means_of(X, size), dY, slips=slips, case=case, X=X)
    expect_gradcheck(answer(2), rng.normal(size=(2, 3, 5, 4)))
    return "two sizes, edges that no window covers, and the rules of a layer"


def _wrong_pools(X, size, dY):
    """Return likely wrong means and gradients, each with a sentence that explains it."""
    rows, columns = (length // size for length in X.shape[2:])
    covered = X[:, :, : rows * size, : columns * size]
    in_order = covered.reshape(*X.shape[:2], rows, columns, size, size).mean(axis=(4, 5))
    wide = covered.reshape(*X.shape[:2], rows, size, columns, size)
    other_axes = [(AXES, wide.mean(axis=axes)) for axes in ((2, 4), (2, 5), (3, 4), (2, 3), (4, 5))]
    one_by_one = np.lib.stride_tricks.sliding_window_view(X, (size, size), axis=(2, 3))
    at_the_end = X[:, :, X.shape[2] % size :, X.shape[3] % size :]
    sums, tiled = means_of(X, size) * size**2, np.tile(dY, (1, 1, size, size)) / size**2
    spread = Pool(size).spread(X, dY)
    return {
        "Y": [
            (LARGEST, MaxPool2d(size)(X)[0]),
            (SUMS, sums),
            (OVERLAP, one_by_one.mean(axis=(4, 5))),
            (WHOLE_IMAGE, X.mean(axis=(2, 3))),
            (TWO_BY_TWO, means_of(X, 2)),
            (FRONT, means_of(at_the_end, size)),
            (NO_ZEROS, sums / np.maximum(means_of(1.0 * (X != 0), size) * size**2, 1)),
            (READING, in_order),
            *other_axes,
        ],
        "dX": [
            (TILED, tiled),
            (DIVIDES, spread),
            (BY_SIZE, spread / size),
            (BY_WINDOWS, spread / (rows * columns)),
            (WHOLE_NUMBERS, spread // size**2),
        ],
    }


class Pool(Layer):
    """A correct average pooling, of which the mistakes change one part each."""

    def __init__(self, size):
        self.size = size

    def forward(self, X):
        return means_of(X, self.size), lambda dY: self.back(X, dY)

    def back(self, X, dY):
        return self.spread(X, dY) / self.size**2

    def spread(self, X, dY):
        dX = np.zeros(X.shape)
        wide = dY.repeat(self.size, axis=2).repeat(self.size, axis=3)
        dX[:, :, : wide.shape[2], : wide.shape[3]] = wide
        return dX


@average_pool.mistake("A mean passes its gradient to every number of its window, not to one of them.")
class OnlyTheFirst(Pool):
    def back(self, X, dY):
        dX = np.zeros(X.shape)
        dX[:, :, : dY.shape[2] * self.size : self.size, : dY.shape[3] * self.size : self.size] = dY
        return dX


@average_pool.mistake("The largest is not special here: every number of a window counts as much.")
class GoesBackLikeAMaximum(Pool):
    def back(self, X, dY):
        return MaxPool2d(self.size)(X)[1](dY)


@average_pool.mistake(EDGE)
class ForgetsTheEdge(Pool):
    def back(self, X, dY):
        return dY.repeat(self.size, axis=2).repeat(self.size, axis=3) / self.size**2


@average_pool.mistake("The pixels that no window covers change nothing: they get 0.")
class RepeatsAtTheEdge(Pool):
    def back(self, X, dY):
        wide = dY.repeat(self.size, axis=2).repeat(self.size, axis=3) / self.size**2
        missing = [(0, ours - theirs) for ours, theirs in zip(X.shape, wide.shape, strict=True)]
        return np.pad(wide, missing, mode="edge")


@average_pool.mistake("Rows and columns that no whole window covers are cut off first, before a reshape.")
class OnlyWhereItFits(Pool):
    def forward(self, X):
        batch, channels, rows, columns = X.shape
        size = self.size
        windows = X.reshape(batch, channels, rows // size, size, columns // size, size)
        return windows.mean(axis=(3, 5)), lambda dY: self.back(X, dY)


# 6. a map of what decides

margin_map = Exercise(
    "14_seeing.margin_map",
    title="This digit, not that one",
    points=3,
    kind="fill",
    minutes=12,
    hints=(
        "Backward works for any dY. The lead is a sum of two scores, times 1 and times -1: so these are "
        "the slopes of the lead with the scores.",
        "For the rival, copy Y, put -inf at the right class of each row, and take argmax. Then make dY from "
        "zeros: 1 at the right class, -1 at the rival.",
        "One call, `dX = backward(dY)`, has the slopes of all images. Take absolute values, then add up over "
        "the channels, axis 1.",
    ),
)


def margins(Y, T):
    """Return dY of the lead of each right score over the largest wrong one."""
    rows, wrong, dY = np.arange(len(Y)), np.array(Y, dtype=float), np.zeros(np.shape(Y))
    wrong[rows, T] = -np.inf
    dY[rows, T], dY[rows, wrong.argmax(axis=1)] = 1.0, -1.0
    return dY


def _scored(rng):
    """Return a small network's scores for images with two channels, its backward function, and classes.

    Among the scores are right and wrong answers, since a rival is found differently in both.
    """
    model = Sequential(Conv2d(2, 3, kernel=3, rng=rng), ReLU(), Flatten(), Linear(3 * 3 * 5, 4, rng=rng))
    Y, backward = model(rng.normal(size=(BATCH, 2, 5, 7)))
    T = Y.argmax(axis=1)
    T[:2] = (T[:2] + 1) % 4
    Y = Y - Y.mean(axis=1, keepdims=True)
    Y[1::2] -= 1 + Y[1::2].max(axis=1, keepdims=True)  # a score may be negative, and so may all of a row
    rival = margins(Y, T).argmin(axis=1)
    return (
        (Y, backward, T) if (rival > T).any() else _scored(rng)
    )  # some move up if the right one is left out


OVERWRITTEN = (
    "Where the answer was right, the largest score is the right one itself: of the 1 and the -1, one "
    "overwrites the other. The rival is the largest of the *wrong* scores."
)
SHIFTED = (
    "Without the right class, those after it move up by one, so the place of the largest is not yet the "
    "rival's class: leave the class in, as -inf."
)


def _put(Y, T, rival):
    """Return dY with 1 at the right class and then -1 at a rival, which overwrites."""
    rows, dY = np.arange(len(Y)), np.zeros(np.shape(Y))
    dY[rows, T] = 1.0
    dY[rows, rival] = -1.0
    return dY


def largest_overwrites(Y, T):
    return _put(Y, T, Y.argmax(axis=1))


def _shifted(Y, T):
    return np.array([np.delete(scores, label).argmax() for scores, label in zip(Y, T, strict=True)])


def shifted_overwrites(Y, T):
    return _put(Y, T, _shifted(Y, T))


def shifted_cancels(Y, T):
    return np.eye(Y.shape[1])[T] - np.eye(Y.shape[1])[_shifted(Y, T)]


@margin_map.check
def _(answer, rng):
    for _ in range(2):
        Y, backward, T = _scored(rng)
        slopes = backward(margins(Y, T))
        with untouched(Y=Y, T=T):
            lead_map = answer(Y, backward, T)
        if isinstance(lead_map, tuple | list):
            raise CheckFailed(f"it must return one array, but returned {described(lead_map)}")
        if np.shape(lead_map) == slopes.shape:
            raise CheckFailed(
                f"it has shape {np.shape(lead_map)}, with the channels; add up over axis 1, for "
                f"{np.abs(slopes).sum(axis=1).shape}"
            )
        wrongs = (
            (OVERWRITTEN, largest_overwrites),
            (SHIFTED, shifted_overwrites),
            (SHIFTED, shifted_cancels),
        )
        slips = [(why, np.abs(backward(make_dY(Y, T))).sum(axis=1)) for why, make_dY in wrongs]
        with explained({"map": lead_map}, {"map": slips}):
            expect_values("the map", lead_map, np.abs(slopes).sum(axis=1))
    return "right and wrong answers, two channels"


@margin_map.probe
def _(answer, rng):
    return answer(*_scored(rng))


def of(make_dY, collect=lambda dX: np.abs(dX).sum(axis=1)):
    """Return an answer with this dY and this way to add up, for the mistakes."""
    return lambda Y, backward, T: collect(backward(make_dY(Y, T)))


def _right_alone(Y, T):
    return np.eye(Y.shape[1])[T]


def _against_the_largest(Y, T):
    return np.eye(Y.shape[1])[T] - np.eye(Y.shape[1])[Y.argmax(axis=1)]


def _against_the_second(Y, T):
    return np.eye(Y.shape[1])[T] - np.eye(Y.shape[1])[np.argsort(Y, axis=1)[:, -2]]


def _against_all(Y, T):
    return 2 * np.eye(Y.shape[1])[T] - 1


def _with_the_scores(Y, T):
    return Y * margins(Y, T)


def _added_scores(Y, T):
    return np.abs(margins(Y, T))


def _zero_for_the_right(Y, T):
    rows, wrong, dY = np.arange(len(Y)), np.array(Y), np.zeros(Y.shape)
    wrong[rows, T] = 0.0
    dY[rows, T], dY[rows, wrong.argmax(axis=1)] = 1.0, -1.0
    return dY


def _zero_for_the_right_and_one_hot(Y, T):
    wrong = np.array(Y)
    wrong[np.arange(len(Y)), T] = 0.0
    return np.eye(Y.shape[1])[T] - np.eye(Y.shape[1])[wrong.argmax(axis=1)]


NOT_ZERO = "Scores may be negative: a right one that is set to 0 may still be the largest; use -inf."
for _make in (_zero_for_the_right, _zero_for_the_right_and_one_hot):
    margin_map.mistake(NOT_ZERO)(of(_make))
margin_map.mistake("That is the map of the right score alone: the rival's slopes are missing.")(
    of(_right_alone)
)
margin_map.mistake(
    "Where the answer was right, the largest score is the right one itself, and all slopes cancel."
)(of(_against_the_largest))
margin_map.mistake("Where the answer was wrong, the rival is the largest score, and not the second largest.")(
    of(_against_the_second)
)
margin_map.mistake("There is one rival in each row: the largest of the wrong scores.")(of(_against_all))
margin_map.mistake("Pass slopes to backward, 1 and -1, not the scores themselves.")(of(_with_the_scores))
margin_map.mistake("The rival's score counts with -1: a lead is a difference.")(of(_added_scores))
margin_map.mistake("Take absolute values first: of two channels, slopes of opposite signs would cancel.")(
    of(margins, lambda dX: np.abs(dX.sum(axis=1)))
)
margin_map.mistake("Slopes with a minus count as well: take absolute values.")(
    of(margins, lambda dX: dX.sum(axis=1))
)
margin_map.mistake("Add up the channels; this is their largest.")(
    of(margins, lambda dX: np.abs(dX).max(axis=1))
)


def _two_maps(combine):
    """Return an answer that combines the maps of the right scores and of the rivals."""

    def answer(Y, backward, T):
        right = _right_alone(Y, T)
        return combine(np.abs(backward(right)), np.abs(backward(right - margins(Y, T))))

    return answer


for _combine in (
    lambda right, rival: np.abs(right - rival).sum(axis=1),
    lambda right, rival: (right - rival).sum(axis=1),
    lambda right, rival: np.abs((right - rival).sum(axis=1)),
    lambda right, rival: (right + rival).sum(axis=1),
):
    margin_map.mistake(
        "The absolute values of two maps do not make the map of a difference: subtract first."
    )(_two_maps(_combine))
