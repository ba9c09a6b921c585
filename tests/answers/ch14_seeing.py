"""Answers to the exercises of chapter 14: right ones, and those that a check refuses in its own words."""

import numpy as np

from course.checks.ch14_seeing import (
    AXES,
    BY_SIZE,
    BY_WINDOWS,
    DIVIDES,
    FRONT,
    GAP_BETWEEN,
    KERNEL,
    LARGEST,
    LAST_MISSING,
    LEARN,
    MOVED,
    NO_ZEROS,
    NOT_BY_SIZE,
    NOT_BY_STRIDE,
    OVERLAP,
    OVERWRITTEN,
    PLACES_FIRST,
    POOL,
    READING,
    RIGHT_TO_LEFT,
    SEEN,
    SHIFTED,
    STRIDE_FOR_GAP,
    SUMS,
    TILED,
    TURNED,
    TURNED_BACK,
    TURNED_W,
    TWO_BY_TWO,
    WHOLE_IMAGE,
    WHOLE_NUMBERS,
    Pool,
    average_pool,
    find_dot,
    gapped,
    how_large,
    largest_overwrites,
    margin_map,
    margins,
    means_of,
    of,
    row_by,
    shifted_cancels,
    shifted_overwrites,
    slid_rows,
    slide_row,
    window_places,
    windows_with_gaps,
)
from course.checks.questions import A_NEW_ARRAY, LEFT_BEHIND, OWN_MEMORY
from minigrad.layers.convolution import MaxPool2d
from tests.answers import refused, right

# 1. how large, how many


right(how_large)(lambda: np.array([16, 304, 9, 12, 8]))


