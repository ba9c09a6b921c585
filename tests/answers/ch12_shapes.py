"""Answers to the exercises of chapter 12: right ones, and those that a check refuses in its own words."""

from collections import Counter
from copy import deepcopy

import numpy as np

from course.checks.ch12_shapes import (
    WHOLE,
    choices,
    fill_sizes,
    filled,
    is_last,
    joined,
    matrix,
    parts_of,
    raise_with,
    run,
    scale,
    scale_with,
    side_by_side,
    spec,
    spec_with,
    split,
    uses_of,
    with_bias,
    work,
    work_with,
)
from minigrad.layer import Sequential
from minigrad.layers.combinators import Parallel
from minigrad.layers.linear import Linear
from minigrad.layers.reductions import Flatten, Mean
from minigrad.shapes import ShapeError
from tests.answers import refused, right

# 1. how many sizes are choices


right(choices)(lambda: [3, 1, 2])


right(choices)(lambda: np.array([4 - 1, 3 - 2, 3 - 1]))


# 2. a shape for a shape


@right(spec)
def by_a_table(layer, shape):
    def row():
        now = shape
        for part in layer.layers:
            now = by_a_table(part, now)
        return now

    if isinstance(layer, Linear) and layer.n_in != shape[-1]:
        raise ShapeError("the last entry must be n_in.")
    rules = {
        Linear: lambda: shape[:-1] + (layer.n_out,),
        Flatten: lambda: (shape[0], int(np.prod(shape[1:], dtype=int))),
        Mean: lambda: tuple(size for axis, size in enumerate(shape) if axis != layer.axis),
        Parallel: lambda: (
            *by_a_table(layer.layers[0], shape)[:-1],
            sum(by_a_table(part, shape)[-1] for part in layer.layers),
        ),
        Sequential: row,
    }
    return rules.get(type(layer), lambda: shape)()


right(spec)(spec_with())
refused(spec, "Flatten makes")(spec_with(flatten=lambda shape: (int(np.prod(shape)),)))
refused(spec, "Mean(axis=1) makes")(spec_with(mean=lambda layer, shape: shape[:-1]))
refused(spec, "Parallel makes")(spec_with(join=lambda shape, parts: parts[-1]))
refused(spec, "raise a ShapeError")(spec_with(refuse=None))
refused(spec, "yours raises a ValueError; raise a ShapeError")(spec_with(refuse=ValueError))


@refused(spec, "compute shapes only")
def by_running_it(layer, shape):
    return layer(np.zeros(shape))[0].shape


@refused(spec, "compute shapes only")
def by_running_the_others(layer, shape):
    return (spec_with() if isinstance(layer, Linear) else by_running_it)(layer, shape)


# 3. a sentence that helps

right(scale)(scale_with(raise_with(WHOLE)))
right(scale)(
    scale_with(
        raise_with(
            "X is {X} and s is {s}. Make the last axis of X as long as s.",
            lambda X, s: len(X) != 2 or X[-1] != s[0],
        )
    )
)
refused(scale, "the message does not say what to do")(scale_with(raise_with("X is {X}, s is {s}.")))
refused(scale, "does not contain the shape of s")(
    scale_with(raise_with("X of shape {X} is wrong: give another."))
)
refused(scale, "does not contain the shape of X")(
    scale_with(raise_with("Give rows that fit s of shape {s}."))
)
refused(scale, "and not ShapeError")(scale_with(raise_with(WHOLE, kind=ValueError)))


# 4. work before work


right(work)(work_with(once=lambda uses: {id(layer): layer for layer in uses}.values()))


@right(work)
def with_a_stack_and_an_array(model):
    todo, uses = [model], Counter()
    while todo:
        layer = todo.pop()
        uses[layer] += hasattr(layer, "n_in")
        todo += [*getattr(layer, "layers", []), *filter(None, [getattr(layer, "layer", None)])]
    n_in, n_out, bias, times = np.array(
        [(layer.n_in, layer.n_out, layer.bias, count) for layer, count in uses.items() if count]
    ).T
    return ((n_in + bias) * n_out).sum(), (n_in * n_out) @ times


@right(work)
def with_named_layers(model):
    objects = [layer for layer in model.named_layers().values() if isinstance(layer, Linear)]
    return sum(map(with_bias, objects)), sum(map(matrix, uses_of(model)))


@refused(work, "it draws the weights")
def by_drawing(model):
    return run(model)


@refused(work, "it makes an array as large as W")
def by_drawing_a_copy(model):
    return run(deepcopy(model))


refused(work, "yours says 0: no weights exist yet")(
    work_with(uses=lambda model: model.parameters(), size=np.size, product=np.size)
)


