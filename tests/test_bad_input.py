"""Mistakes that people make: each gets a sentence that says what came, what was expected, and what to do.

Two tables. The first has the mistakes of the first hours. The second has what Python and NumPy would compute
without an error, and wrongly. Elsewhere their own errors are good enough.
"""

import numpy as np
import pytest

from minigrad import (
    LSTM,
    SGD,
    Add,
    CosineSimilarity,
    Dropout,
    EarlyStopping,
    Embedding,
    Learner,
    Linear,
    Parallel,
    Parameter,
    ReLU,
    Residual,
    Sequential,
    ShapeError,
    Sum,
    accuracy,
    batches,
    bce_with_logits,
    cosine_distance,
    cross_entropy,
    mse,
    one_hot,
    split,
    to_device,
)

X, T = np.random.default_rng(0).normal(size=(7, 3)), np.random.default_rng(1).normal(size=(7, 2))
NAN = np.where(np.arange(21).reshape(7, 3) == 16, np.nan, X)
LABELS = np.array([0, 1, 1, 0, 1, 0, 1])


def linear(n_out=2):
    return Linear(3, n_out, rng=0)


def fit(X, T, model=None):
    return Learner(model or linear(), mse, SGD(0.1)).fit(X, T)


# The call, the class of its error, and the whole sentence.
# fmt: off
SENTENCES = {
    "a list": (lambda: linear()(X.tolist()), TypeError,
        "Linear(3, 2) expects an array of numbers, got list: write np.array(...) around it."),
    "a nan": (lambda: fit(NAN, T), ValueError,
        "X is not finite in 1 of its 21 entries, the first at [5, 1]: nan. Remove or replace it first."),
    "a wrong width": (lambda: linear()(X[:, :2]), ShapeError,
        "Linear(3, 2) expects 3 inputs in the last axis, got X of shape (7, 2)."),
    "no weights yet": (lambda: Linear(3, 7)(X), ValueError,
        "Linear(3, 7) has no weights: give it rng=0, or call model.initialize(X, rng=0)."),
    "a size that is open": (lambda: Linear(n_out=7)(X), ShapeError,
        "Linear(?, 7) has no n_in yet: pass it, or call model.initialize(X)."),
    "a bad seed": (lambda: Linear(3, 7, rng="seed"), TypeError,
        "rng must be a seed, an integer of at least 0, or a numpy.random.Generator; got 'seed'."),
    "no pair": (lambda: Sequential(lambda X: X)(X), TypeError,
        "<lambda> must return a pair (Y, backward), got ndarray alone: end with `return Y, backward`."),
    "no dY": (lambda: linear()(X)[1](), ShapeError,
        "Linear(3, 2): backward expects dY of Y's shape (7, 2), got none: take it from the loss, "
        "dY = loss_backward()."),
    "dY of another shape": (lambda: linear()(X)[1](X), ShapeError,
        "Linear(3, 2): backward expects dY of Y's shape (7, 2), got (7, 3)."),
    "dX of another shape": (lambda: Sequential(lambda X: (X, lambda dY: dY[:1]))(X)[1](X), ShapeError,
        "<lambda>: backward must return dX of X's shape (7, 3), got (1, 3)."),
    "a class instead of a layer": (lambda: linear() >> ReLU, TypeError,
        "ReLU is a class, not a layer: create one, ReLU(...)."),
    "a function in quotes": (lambda: Learner(linear(), "mse", SGD(0.1)), TypeError,
        "loss of Learner must be a function, (Y, T) -> (L, backward); got 'mse': write the function itself, "
        "without quotes."),
    "labels that are floats": (lambda: cross_entropy(X, LABELS.astype(float)), ShapeError,
        "cross_entropy compares Y of shape (7, 3) with T of shape (7,), type float64: give integer labels of "
        "shape (7,), or probabilities (floats) of Y's shape."),
    "a label out of range": (lambda: cross_entropy(X, LABELS + 2), ValueError,
        "cross_entropy: T holds the label 3 at [1]; Y has 3 classes, so labels must be 0 to 2."),
    "a target that would broadcast": (lambda: mse(T[:, :1], T[:, 0]), ShapeError,
        "mse compares Y of shape (7, 1) with T of shape (7,). NumPy would pair every prediction with every "
        "target; write T[:, None]."),
    "an empty batch": (lambda: mse(T[:0], T[:0]), ShapeError,
        "mse is a mean, and Y of shape (0, 2) is empty: give at least one example."),
    "lr": (lambda: setattr(SGD(0.1), "lr", 0.01), AttributeError,
        "SGD has no attribute lr: the setting is learning_rate."),
    "weight": (lambda: linear().weight, AttributeError,
        "Linear has no attribute weight: the weights are W."),
    "train()": (lambda: linear().train(), AttributeError,
        "Linear has no attribute train: write layer(X, training=True), as a Learner does; layer(X) runs "
        "as in evaluation."),
    "nothing to train": (lambda: fit(X, X, ReLU()), ValueError,
        "ReLU() has no Parameter to train: keep Parameters as attributes of a layer, or in the closure of a "
        "function, or unfreeze() the model."),
}