right(how_large)(
    lambda: [20 - 5 + 1, 4 * (3 * 5 * 5 + 1), (20 - 3) // 2 + 1, (20 + 2 * 3 - 4) // 2 + 1, 3 + 1 + 2 * 2]
)


def _guess(place, number):
    """Return an answer with one wrong number, for the mistakes."""
    return lambda: tuple(number if i == place else right for i, right in enumerate((16, 304, 9, 12, 8)))


refused(how_large, "the number of rows after the pooling must be numbers, but is a str")(_guess(2, "9"))
for place, wrongs in enumerate((KERNEL, LEARN, POOL, MOVED, SEEN)):
    for wrong, sentence in wrongs.items():
        refused(how_large, sentence)(_guess(place, wrong))


# 2. windows with gaps


@right(windows_with_gaps)
def by_places(X, size, gap):
    places = window_places(X, size, gap)

    def backward(d_windows):
        dX = np.zeros(X.shape)
        np.add.at(dX, (slice(None), places), d_windows)
        return dX

    return X[:, places], backward


@right(windows_with_gaps)
def by_strides(X, size, gap):
    wide = np.lib.stride_tricks.sliding_window_view(X, (size - 1) * gap + 1, axis=1)[:, :, ::gap]

    def backward(d_windows):
        dX = np.zeros(X.shape)
        for r in range(wide.shape[1]):
            for i in range(size):
                dX[:, r + i * gap] += d_windows[:, r, i]
        return dX

    return wide, backward


@refused(windows_with_gaps, STRIDE_FOR_GAP)
def gaps_between_windows(X, size, gap):
    return np.lib.stride_tricks.sliding_window_view(X, size, axis=1)[:, ::gap], by_places(X, size, gap)[1]


@refused(windows_with_gaps, STRIDE_FOR_GAP)
def gaps_between_windows_one_by_one(X, size, gap):
    starts = range(0, X.shape[1] - size + 1, gap)

    def backward(d_windows):
        dX = np.zeros(X.shape)
        for r, start in enumerate(starts):
            dX[:, start : start + size] += d_windows[:, r]
        return dX

    return np.stack([X[:, start : start + size] for start in starts], axis=1), backward


@refused(windows_with_gaps, "it raises ValueError: the window does not fit")
def with_a_gap_behind_the_last(X, size, gap):
    if size * gap > X.shape[1]:
        raise ValueError("the window does not fit")
    return by_places(X, size, gap)


@refused(windows_with_gaps, "so it fits at 7 places")
def as_many_windows_as_without_gaps(X, size, gap):
    padded = np.pad(X, ((0, 0), (0, (size - 1) * (gap - 1))))
    return by_places(padded, size, gap)


@refused(windows_with_gaps, LEFT_BEHIND)
def begins_at_zero_outside(X, size, gap):
    dX = np.zeros_like(X)

    def backward(d_windows):
        for i in range(size):
            dX[:, i * gap : i * gap + d_windows.shape[1]] += d_windows[:, :, i]
        return dX

    return gapped(X, size, gap), backward


@refused(windows_with_gaps, OWN_MEMORY)
def remembers_the_last_call(X, size, gap):
    remembers_the_last_call.X = X
    return gapped(X, size, gap), lambda dY: by_places(remembers_the_last_call.X, size, gap)[1](dY)


@refused(windows_with_gaps, OWN_MEMORY)
def remembers_the_last_gap(X, size, gap):
    remembers_the_last_gap.gap = gap

    def backward(d_windows):
        dX = np.zeros(X.shape)
        for r, i in np.ndindex(d_windows.shape[1:]):
            dX[:, r + i * remembers_the_last_gap.gap] += d_windows[:, r, i]
        return dX

    return gapped(X, size, gap), backward


@refused(windows_with_gaps, A_NEW_ARRAY)
def one_array_for_all_calls(X, size, gap):
    dX = np.zeros(X.shape)

    def backward(d_windows):
        dX[:] = by_places(X, size, gap)[1](d_windows)
        return dX

    return gapped(X, size, gap), backward


@refused(windows_with_gaps, RIGHT_TO_LEFT)
def from_right_to_left(X, size, gap):
    return gapped(X, size, gap)[:, :, ::-1], lambda d_windows: by_places(X, size, gap)[1](
        d_windows[:, :, ::-1]
    )


@refused(windows_with_gaps, GAP_BETWEEN)
def gap_plus_one(X, size, gap):
    return by_places(X, size, gap + 1)


@refused(windows_with_gaps, LAST_MISSING)
def last_window_missing(X, size, gap):
    windows, _ = by_places(X, size, gap)
    return windows[:, :-1], by_places(X, size, gap)[1]


@refused(windows_with_gaps, PLACES_FIRST)
def places_first(X, size, gap):
    return gapped(X, size, gap).transpose(0, 2, 1), by_places(X, size, gap)[1]


# 3. a painted kernel


@right(find_dot)
def middle_against_neighbours():
    kernel = -np.ones((3, 3))
    kernel[1, 1] = 8
    return kernel


right(find_dot)(lambda: [[-2, -1, -2], [-1, 3, -1], [-2, -1, -2]])


@refused(find_dot, "the upper end of the upright stroke")
def blind_below():
    kernel = -np.ones((3, 3))
    kernel[1, 1], kernel[2, 1] = 8, 0
    return kernel


refused(find_dot, "the kernel has shape (1, 3); it must have a 3 by 3 window's shape, (3, 3)")(
    lambda: [[-1.0, 2.0, -1.0]]
)


# 4. overlapping windows


def _right_share(dX, dw, window, to_X, to_w):
    dX[window] = dX[window] + to_X
    return dX, dw + to_w


right(slide_row)(row_by(_right_share))


@right(slide_row)
def place_by_place(X, w, stride):
    Y = slid_rows(X, w, stride)

    def backward(dY):
        dX, dw = np.zeros(X.shape), np.empty(w.shape)
        for i in range(len(w)):
            places = np.s_[:, i : i + stride * dY.shape[1] : stride]
            dw[i] = (X[places] * dY).sum()
            dX[places] += dY * w[i]
        return dX, dw

    return Y, backward


def _turned_round(dX, dw, window, to_X, to_w):
    dX[window] += to_X[:, ::-1]
    return dX, dw + to_w


refused(slide_row, TURNED_BACK)(row_by(_turned_round))
refused(slide_row, TURNED)(lambda X, w, stride: place_by_place(X, w[::-1], stride))


@refused(slide_row, TURNED_BACK)
def turned_by_convolve(X, w, stride):
    def backward(dY):
        spread = np.zeros((len(X), X.shape[1] - len(w) + 1))
        spread[:, ::stride][:, : dY.shape[1]] = dY
        dX = np.array([np.convolve(row, w[::-1]) for row in spread])
        return dX, place_by_place(X, w, stride)[1](dY)[1]

    return slid_rows(X, w, stride), backward


@refused(slide_row, TURNED_W)
def turned_dw(X, w, stride):
    Y, right = place_by_place(X, w, stride)

    def backward(dY):
        dX, dw = right(dY)
        return dX, dw[::-1]

    return Y, backward


def _divided_by(number):
    def slide_row(X, w, stride):
        Y, right = place_by_place(X, w, stride)

        def backward(dY):
            dX, dw = right(dY)
            return dX / number(w, stride), dw

        return Y, backward

    return slide_row


refused(slide_row, NOT_BY_STRIDE)(_divided_by(lambda w, stride: stride))
refused(slide_row, NOT_BY_SIZE)(_divided_by(lambda w, stride: len(w)))


@refused(slide_row, "in a second call of backward, dX")
def begins_at_zero_once(X, w, stride):
    dX, dw = np.zeros(X.shape), np.zeros(w.shape)
    Y, right = place_by_place(X, w, stride)

    def backward(dY):
        nonlocal dX, dw
        more_dX, more_dw = right(dY)
        dX, dw = dX + more_dX, dw + more_dw
        return dX, dw

    return Y, backward


# 5. means

right(average_pool)(Pool)


@right(average_pool)
class BySlices(Pool):
    def forward(self, X):
        size = self.size
        rows, columns = (length - length % size for length in X.shape[2:])
        places = [np.s_[:, :, i:rows:size, j:columns:size] for i, j in np.ndindex(size, size)]

        def backward(dY):
            dX = np.zeros_like(X)
            for place in places:
                dX[place] = dY / len(places)
            return dX

        return sum(X[place] for place in places) / len(places), backward


@refused(average_pool, DIVIDES)
class WithoutDividing(Pool):
    def back(self, X, dY):
        return self.spread(X, dY)


@refused(average_pool, BY_SIZE)
class DividesBySize(Pool):
    def back(self, X, dY):
        return self.spread(X, dY) / self.size


@refused(average_pool, LARGEST)
class TakesTheLargest(Pool):
    def forward(self, X):
        return MaxPool2d(self.size)(X)


def _forward(forward, back=Pool.back):
    """Return a pooling that goes forward in some way, and back as it should or in some way as well."""

    class Otherwise(Pool):
        def forward(self, X):
            return forward(X, self.size), lambda dY: back(self, X, dY)

    return Otherwise


def _sums(X, size):
    return means_of(X, size) * size**2


def _one_by_one(X, size):
    return np.lib.stride_tricks.sliding_window_view(X, (size, size), axis=(2, 3)).mean(axis=(4, 5))


refused(average_pool, SUMS)(_forward(_sums))
refused(average_pool, SUMS)(_forward(_sums, Pool.spread))
refused(average_pool, OVERLAP)(_forward(_one_by_one))
refused(average_pool, WHOLE_IMAGE)(_forward(lambda X, size: X.mean(axis=(2, 3))))
refused(average_pool, TWO_BY_TWO)(_forward(lambda X, size: means_of(X, 2)))
refused(average_pool, FRONT)(
    _forward(lambda X, size: means_of(X[:, :, X.shape[2] % size :, X.shape[3] % size :], size))
)
refused(average_pool, NO_ZEROS)(
    _forward(lambda X, size: means_of(X, size) / np.maximum(means_of(1.0 * (X != 0), size), size**-2))
)


@refused(average_pool, BY_WINDOWS)
class DividesByTheWindows(Pool):
    def back(self, X, dY):
        return self.spread(X, dY) / dY[0, 0].size


@refused(average_pool, WHOLE_NUMBERS)
class DividesWithoutRest(Pool):
    def back(self, X, dY):
        return self.spread(X, dY) // self.size**2


@refused(average_pool, READING)
class InReadingOrder(Pool):
    def forward(self, X):
        rows, columns = (length // self.size for length in X.shape[2:])
        X_whole = X[:, :, : rows * self.size, : columns * self.size]
        windows = X_whole.reshape(*X.shape[:2], rows, columns, self.size, self.size)
        return windows.mean(axis=(-2, -1)), lambda dY: self.back(X, dY)


@refused(average_pool, READING)
class InReadingOrderUncut(Pool):
    def forward(self, X):
        rows, columns = (length // self.size for length in X.shape[2:])
        windows = X.reshape(*X.shape[:2], rows, columns, self.size * self.size)
        return windows.mean(axis=-1), lambda dY: self.back(X, dY)


def _by_axes(axes):
    """Return a pooling that reshapes well, and takes the mean over some axes."""

    class OverOtherAxes(Pool):
        def forward(self, X):
            rows, columns = (length // self.size for length in X.shape[2:])
            windows = X.reshape(*X.shape[:2], rows, self.size, columns, self.size)
            return windows.mean(axis=axes), lambda dY: self.back(X, dY)

    return OverOtherAxes


for _axes in ((2, 4), (3, 4), (4, 5)):
    refused(average_pool, AXES)(_by_axes(_axes))


@refused(average_pool, TILED)
class Tiles(Pool):
    def back(self, X, dY):
        return np.tile(dY, (1, 1, self.size, self.size)) / self.size**2


@refused(average_pool, OWN_MEMORY)
class KeepsTheShapeOnSelf(Pool):
    def forward(self, X):
        self.shape = X.shape
        return means_of(X, self.size), lambda dY: self.back(np.empty(self.shape), dY)


@refused(average_pool, LEFT_BEHIND)
class BeginsAtZeroOnce(Pool):
    def forward(self, X):
        dX = np.zeros(X.shape)

        def backward(dY):
            dX[...] += self.back(X, dY)
            return dX

        return means_of(X, self.size), backward


# 6. a map of what decides


@right(margin_map)
def with_two_ways_back(Y, backward, T):
    classes = np.arange(Y.shape[1])
    own = T[:, None] == classes
    rival = np.where(own, -np.inf, Y).argmax(axis=1)[:, None] == classes
    return np.abs(backward(own * 1.0) - backward(rival * 1.0)).sum(axis=1)


@right(margin_map)
def row_by_row(Y, backward, T):
    dY = np.zeros_like(Y)
    for row, (scores, label) in enumerate(zip(Y, T, strict=True)):
        order = [place for place in np.argsort(scores) if place != label]
        dY[row, label] += 1
        dY[row, order[-1]] -= 1
    return np.einsum("nprc->nrc", np.abs(backward(dY)))


refused(margin_map, OVERWRITTEN)(of(largest_overwrites))
refused(margin_map, OVERWRITTEN)(of(lambda Y, T: -largest_overwrites(Y, T)))
for _make in (shifted_overwrites, shifted_cancels):
    refused(margin_map, SHIFTED)(of(_make))
refused(margin_map, "with the channels; add up over axis 1")(of(margins, np.abs))