@refused(work, "called again with the same arguments, [0] is 0")
def each_layer_once_and_for_all(model, counted=set()):  # noqa: B006  the mistake
    def once(every):
        new = set(every) - counted
        counted.update(new)
        return new

    return work_with(once=once)(model)


@refused(work, "a row in a row in a residual has")
def to_the_second_level(model):
    inner = [getattr(part, "layer", part) for part in model.layers]
    uses = [use for part in inner for use in (part, *parts_of(part)) if isinstance(use, Linear)]
    return work_with(uses=lambda model: uses)(model)


def _popped(layer):
    """Take the parts out of a layer's own list, one by one."""
    parts = parts_of(layer)
    while parts:
        yield parts.pop(0)


refused(work, "it changes the model")(work_with(uses=lambda model: uses_of(model, _popped)))


def _marked(every):
    """Return the layers without a mark, and mark them."""
    new = [layer for layer in set(every) if not hasattr(layer, "counted")]
    for layer in new:
        layer.counted = True
    return new


refused(work, "it changes the model")(work_with(once=_marked))


# 5. a key for each branch

right(side_by_side)(joined(split))
right(side_by_side)(joined(lambda key, count: split(key, 2 * count)[::2]))
refused(side_by_side, "another key makes the same weights")(
    joined(lambda key, count: [np.random.SeedSequence(place) for place in range(count)])
)
refused(side_by_side, "n_out must be")(joined(split, widths=max))


@refused(side_by_side, "join the lists")
def lists_in_a_list(*recipes):
    def init(key, n_in):
        made = [recipe(k, n_in) for k, recipe in zip(split(key, len(recipes)), recipes, strict=True)]
        return sum(n_out for n_out, _ in made), [weights for _, weights in made]

    return init


# 6. a width that nobody chose


@refused(fill_sizes, "instead of assert")
def with_assert(widths, width_of_X, width_of_T):
    assert None not in widths[:-1], "a hidden width is missing"
    return filled(is_last)(widths, width_of_X, width_of_T)


@refused(fill_sizes, "its ValueError has no message")
def without_a_sentence(widths, width_of_X, width_of_T):
    if None in widths[:-1]:
        raise ValueError
    return filled(is_last)(widths, width_of_X, width_of_T)


@refused(fill_sizes, "write raise")
def returns_the_error(widths, width_of_X, width_of_T):
    if None in widths[:-1]:
        return ValueError("a hidden width is missing")
    return filled(is_last)(widths, width_of_X, width_of_T)


@refused(fill_sizes, "it changes the list of widths")
def the_list_filled_as_before(widths, width_of_X, width_of_T):
    for place, n_out in enumerate(widths):
        if n_out is None and place < len(widths) - 1:
            raise ValueError(f"layer {place} needs a width.")
        if n_out is None:
            widths[place] = width_of_T
    return list(zip([width_of_X, *widths], widths, strict=False))


right(fill_sizes)(filled(is_last))


@right(fill_sizes)
def all_hidden_first(widths, width_of_X, width_of_T):
    *hidden, last = widths
    if None in hidden:
        raise ValueError(f"hidden widths must be given, got {widths}.")
    outs = [*hidden, width_of_T if last is None else last]
    return list(zip([width_of_X, *outs], outs, strict=False))


@refused(fill_sizes, "it changes the list of widths")
def in_place(widths, width_of_X, width_of_T):
    if None in widths[:-1]:
        raise ValueError("give every hidden width.")
    widths[-1] = width_of_T if widths[-1] is None else widths[-1]
    return list(zip([width_of_X, *widths], widths, strict=False))


@refused(fill_sizes, "raises ValueError")
def always_refuses(widths, width_of_X, width_of_T):
    if None in widths:
        raise ValueError("give every width.")
    return list(zip([width_of_X, *widths], widths, strict=False))


@refused(fill_sizes, "it changes the list of widths before it raises")
def fills_before_it_looks(widths, width_of_X, width_of_T):
    last = widths[-1]
    widths[-1] = width_of_T if last is None else last
    if None in widths:
        raise ValueError("give every hidden width.")
    sizes = all_hidden_first(widths, width_of_X, width_of_T)
    widths[-1] = last
    return sizes


@refused(fill_sizes, "the sizes must be")
def in_a_dict(widths, width_of_X, width_of_T):
    return list(dict(all_hidden_first(widths, width_of_X, width_of_T)).items())


@refused(fill_sizes, "the sizes must be")
def in_one_list(widths, width_of_X, width_of_T):
    return [size for pair in all_hidden_first(widths, width_of_X, width_of_T) for size in pair]