# The call, its error, and words of the sentence. Without the error the result would be wrong, and silent.
SILENT = {
    "a negative label is the last class": (lambda: cross_entropy(X, -LABELS), ValueError, "label -1 at [1]"),
    "a negative label in one_hot": (lambda: one_hot(-LABELS, 2), ValueError, "labels run from -1 to 0"),
    "a negative token is the last row": (lambda: Embedding(5, 3, rng=0)(-LABELS), ValueError, "got -1 to 0"),
    "rows of T that sum to 2": (lambda: cross_entropy(X, 2 * one_hot(LABELS, 3)), ValueError, "with sum 1;"),
    "two classes as -1 and 1": (lambda: bce_with_logits(T, np.sign(T)), ValueError, "as 0 and 1"),
    "one column of targets for two of Y": (lambda: mse(T, T[:, :1]), ShapeError, "must be equal"),
    "one row of targets for seven of Y": (lambda: cosine_distance(X, X[:1]), ShapeError, "must be equal"),
    "more targets than examples": (lambda: fit(X[:5], T), ShapeError, "holds 5 examples and T holds 7"),
    "more targets than examples in batches": (lambda: next(batches(X[:5], T)), ShapeError, "T holds 7"),
    "a nan in T": (lambda: fit(X, NAN[:, :2]), ValueError, "T is not finite in 1 of its 14 entries"),
    "accuracy of one logit": (lambda: accuracy(X[:, :1], LABELS), ShapeError, "((Y[:, 0] > 0) == T).mean()"),
    "accuracy of a nan": (lambda: accuracy(NAN, LABELS), ValueError, "1 of 21 scores are nan"),
    "accuracy of columns": (lambda: accuracy(X, LABELS[:, None]), ShapeError, "got T of shape (7, 1)"),
    "shares that leave examples out": (lambda: split(X, T, shares=(0.5, 0.4)), ValueError, "sum to 1, got"),
    "branches that would broadcast": (lambda: Add(linear(), linear(1))(X), ShapeError, "of one shape"),
    "two inputs that would broadcast": (lambda: CosineSimilarity()((X, X[:1])), ShapeError, "them equal"),
    "a residual that would broadcast": (lambda: Residual(linear(1))(X), ShapeError, "and F(X) of shape"),
    "branches along the batch": (lambda: Parallel(linear(), axis=0), ValueError, "not be 0, the batch"),
    "a sum over the batch": (lambda: Sum(axis=0)(X), ShapeError, "is not the batch axis 0"),
    "dY that is one number": (lambda: linear()(X)[1](1.0), ShapeError, "Y's shape (7, 2), got ()"),
    "a sequence of length 0": (lambda: LSTM(3, 7, rng=0)((np.ones((2, 4, 3)), np.array([0, 2]))), ShapeError,
        "2 integers from 1 to 4"),
    "weights as integers": (lambda: linear().to(int), TypeError, "not in int64"),
    "weights in float16": (lambda: Parameter(np.zeros(3, np.float16)), TypeError, "not in float16"),
    "a step uphill": (lambda: SGD(-0.1), ValueError, "above 0, got -0.1"),
    "a schedule that is nan": (lambda: SGD(lambda step: np.nan).step([linear().W]), ValueError, "got nan"),
    "no parameters to step": (lambda: SGD(0.1).step([]), ValueError, "a generator was used up"),
    "a mode that is neither": (lambda: EarlyStopping(mode="least"), ValueError, "got 'least'"),
    "a rate above 1": (lambda: Dropout(1.5), ValueError, "below 1, got 1.5"),
    "an unknown device": (lambda: to_device(linear(), "cuda"), ValueError, "got 'cuda'"),
}
# fmt: on


@pytest.mark.parametrize("mistake", SENTENCES)
def test_a_mistake_is_answered_with_a_sentence(mistake):
    call, error, sentence = SENTENCES[mistake]
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value) is error and str(caught.value) == sentence


def test_a_loss_that_is_not_finite_is_answered_with_a_sentence():
    model = linear()
    model.W.data[:] = 1e200
    with np.errstate(over="ignore"), pytest.raises(ValueError) as caught:
        fit(X, T, model)
    assert "the loss is inf in batch" in str(caught.value)
    assert "lower the learning rate" in str(caught.value)


@pytest.mark.parametrize("mistake", SILENT)
def test_what_would_be_wrong_and_silent_is_an_error(mistake):
    call, error, words = SILENT[mistake]
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value) is error and words in str(caught.value)
