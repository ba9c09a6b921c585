"""Stand-ins for packages that the sandbox lacks: objects that accept every operation and do nothing.

The sandbox has only NumPy and a student edition of `minigrad`. `install` makes imports of `course`,
Matplotlib, widgets and IPython work there, defines the names that notebooks use, and makes answers do with
the sandbox's few threads. Needs only the standard library and NumPy; ``classroom.child`` runs the cells.
"""

import builtins
import sys
import threading
import time
from importlib import import_module, invalidate_caches
from importlib.machinery import ModuleSpec
from opcode import opmap
from pathlib import Path
from types import FunctionType, ModuleType

import numpy as np

PACKAGES = (  # and the pools of threads and of processes
    "concurrent.futures.thread concurrent.futures.process concurrent.futures.interpreter "
    "course matplotlib mpl_toolkits seaborn plotly ipywidgets IPython ipykernel nbgrader tqdm PIL google"
)
COURSE = "check hint solution progress keep gather xray show explore Slider live"
TIMED = ("time", "timeit", "prun", "memit", "capture")  # IPython commands that run the rest of their line
PYLAB = "import numpy as np, matplotlib.pyplot as plt\nfrom numpy import *\nfrom numpy.random import *"
TRIES, PAUSE = 200, 0.005  # at starting a thread, and seconds between them
UNPACK = (opmap["UNPACK_SEQUENCE"], opmap["UNPACK_EX"])


class Inert:
    """An object that can be called, read, written, indexed, unpacked, entered, compared and printed."""

    __array_ufunc__ = None  # NumPy leaves `array * inert` to the methods below

    def __init__(self, *args, **kwargs):
        """Accept any arguments."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)  # the only special methods are those below
        return Inert()

    def __call__(self, *args, **kwargs):
        """Return a single function or class unchanged, so that a decorator keeps it."""
        alone = len(args) == 1 and not kwargs and isinstance(args[0], FunctionType | type)
        return args[0] if alone else Inert()

    def __iter__(self):
        """Yield nothing, or as many stand-ins as an assignment unpacks: ``figure, axes = plt.subplots()``.

        Python does not pass an iterator the number of names on the left, and no fixed number is right for
        every answer: one that makes a plot would raise and lose its points. So the number is read from the
        caller's bytecode.
        """
        frame = sys._getframe(1)
        code, place = frame.f_code.co_code, frame.f_lasti
        return iter([Inert() for _ in range(code[place + 1])] if code[place] in UNPACK else [])

    def __setattr__(self, name, value):
        pass

    def __delattr__(self, name):
        pass

    def __getitem__(self, key):
        return Inert()

    def __setitem__(self, key, value):
        pass

    def __delitem__(self, key):
        pass

    def __contains__(self, thing):
        return False

    def __len__(self):
        return 0

    def __bool__(self):
        return False

    def __int__(self):
        return 0

    __index__ = __int__

    def __float__(self):
        return 0.0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def __repr__(self):
        return ""

    def __format__(self, spec):
        return ""

    def __mro_entries__(self, bases):
        return (Inert,)  # a class made from a stand-in

    def __instancecheck__(self, thing):
        return False


def _nothing(self, *others):
    """Return another stand-in, the result of every operator."""
    return Inert()


for _name in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split():
    setattr(Inert, f"__{_name}__", _nothing)
    setattr(Inert, f"__r{_name}__", _nothing)
for _name in "lt le gt ge neg pos abs invert".split():
    setattr(Inert, f"__{_name}__", _nothing)


class Bar(Inert):
    """An invisible progress bar: iterates over its items."""

    def __init__(self, things=(), *args, **kwargs):
        vars(self)["things"] = things

    def __iter__(self):
        return iter(self.things)

    def __len__(self):
        return len(self.things)


class Shell(Inert):
    """The result of `get_ipython()`: runs the statements of commands such as %time, and no other command."""

    def run_line_magic(self, name, line, *args):
        """Run a timed statement, or a file, in the caller's scope; return a statement's value, if any."""
        scope, path = sys._getframe(1), Path(line.split(" ")[-1].strip("'\""))
        if name == "pylab":
            exec(PYLAB, scope.f_globals)
        if name == "run" and path.is_file():
            exec(compile(path.read_text(encoding="utf-8"), path, "exec"), scope.f_globals)
        if name not in TIMED:
            return Inert()
        statement = _without_options(line)
        try:
            code = compile(statement, f"<%{name}>", "eval")
        except SyntaxError:
            code = compile(statement, f"<%{name}>", "exec")
        return eval(code, scope.f_globals, scope.f_locals)

    def run_cell_magic(self, name, line, body):
        """Write a module for a later import, as ``%%writefile name.py`` does; -a appends to it."""
        *options, path = line.replace('"', "").replace("'", "").split()
        if path.endswith(".py"):
            with open(path, "a" if options else "w", encoding="utf-8") as file:
                file.write(f"{body}\n")
            sys.path += [] if "" in sys.path else [""]
            invalidate_caches()  # a cell follows faster than a folder's time changes


def _without_options(line):
    """Remove the options before a timed statement: ``-n 10 -r3 f(X)``."""
    words = line.split(" ")
    while words[0].startswith("-") and len(words) > 1:
        takes_number = words.pop(0) in ("-n", "-r", "-p")
        words = words[1:] if takes_number and len(words) > 1 else words
    return " ".join(words)


def mine(name):
    """Return the library's own object, as `course.mine` does if the learner has stored none."""
    library = import_module("minigrad")
    return next((getattr(library, own) for own in library.__all__ if own.lower() == name), Inert())


