"""The colours of the course, each with one meaning: for its figures, and as CSS for pages beside them.

Blue is forward, vermillion is backward, black is the truth, grey is context. Colour-blind readers can tell
these apart; each line also has its own line style and marker.
"""

FORWARD = "#0072B2"  # blue: forward, prediction
BACKWARD = "#D55E00"  # vermillion: backward, gradient, error
TRUTH = "#000000"  # black: target, truth
CONTEXT = "#767676"  # grey: context; dark enough for text
INK = "#262626"  # text
TICKS = "#4D4D4D"  # axes and their numbers
GRID = "#E6E6E6"  # grid lines
GROUND = "#FFFFFF"  # background of text and empty boxes
ON_COLOUR = "#FEFEFE"  # text on a coloured box; the same on a dark page
ON_PALE = "#272727"  # text on a pale box; the same on a dark page
PALETTE = (FORWARD, BACKWARD, TRUTH, "#CC79A7", "#009E73")  # for lines, in this order
FIELD = "viridis"
SIGNED_FIELD = "RdBu"  # around 0

# Colours that differ on a dark page, each with the CSS variable that replaces it. In the SVG of a figure,
# "fill: #262626" (lower case, after a colon and a space) becomes "fill: var(--figure-ink, #262626)".
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
CSS = f":root {{ {' '.join(f'{name}: {colour};' for colour, name in THEMED.items())} }}\n"
