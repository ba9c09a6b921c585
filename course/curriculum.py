"""The table of chapters: title, promise, minutes, prerequisites, and names that each builds; the routes.

This is the single source for the book's contents, the map of chapter 00, the student edition of the library,
`progress`, and the tests.
"""

from dataclasses import dataclass

START = "Start here"
SLOPES = "I: Slopes"
LIBRARY = "II: A library in a hundred lines"
WELL = "III: Making it work"
MACHINES = "IV: Machines that see, remember and speak"
MANY = "V: One library, many machines"
YOURS = "Yours"
PARTS = (START, SLOPES, LIBRARY, WELL, MACHINES, MANY, YOURS)


@dataclass(frozen=True)
class Chapter:
    """One chapter.

    Attributes
    ----------
    stem : str
        The name of its notebook, exercises, solutions and checks: ``"04_closures"``.
    title : str
    part : str
        One of `PARTS`.
    promise : str
        What the reader learns, in one sentence.
    minutes : int
        The time its main line takes, without exercises.
    needs : tuple of int
        The chapters to read before it, as its first cell says.
    uses : tuple of int
        Further chapters whose results it uses, most often from the library; they need not be read.
    builds : tuple of str
        The public names that it builds, in order; one with a dot is a module that `minigrad` does not export.
    """

    stem: str
    title: str
    part: str
    promise: str
    minutes: int
    needs: tuple = ()
    uses: tuple = ()
    builds: tuple = ()

    @property
    def number(self):
        """Return the number at the beginning of its stem, as an int."""
        return int(self.stem[:2])


CHAPTERS = (
    Chapter(
        "00_start",
        "Start here",
        START,
        "How to use this course, in ten minutes.",
        minutes=10,
    ),
    Chapter(
        "01_slope",
        "The slope of a program",
        SLOPES,
        "Any program has a slope, and you can find it by nudging.",
        minutes=50,
        builds=("numerical_gradient",),
    ),
    Chapter(
        "02_jacobian",
        "Which way to multiply",
        SLOPES,
        "One pass from the end of a program finds all its slopes.",
        minutes=65,
        needs=(1,),
    ),
    Chapter(
        "03_gradcheck",
        "A grader of your own",
        SLOPES,
        "You cannot see a wrong gradient, so build a checker that can.",
        minutes=80,
        needs=(1, 2),
        builds=("gradcheck",),
    ),
    Chapter(
        "04_closures",
        "Functions that remember",
        LIBRARY,
        "Why layers do not compose, and the closure that makes them.",
        minutes=65,
        needs=(1,),
        uses=(2, 3),
        builds=("Parameter", "Layer", "Linear", "Sum", "ReLU"),
    ),
    Chapter(
        "05_chains",
        "Chains",
        LIBRARY,
        "Any number of layers is one layer, and its backward pass builds itself.",
        minutes=65,
        needs=(4,),
        builds=(
            *("chain", "Sequential", "as_layer", "Residual", "Parallel", "Add", "Watch", "Sigmoid", "Tanh"),
            *("Mean", "Max", "Flatten", "Reshape"),
        ),
    ),
    Chapter(
        "06_losses",
        "How wrong are we?",
        LIBRARY,
        "A loss is the last layer: one number, and the first gradient.",
        minutes=75,
        needs=(5,),
        builds=("mse", "bce_with_logits", "cross_entropy", "Softmax"),
    ),
    Chapter(
        "07_learning",
        "Learning",
        LIBRARY,
        "Forward, backward, update, and a library of your own in a hundred lines.",
        minutes=75,
        needs=(5,),
        uses=(6,),
        builds=("SGD", "Learner", "History", "accuracy", "batches", "moons", "spirals"),
    ),
    Chapter(
        "08_digits",
        "Reading digits",
        LIBRARY,
        "From start to finish on real data: train, validate, test, save, resume.",
        minutes=75,
        needs=(7,),
        builds=(
            *("digits", "split", "one_hot", "EarlyStopping", "save", "load", "CheckpointError"),
            *("save_model", "load_model"),
        ),
    ),
    Chapter(
        "09_optimizers",
        "Better steps",
        WELL,
        "Steps with a memory: momentum, Adam, clipping, schedules.",
        minutes=75,
        needs=(7, 8),
        builds=("RMSProp", "Adam", "AdamW", "clip_grad_norm", "cosine"),
    ),
    Chapter(
        "10_start_well",
        "Starting well",
        WELL,
        "How large weights must be, and norms that rescale a signal.",
        minutes=75,
        needs=(5, 6, 7),
        builds=(
            *("lecun", "glorot", "he", "orthogonal", "zeros"),
            *("Dropout", "BatchNorm", "LayerNorm", "Buffer"),
        ),
    ),
    Chapter(
        "11_graphs",
        "A graph instead",
        WELL,
        "Another way to remember: nodes that know their parents, and what they cost.",
        minutes=70,
        needs=(4, 5, 7),
        builds=("minigrad.beyond.graph", "minigrad.beyond.bridge"),
    ),
    Chapter(
        "12_shapes",
        "Shapes before numbers",
        WELL,
        "You state only your choices; every other size is inferred, or raises an error.",
        minutes=65,
        needs=(5, 10),
        uses=(11,),
        builds=("ShapeError", "observed", "functional", "values_of", "with_values", "FunctionalLayer"),
    ),
    Chapter(
        "13_sharing",
        "Sharing",
        WELL,
        "One set of weights in several places: its gradient is a sum.",
        minutes=75,
        needs=(4, 7, 9),
        builds=("cosine_distance", "Twin", "replica"),
    ),
    Chapter(
        "14_seeing",
        "Seeing",
        MACHINES,
        "A layer that slides over an image, and what it knows before it has learned anything.",
        minutes=75,
        needs=(8, 13),
        builds=("CosineSimilarity", "Conv2d", "MaxPool2d"),
    ),
    Chapter(
        "15_time",
        "Remembering in time",
        MACHINES,
        "The same layer at every step, and how far back a gradient reaches.",
        minutes=75,
        needs=(5, 6, 9, 10),
        uses=(13,),
        builds=("pad", "RNN", "LSTM"),
    ),
    Chapter(
        "16_attention",
        "Attention",
        MACHINES,
        "Each step looks where it wants, and a table says where it looked.",
        minutes=75,
        needs=(6, 9, 15),
        uses=(13,),
        builds=("Embedding", "Positions", "MultiHeadAttention", "GELU"),
    ),
    Chapter(
        "17_gpt",
        "A tiny GPT",
        MACHINES,
        "A reader becomes a writer, letter by letter, and learns to add.",
        minutes=75,
        needs=(8, 10, 15, 16),
        builds=("TransformerBlock",),
    ),
    Chapter(
        "18_acting",
        "Acting",
        MACHINES,
        "Learning from consequences, when nobody says which move was right.",
        minutes=75,
        needs=(6, 7, 9),
        uses=(13,),
    ),
    Chapter(
        "19_memory",
        "Forgetting on purpose",
        MANY,
        "A deep network in a fraction of its memory, paid for with time.",
        minutes=65,
        needs=(4, 5, 10),
        uses=(17,),
        builds=("Recompute",),
    ),
    Chapter(
        "20_speed",
        "The speed of NumPy",
        MANY,
        "How fast a training step can be, and how to get there, line by line.",
        minutes=70,
        needs=(4, 9, 11),
        uses=(16,),
    ),
    Chapter(
        "21_gpu",
        "Your network on a GPU",
        MANY,
        "One network in two memories; you learn to notice each transfer.",
        minutes=65,
        needs=(7, 8),
        builds=("array_module", "to_numpy", "to_device"),
    ),
    Chapter(
        "22_workers",
        "Many workers",
        MANY,
        "Four processes share a batch, agree on one gradient, and train as one.",
        minutes=75,
        needs=(8, 9, 13),
        builds=("ConcurrentLearner", "average_gradients", "broadcast"),
    ),
    Chapter(
        "23_serving",
        "Serving from threads",
        MANY,
        "One model, many threads, and no lock; new weights while it answers.",
        minutes=75,
        needs=(4, 5, 8, 13),
        builds=("Evaluator",),
    ),
    Chapter(
        "24_capstone",
        "Your own layer",
        YOURS,
        "The whole craft, from a question to half a page, on your own layer.",
        minutes=60,
        needs=(3, 4, 8, 13),
    ),
)