class StandIn(ModuleType):
    """A module that defines every name."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Inert()


class Cupy(StandIn):
    """NumPy under CuPy's name inside `with stand_in()`; its list of transfers is inert."""

    def __getattr__(self, name):
        return getattr(np, name) if hasattr(np, name) else super().__getattr__(name)

    def __enter__(self):
        sys.modules["cupy"] = self
        return self

    def __exit__(self, *error):
        del sys.modules["cupy"]


class Finder:
    """Find a stand-in for every module of the missing packages."""

    def find_spec(self, name, path=None, target=None):
        """Return the spec of a stand-in if the module belongs to one of the packages."""
        ours = {name, name.split(".")[0]} & {*PACKAGES.split()}
        return ModuleSpec(name, self, is_package=True) if ours else None

    def create_module(self, spec):
        """Return an empty stand-in."""
        return StandIn(spec.name)

    def exec_module(self, module):
        """Define the few names that must do something, or that `import *` needs."""
        if module.__name__ == "course":
            vars(module).update({name: Inert() for name in COURSE.split()}, mine=mine)
            vars(module).update(stand_in=lambda: Cupy("cupy"), gpu=lambda: Cupy("cupy").__enter__())
        if module.__name__.split(".")[0] == "tqdm":
            vars(module).update(tqdm=Bar, trange=lambda *args, **kwargs: Bar(range(*args)))
        if module.__name__.startswith("concurrent"):
            pools = [f"{kind}PoolExecutor" for kind in ("Thread", "Process", "Interpreter")]
            vars(module).update(dict.fromkeys(pools, _pool()))


def _pool():
    """Make an executor that runs each task at once: the sandbox has too few threads for a pool."""
    futures = import_module("concurrent.futures")

    class Pool(futures.Executor):
        def __init__(self, max_workers=None, *args, initializer=None, initargs=(), **kwargs):
            if initializer is not None:
                initializer(*initargs)

        def submit(self, function, /, *args, **kwargs):
            future = futures.Future()
            try:
                future.set_result(function(*args, **kwargs))
            except Exception as error:
                future.set_exception(error)
            return future

    return Pool


def _patient(start):
    """Make `Thread.start` wait, at the limit of threads, until another thread ends."""

    def patient(thread):
        for _ in range(TRIES):
            try:
                return start(thread)
            except RuntimeError as error:
                if "new thread" not in str(error):
                    raise
                time.sleep(PAUSE)
                if hasattr(thread, "_handle"):  # of Python 3.13, for a single attempt
                    thread._handle = type(thread._handle)()
        return start(thread)

    return patient


def install():
    """Make the stand-ins importable, define the names that notebooks use, and disable input.

    What a notebook's first cell imports is there without it, too: that cell may have been deleted or moved.
    """
    sys.meta_path.insert(0, Finder())
    threading.Thread.start = _patient(threading.Thread.start)
    library = import_module("minigrad")
    known = {name: Inert() for name in COURSE.split()} | {"mine": mine, "np": np}
    known |= {name: getattr(library, name) for name in library.__all__ if hasattr(library, name)}
    for name in known.keys() - vars(builtins).keys():
        setattr(builtins, name, known[name])
    builtins.display, builtins.get_ipython, builtins.input = Inert(), Shell, lambda prompt="": ""
    builtins.help = builtins.exit = builtins.quit = Inert()  # Python's own come with the module site
    sys.breakpointhook = Inert()
