"""The schedule: contestants take turns in each round, and only times of the same round are compared.

A machine that is slow for a second thus slows all contestants. A runner is any object with `run(count)`.
"""

import statistics
import time


def steps_for(runner, seconds, clock="cpu"):
    """Return how many steps take about `seconds`; at least one.

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
    runners, rounds, seconds, clock="cpu", pause=0.0, after_turn=lambda: None
):
    """Let several runners take turns, in alternating order, and return their times.

    Parameters
    ----------
    runners : dict of str to object with run(count) -> dict
    rounds : int
    seconds : float
        Duration of a turn.
    clock : str
        "cpu" or "wall".
    pause : float
        Seconds between two turns, so that the last turn's waiting threads stop spinning.
    after_turn : function
        Called after each turn.

    Returns
    -------
    dict of str to list of float
        Seconds per step, one value per round.
    """
    counts = {name: steps_for(runner, seconds, clock) for name, runner in runners.items()}
    times = {name: [] for name in runners}
    for number in range(rounds):
        for name in list(runners) if number % 2 == 0 else reversed(runners):
            times[name].append(runners[name].run(counts[name])[clock] / counts[name])
            after_turn()
            time.sleep(pause)
    return times


def ratio(times, others):
    """Return the lowest, the median and the highest ratio of the rounds.

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