# The chapter that builds a name of the library.
BUILT = {name: chapter.number for chapter in CHAPTERS for name in chapter.builds}


@dataclass(frozen=True)
class Route:
    """A route through the course.

    Attributes
    ----------
    title : str
    aim : str
        Its goal and its readers, in one sentence.
    numbers : tuple of int
        The chapters it leads to; their prerequisites are added.
    """

    title: str
    aim: str
    numbers: tuple

    @property
    def chapters(self):
        """Return its chapters in order, a list of Chapter; the first is always chapter 00."""
        numbers = {0, *self.numbers}
        for chapter in reversed(CHAPTERS):  # a chapter needs earlier ones only
            numbers |= set(chapter.needs) if chapter.number in numbers else set()
        return [chapter for chapter in CHAPTERS if chapter.number in numbers]

    @property
    def minutes(self):
        """Return the total minutes of its chapters, without exercises, an int."""
        return sum(chapter.minutes for chapter in self.chapters)


ROUTES = {
    "weekend": Route(
        "A weekend",
        "From a nudge to a network that reads digits; the checker and the losses are imported, not built.",
        (8,),
    ),
    "semester": Route(
        "A semester",
        "The whole course: two chapters a week, and time for a layer of your own at the end.",
        tuple(chapter.number for chapter in CHAPTERS),
    ),
    "gpt": Route(
        "Straight to GPT",
        "A model that writes letter by letter, and everything it is made of.",
        (2, 3, 17),
    ),
    "systems": Route(
        "Straight to systems",
        "Memory, speed, a GPU, many workers and a server, with the library that they run.",
        (2, 3, 19, 20, 21, 22, 23),
    ),
}


def exercises_name(stem):
    """Return the name of a chapter's exercise notebook, without its suffix.

    Examples
    --------
    >>> exercises_name("04_closures")
    '04_closures_exercises'
    """
    return f"{stem}_exercises"


def exercises_path(stem):
    """Return the path of a chapter's exercise notebook, relative to exercises/ or solutions/.

    Examples
    --------
    >>> exercises_path("04_closures")
    '04_closures/04_closures_exercises.ipynb'
    """
    return f"{stem}/{exercises_name(stem)}.ipynb"


def route(name):
    """Return the route with a given name.

    Parameters
    ----------
    name : str

    Returns
    -------
    Route

    Raises
    ------
    ValueError
        If no route has that name; the message lists the routes.

    Examples
    --------
    >>> [chapter.number for chapter in route("weekend").chapters]
    [0, 1, 4, 5, 7, 8]
    """
    if name not in ROUTES:
        raise ValueError(f"no route is called {name!r}; the routes are {', '.join(map(repr, ROUTES))}.")
    return ROUTES[name]
