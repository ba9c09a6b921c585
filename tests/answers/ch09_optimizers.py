"""Answers to the exercises of chapter 09: right ones, and those that a check refuses in its own words."""

import numpy as np

from course.checks.ch09_optimizers import (
    Optimizer,
    clip_length,
    each_once,
    gradient_length,
    lion,
    moving_means,
    smoothed,
    three_velocities,
    up_then_root,
)
from tests.answers import refused, right

# 1. what momentum makes of slopes


right(three_velocities)(lambda: (0.1, 1.5, 5.0))


right(three_velocities)(
    lambda: np.array(
        [0.5 * 0.2, 0.1 * 3 * sum(0.8**k for k in range(200)), 9 * abs(sum((-0.8) ** np.arange(200)))]
    )
)


# 2. a corrected mean


@right(smoothed)
def as_an_array(values, beta):
    mean, result = 0.0, np.empty(len(values))
    for place in range(len(values)):
        mean = beta * mean + (1 - beta) * values[place]
        result[place] = mean / (1 - beta ** (place + 1))
    return result


@right(smoothed)
def by_shares(values, beta):
    return [
        np.average(values[:count], weights=[beta ** (count - 1 - k) for k in range(count)])
        for count in range(1, len(values) + 1)
    ]


@right(smoothed)
def sum_and_weight(values, beta):
    total = weight = 0.0
    means = []
    for value in values:
        total, weight = beta * total + value, beta * weight + 1
        means.append(total / weight)
    return means


@refused(smoothed, "it must return one number for each value, but returned a float")
def only_the_last(values, beta):
    return float(moving_means(values, beta, correct=lambda mean, steps: mean / (1 - beta**steps))[-1])


# 3. a sibling of Adam


@right(lion)
class WithANewMean(Optimizer):
    def step(self, parameters):
        for parameter in parameters:
            mean, gradient = self.means.get(parameter, 0 * parameter.data), parameter.grad
            parameter.data[...] = parameter.data - self.learning_rate * np.sign(self._mix(mean, gradient))
            self.means[parameter] = mean + (1 - self.beta2) * (gradient - mean)


@right(lion)
class WithMasks(Optimizer):
    def _one(self, parameter, mean):
        mixed = self._mix(mean, parameter.grad)
        parameter.data[mixed > 0] -= self.learning_rate
        parameter.data[mixed < 0] += self.learning_rate
        self._update(mean, parameter.grad)


@refused(lion, "the means must be kept in a dictionary, self.means")
class ByPlaceInTheList(Optimizer):
    def step(self, parameters):
        self.means = self.means or [np.zeros_like(p.data) for p in parameters]
        for parameter, mean in zip(parameters, self.means, strict=True):
            parameter.data -= self.learning_rate * np.sign(self._mix(mean, parameter.grad))
            self._update(mean, parameter.grad)


@refused(lion, "self.means must have the parameters themselves as its keys, but has an int")
class PlacesAsKeys(Optimizer):
    def step(self, parameters):
        for place, parameter in enumerate(parameters):
            mean = self.means.setdefault(place, np.zeros_like(parameter.data))
            parameter.data -= self.learning_rate * np.sign(self._mix(mean, parameter.grad))
            self._update(mean, parameter.grad)


@refused(lion, "data is another array after the step")
class MakesANewArray(Optimizer):
    def _one(self, parameter, mean):
        parameter.data = parameter.data - self.learning_rate * np.sign(self._mix(mean, parameter.grad))
        self._update(mean, parameter.grad)


@refused(lion, "with the three numbers of its signature, parameters[0].data[")
class RemembersLonger(WithMasks):
    def __init__(self, learning_rate=1e-3, beta1=0.9, beta2=0.999):
        super().__init__(learning_rate, beta1, beta2)


@refused(lion, "after step 5, with the list given in reverse, parameters[0].data[")
class PassesByWhatIsFlat(WithMasks):
    def _one(self, parameter, mean):
        if parameter.grad.any():
            super()._one(parameter, mean)


@refused(lion, "with a parameter that comes at the second step,")
class KeepsTheFirstOnly(WithMasks):
    def step(self, parameters):
        late = [parameter for parameter in parameters if self.means and parameter not in self.means]
        super().step(parameters)
        for parameter in late:
            self.means[parameter][...] = 0.0


# 4. a clipping that keeps the direction


@right(clip_length)
def with_norm(parameters, longest):
    length = np.linalg.norm([np.linalg.norm(parameter.grad) for parameter in parameters])
    for parameter in parameters:
        parameter.grad *= min(1.0, longest / length) if length else 1.0


@right(clip_length)
def as_one_row(parameters, longest):
    row = np.concatenate([parameter.grad.ravel() for parameter in parameters])
    squares = row @ row
    if squares <= longest**2:
        return None
    for parameter in parameters:
        parameter.grad[...] = parameter.grad / (squares**0.5 / longest)
    return squares**0.5


@right(clip_length)
def entry_after_entry(parameters, longest):
    length = 0.0
    for parameter in parameters:
        for entry in parameter.grad.flat:
            length = np.hypot(length, entry)
    for parameter in parameters:
        parameter.grad -= parameter.grad * max(0.0, 1 - longest / (length or longest))


@refused(clip_length, "at most 5, afterwards 5: ")
def squares_compared_with_the_length(parameters, longest):
    if gradient_length(parameters) ** 2 > longest:
        always_that_long(parameters, longest)


