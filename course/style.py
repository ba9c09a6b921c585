"""The colours of the course and their one meaning each, and the style sheet that every figure wears.

Blue goes forward, vermillion comes back, black is the truth, grey is what stands around it. A colour-blind
reader can tell the five apart; still, each line has its own line style and marker too. Leaves out how a
figure is shown (`course.figures`).
"""

from pathlib import Path

import matplotlib.pyplot as plt

FORWARD = "#0072B2"  # blue: forward, prediction
BACKWARD = "#D55E00"  # vermillion: backward, gradient, error
TRUTH = "#000000"  # black: target, truth
CONTEXT = "#767676"  # grey: what stands around it; still dark enough for words
INK = "#262626"  # text
PALETTE = (FORWARD, BACKWARD, TRUTH, "#CC79A7", "#009E73")  # for lines, in this order
FIELD = "viridis"
SIGNED_FIELD = "RdBu"  # around 0

STYLE_SHEET = Path(__file__).with_name("minigrad.mplstyle")


def use():
    """Make the course's style sheet the style of every figure drawn from now on."""
    plt.style.use(STYLE_SHEET)
