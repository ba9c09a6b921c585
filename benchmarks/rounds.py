"""Whose turn it is: contestants take turns within a round, and only ratios within a round are compared.

A machine that is slow for a second is then slow for all of them. Leaves out the processes: a runner is
anything with `run(count)`.
"""

import statistics
import time


def steps_for(runner, seconds, clock="cpu"):
    """Return how many steps take about that long; at least one.

    Parameters
    ----------
    runner : object with run(count) -> dict
    seconds : float
    clock : str
        "cpu" or "wall".

    Returns
    -------
    int
    """
    count, taken = 1, runner.run(1)[clock]
    while taken < seconds / 4:
        count *= 2
        taken = runner.run(count)[clock]
    return max(1, round(count * seconds / taken))


def interleave(  # noqa: PLR0913  each is a setting of the measurement
    runners, rounds, seconds, clock="cpu", pause=0.0, told=lambda: None
):
    """Let several runners take turns, forwards and backwards, and return their times.

    Parameters
    ----------
    runners : dict of str to object with run(count) -> dict
    rounds : int
    seconds : float
        How long a turn takes.
    clock : str
        "cpu" or "wall".
    pause : float
        Seconds between two turns, in which waiting threads of the last one go to sleep.
    told : function
        Called after each turn.

    Returns
    -------
    dict of str to list of float
        Seconds a step, one number a round.
    """
    counts = {name: steps_for(runner, seconds, clock) for name, runner in runners.items()}
    times = {name: [] for name in runners}
    for number in range(rounds):
        for name in list(runners) if number % 2 == 0 else reversed(runners):
            times[name].append(runners[name].run(counts[name])[clock] / counts[name])
            told()
            time.sleep(pause)
    return times


def ratio(times, others):
    """Return the lowest, the median and the highest of the ratios, round by round.

    Parameters
    ----------
    times, others : list of float

    Returns
    -------
    list of float

    Examples
    --------
    >>> ratio([1.0, 2.0, 9.0], [2.0, 2.0, 3.0])
    [0.5, 1.0, 3.0]
    """
    ratios = [mine / other for mine, other in zip(times, others, strict=True)]
    return [min(ratios), statistics.median(ratios), max(ratios)]
