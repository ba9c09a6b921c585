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
TICKS = "#4D4D4D"  # axes and their numbers
GRID = "#E6E6E6"  # lines that help the eye
GROUND = "#FFFFFF"  # what lies behind words, and inside empty boxes
ON_COLOUR = "#FEFEFE"  # words on a coloured box: as light by night
ON_PALE = "#272727"  # words on a pale box: as dark by night
PALETTE = (FORWARD, BACKWARD, TRUTH, "#CC79A7", "#009E73")  # for lines, in this order
FIELD = "viridis"
SIGNED_FIELD = "RdBu"  # around 0

# What has another value on a dark page: the colour of a drawing, and the CSS variable that replaces it there.
# In the SVG of a figure each stands in a style, in small letters, behind a colon and a space:
# "fill: #262626" becomes "fill: var(--figure-ink, #262626)".
THEMED = {
    FORWARD: "--figure-forward",
    BACKWARD: "--figure-backward",
    TRUTH: "--figure-truth",
    CONTEXT: "--figure-context",
    INK: "--figure-ink",
    TICKS: "--figure-ticks",
    GRID: "--figure-grid",
    GROUND: "--figure-ground",
}

STYLE_SHEET = Path(__file__).with_name("minigrad.mplstyle")


def use():
    """Make the course's style sheet the style of every figure drawn from now on."""
    plt.style.use(STYLE_SHEET)