@refused(clip_length, "it is short enough, and must stay")
def always_that_long(parameters, longest):
    length = gradient_length(parameters)
    for parameter in parameters:
        if length:
            parameter.grad *= longest / length


@refused(clip_length, "with four parameters, a length of 7, at most 1, afterwards")
def the_first_three(parameters, longest):
    length = gradient_length(parameters[:3])
    if length > longest:
        for parameter in parameters:
            parameter.grad *= longest / length


@refused(clip_length, "it changes data; only the gradients are to be shortened")
def data_as_well(parameters, longest):
    factor = min(1.0, longest / (gradient_length(parameters) or longest))
    for parameter in parameters:
        parameter.grad *= factor
        parameter.data *= factor


@refused(clip_length, "a length of 2, at most 0.5")
def never_below_one(parameters, longest):
    as_one_row(parameters, max(longest, 1.0))


@refused(clip_length, "grad is another array afterwards")
def makes_new_arrays(parameters, longest):
    factor = min(1.0, longest / (gradient_length(parameters) or longest))
    for parameter in parameters:
        parameter.grad = factor * parameter.grad


# 5. a schedule


@right(up_then_root)
def the_smaller_of_the_two(learning_rate, warmup):
    return lambda step: learning_rate * min((step + 1) / warmup, (warmup / (step + 1)) ** 0.5)


@right(up_then_root)
def counted_from_one(learning_rate, warmup):
    def schedule(step):
        now = step + 1
        return learning_rate * (now / warmup if now <= warmup else np.sqrt(warmup / now))

    return schedule


@refused(up_then_root, "it must return a function of step, but returned a float")
def a_number(learning_rate, warmup):
    return learning_rate * 1 / warmup


@refused(up_then_root, "at step 0 is 3.333e-07, it must be")
def one_memory_for_all(learning_rate, warmup, kept={}):  # noqa: B006
    kept |= {"rate": learning_rate, "warmup": warmup}

    def schedule(step):
        return kept["rate"] * min((step + 1) / kept["warmup"], (kept["warmup"] / (step + 1)) ** 0.5)

    return schedule


@refused(up_then_root, "over its rate, is 100, it must be 0.3333")
def never_below(learning_rate, warmup):
    return lambda step: max(1e-4, learning_rate * min((step + 1) / warmup, (warmup / (step + 1)) ** 0.5))


@refused(smoothed, "for whole numbers, the result[2] is 2")
def whole_means(values, beta):
    values = np.asarray(values)
    return (0 * values + moving_means(values, beta, correct=lambda mean, n: mean / (1 - beta**n))).astype(
        values.dtype
    )


@refused(smoothed, "for a beta of 0.99999, the result[0] is")
def with_a_small_number(values, beta):
    return moving_means(values, beta, correct=lambda mean, n: mean / (1 - beta**n + 1e-8))


# 6. a list in which none comes twice


@right(each_once)
def by_a_dictionary(parameters):
    return list(dict.fromkeys(parameters))


@right(each_once)
def by_identities_seen(parameters):
    seen, kept = set(), []
    for parameter in parameters:
        if id(parameter) not in seen:
            seen.add(id(parameter))
            kept.append(parameter)
    return kept


@refused(each_once, "two parameters with one array: of 2 parameters only 1 is left")
def by_their_arrays(parameters):
    return list({id(parameter.data): parameter for parameter in parameters}.values())


@refused(each_once, "one of them frozen: of 5 parameters only 4 are left")
def only_the_trainable(parameters):
    return [parameter for parameter in dict.fromkeys(parameters) if parameter.trainable]


@refused(each_once, "one parameter is still there twice")
def only_neighbours(parameters):
    return [p for place, p in enumerate(parameters) if place == 0 or p is not parameters[place - 1]]


@refused(each_once, "the order of first appearance is not kept")
def the_last_of_each(parameters):
    return list(dict.fromkeys(reversed(parameters)))[::-1]


@refused(each_once, "it must return a list of parameters, but returned a set")
def as_a_set(parameters):
    return set(parameters)


@refused(each_once, "it changes the list that it is given; make a new one")
def in_place(parameters):
    parameters[:] = dict.fromkeys(parameters)
    return list(parameters)


@refused(smoothed, "if it is given beta 1 minus it")
def shares_exchanged(values, beta):
    return moving_means(values, 1 - beta, correct=lambda mean, steps: mean / (1 - (1 - beta) ** steps))


@refused(lion, "The sign is flipped")
class Uphill(Optimizer):
    def _one(self, parameter, mean):
        parameter.data += self.learning_rate * np.sign(self._mix(mean, parameter.grad))
        self._update(mean, parameter.grad)


@refused(up_then_root, "if it is given step 1 more")
def one_step_late(learning_rate, warmup):
    def schedule(step):
        return learning_rate * ((step + 1) / warmup if step < warmup else (warmup / step) ** 0.5)

    return schedule


@refused(up_then_root, "That was right for up_then_root(")
def stays_up(learning_rate, warmup):
    return lambda step: learning_rate * min(1.0, (step + 1) / warmup)


@refused(up_then_root, "It is the same for another learning_rate")
def without_the_rate(learning_rate, warmup):
    return lambda step: min((step + 1) / warmup, (warmup / (step + 1)) ** 0.5)
