"""Functions, classes and objects of another process, as seen by a check."""

import copy
import inspect
import os
import time
import tracemalloc
import warnings
from pathlib import Path
from types import SimpleNamespace

import nbformat
import numpy as np
import pytest

from classroom import remote
from classroom.remote import Ended, Remote
from classroom.wire import WireError, pack
from course.checks import exercises
from course.checks.exercise import CheckFailed, described
from minigrad import Layer, Linear, Parameter, ReLU, Sequential, gradcheck, mse
from minigrad.layer import as_layer
from tests.answers import answers_to

PROJECT = Path(__file__).resolve().parents[2]
ASKED = [exercise for exercise in exercises() if not exercise.by_hand and exercise.remote]

LAYER = """
import numpy as np
from minigrad import Layer, Parameter, Linear, ReLU

class Scale(Layer):
    kind = "a scale"

    def __init__(self, width, rng=0):
        self.factor = Parameter(np.random.default_rng(rng).normal(size=width))
        self.width = width

    def forward(self, X, training=False):
        def backward(dY):
            self.factor.grad += (dY * X).sum(axis=0)
            return dY * self.factor.data
        return X * self.factor.data * (2 if training else 1), backward
"""


def test_a_function_runs_in_its_process_and_is_described_here(end):
    end.run("def add(X, Y=1, *, training=False):\n    return X + Y + training")
    add = end.find("add")
    assert add(1) == 2 and add(1, Y=5, training=True) == 7
    assert add.__name__ == add.__qualname__ == "add"
    assert list(inspect.signature(add).parameters) == ["X", "Y", "training"]
    assert add.__code__.co_varnames[: add.__code__.co_argcount] == ("X", "Y")
    assert copy.deepcopy(add) is add
    assert not hasattr(add, "__wrapped__") and not hasattr(add, "missing")


def test_a_check_s_objects_are_kept_as_long_as_the_answer_keeps_them(end):
    end.run("kept = []\ndef keep(f):\n    kept.append(f)")
    end.run("def use(f):\n    return f(1)\ndef last(x):\n    return kept[-1](x)")
    keep, use, last = map(end.find, ("keep", "use", "last"))
    for number in range(20):
        assert use(lambda x, more=number: x + more) == 1 + number
    keep(lambda x: 10 * x)
    assert last(2) == 20 and last(3) == 30
    assert len(end.remote.home) < 5, "what nobody can ask for any more is let go of"


def test_a_builtin_has_no_code(end):
    length = end.find("length", "length = len")
    assert length([1, 2]) == 2 and length.__code__.co_argcount == 0


def test_options_are_passed_to_layers_that_declare_them(end):
    end.run("def plain(X):\n    return X, lambda dY: dY")
    end.run("def fancy(X, training=False):\n    return X + training, lambda dY: dY")
    X = np.zeros(3)
    end.run("from functools import partial\nhalf = partial(fancy)\nfixed = partial(fancy, training=False)")
    end.run("def any_option(X, **options):\n    return X + len(options), lambda dY: dY")
    end.run("class Callable:\n    def __call__(self, X, training=False):\n        return fancy(X, training)")
    end.run("made = Callable()")
    for name, added in {"fancy": 1, "half": 1, "made": 1, "plain": 0, "fixed": 0, "any_option": 0}.items():
        assert as_layer(end.find(name))(X, training=True)[0][0] == added, name


def test_a_layer_keeps_the_nine_rules_across_the_wire(end):
    layer = end.find("Scale", LAYER)(3)
    assert isinstance(layer, Layer) and type(layer).__name__ == "Scale"
    assert list(layer.named_parameters()) == ["factor"] and layer.width == 3
    report = gradcheck(layer, np.random.default_rng(0).normal(size=(5, 3)))
    assert report.ok and [row.name for row in report.rows] == ["input X", "factor"]


def test_a_wrong_layer_is_found_across_the_wire(end):
    end.run(LAYER.replace("self.factor.grad +=", "self.factor.grad ="))
    report = gradcheck(end.find("Scale")(3), np.random.default_rng(0).normal(size=(5, 3)))
    assert "overwritten" in report.problems[0]


def test_a_function_s_parameters_are_found(end):
    end.run(LAYER + "\nW = Parameter([2.0])\nlayers = [Scale(1)]\n")
    end.run("def chain(f, names):\n    return lambda X: f(W.data * X)[0] + len(names)")
    end.run("made = chain(layers[0], {'a': W})\nempty = chain(len, ())")
    end.run("def late():\n    yield lambda: value\n    value = 1\nunset = next(late())")
    assert set(vars(end.find("made"))) == {"f", "W", "names"}
    assert isinstance(end.find("made").W, Parameter)
    assert set(vars(end.find("empty"))) == {"W"} and vars(end.find("unset")) == {}


def test_attributes_are_mirrored_both_ways(end):
    layer = end.find("layer", LAYER + "\nlayer = Scale(3)")
    layer.width = 5
    end.run("layer.width += 2; layer.note = 'changed'; del layer.factor")
    assert layer.width == 7 and layer.note == "changed" and not hasattr(layer, "factor")


@pytest.mark.parametrize("name", ["__array__", "__array_interface__", "__array_struct__", "__float__"])
def test_numpy_sees_no_special_attributes_of_an_object(end, name):
    end.run("class Thing: width = 3\nthing = Thing()\nthing.factor = 2.0")
    end.run(f"setattr(thing, '{name}', {{'shape': (3,), 'typestr': '<f8', 'data': (8, True), 'version': 3}})")
    thing = end.find("thing")
    assert (thing.width, thing.factor) == (3, 2.0) and name not in vars(thing)
    assert np.asarray(thing).dtype == object


def test_a_frame_with_a_special_attribute_is_refused(end, monkeypatch):
    monkeypatch.setattr("classroom.wire.is_special", lambda name: False)  # as a patched child would
    end.run("class Thing: pass\nthing = Thing()\nthing.__array_interface__ = {'data': (8, True)}")
    with pytest.raises(Ended, match="a special attribute"):
        end.find("thing")


def test_a_function_wrapped_by_the_library_is_shown(end):
    end.run("from minigrad.layer import as_layer\nlayer = as_layer(lambda X: (2 * X, lambda dY: 2 * dY))")
    assert end.find("layer").__wrapped__(np.ones(2))[0].tolist() == [2.0, 2.0]


def test_a_class_and_its_object_are_described_by_its_name(end):
    Scale = end.find("Scale", LAYER)
    assert (described(Scale), described(Scale(3))) == ("the class Scale", "a Scale")


def test_class_attributes_are_fetched(end):
    cls = end.find("Scale", LAYER)
    layer = cls(3)
    assert layer.kind == cls.kind == "a scale" and callable(layer.forward)
    assert isinstance(cls, type) and issubclass(cls, Layer)
    for thing in (cls, layer, end.find("plain", "plain = type('Plain', (), {})()")):
        assert not hasattr(thing, "__wrapped__") and not hasattr(thing, "absent")
    assert type(layer).kind.__get__(None, type(layer)) is vars(type(layer))["kind"]


def test_a_copy_of_a_layer_is_the_layer_itself(end):
    end.run(LAYER + "\nScale.__deepcopy__ = lambda self, memo: None\nlayer = Scale(3)")
    layer = end.find("layer")
    assert copy.deepcopy(layer) is layer


def test_objects_that_are_not_layers_have_their_own_methods(end):
    end.run("def count():\n    yield 1\n    yield 2")
    end.run("class Row:\n    __len__ = lambda self: 3\n    __getitem__ = lambda self, i: range(3)[i]")
    end.run("class Named:\n    def __repr__(self):\n        return 'a name'\nclass Plain:\n    pass")
    assert list(end.find("count")()) == [1, 2]
    row = end.find("Row")()
    assert np.asarray(row).dtype == object and not callable(row)  # it is not taken for three numbers
    with pytest.raises(TypeError):
        iter(end.find("Plain")())
    assert repr(end.find("Named")()) == "a name"


def test_layers_of_the_library_made_there_are_used_here(end):
    model = end.find("model", "from minigrad import Linear, ReLU\nmodel = Linear(3, 2, rng=0) >> ReLU()")
    assert isinstance(model, Sequential) and isinstance(model.layers[0], Linear)
    assert gradcheck(model, np.random.default_rng(0).normal(size=(5, 3))).ok


def test_layers_of_the_library_made_here_are_used_there(end):
    model = Linear(3, 2, rng=0) >> ReLU()
    end.run("def train(model, X):\n    Y, backward = model(X)\n    backward(Y)\n    return Y")
    X = np.ones((5, 3))
    np.testing.assert_array_equal(end.find("train")(model, X), model(X)[0])
    assert model.layers[0].b.grad.any()


def test_functions_of_the_check_are_called_here(end):
    seen = []

    def watch(X):
        seen.append(X.copy())
        return 2 * X, lambda dY: 2 * dY

    watch.note = 5
    end.run("def both(f):\n    def g(X):\n        Y, back = f(X)\n        return f(Y)[0], back\n    return g")
    Y, back = end.find("both")(watch)(np.ones(2))
    np.testing.assert_array_equal(Y, [4, 4])
    np.testing.assert_array_equal(back(np.ones(2)), [2, 2])
    assert len(seen) == 2


def test_both_sides_may_call_each_other_in_turn(end):
    end.run("def down(n, f):\n    return 0 if n == 0 else 1 + f(n - 1)")
    down = end.find("down")

    def again(n):
        return down(n, again)

    assert down(5, again) == 5


def test_the_checks_objects_show_only_attributes_that_the_library_has(end):
    end.run("def read(thing, name):\n    return getattr(thing, name)")
    read = end.find("read")
    thing = SimpleNamespace(step=5, _secret=6, sentences=7)
    assert read(thing, "step") == 5
    for name in ("_secret", "sentences", "missing"):
        with pytest.raises(AttributeError, match=name):
            read(thing, name)
    with pytest.raises(AttributeError, match="is private"):  # nor the insides of a function
        read(test_a_builtin_has_no_code, "step")
    end.remote.home["p99"] = thing
    with pytest.raises(AttributeError, match="is private"):
        end.remote.serve("copy", "p99", None, None, {})


def test_functions_of_the_library_are_sent_by_name(end):
    end.run(
        "def names(*some):\n    return [f'{it.__module__}.{it.__name__}' for it in some[:2]], some[2](1.0)"
    )
    said, one = end.find("names")(mse, Linear, np.cos)
    assert said == ["minigrad.losses.mse", "minigrad.layers.linear.Linear"] and one == np.cos(1.0)
    assert end.remote.named(len) is None and end.remote.named(SimpleNamespace(__name__="mse")) is None


@pytest.mark.parametrize(
    ("source", "kind", "message"),
    [
        ("1 / 0", ZeroDivisionError, "division by zero"),
        ("raise NotImplementedError", NotImplementedError, None),
        ("from minigrad import ShapeError; raise ShapeError('odd')", ValueError, "odd"),
        ("class Mine(Exception): pass\n    raise Mine('own')", Exception, "own"),
        ("b'\\xff'.decode()", Exception, "invalid start byte"),
    ],
)
def test_what_is_raised_there_is_raised_here(end, source, kind, message):
    with pytest.raises(kind, match=message) as caught:
        end.find("f", f"def f():\n    {source}")()
    assert caught.value.place.startswith("(your line ")


def test_a_submissions_own_check_failed_is_not_the_checks(end):
    with pytest.raises(Exception) as caught:
        end.find("f", "class CheckFailed(Exception): pass\ndef f():\n    raise CheckFailed('passed')")()
    assert not isinstance(caught.value, CheckFailed)


@pytest.mark.parametrize("told", [5, ("a",), ("A", 5, ""), ("a b", "", "")])
def test_an_invalid_exception_is_refused(end, told):
    with pytest.raises(WireError):
        end.remote.error(told)


def test_an_exception_of_a_callback_is_passed_on(end):
    def refuse(X):
        raise ValueError("not this one")

    with pytest.raises(ValueError, match="not this one"):
        end.find("f", "def f(g):\n    return g(1)")(refuse)
    end.run("def h(g):\n    try:\n        g(1)\n    except Exception as error:\n        return str(error)")
    assert end.find("h")(refuse) == "not this one"


def test_exit_in_a_cell_ends_the_cell_alone(end):
    with pytest.raises(RuntimeError, match="SystemExit"):
        end.run("X = 3\nraise SystemExit")
    assert end.find("X") == 3


def test_a_missing_name(end):
    with pytest.raises(NameError):
        end.find("nothing")


def test_a_call_that_takes_too_long_is_ended(end):
    end.remote.seconds = 0.2
    began = time.monotonic()
    with pytest.raises(Ended, match="longer than"):
        end.find("f", "import time\ndef f():\n    time.sleep(4)")()
    assert time.monotonic() - began < 10 * end.remote.seconds


def test_a_process_that_sends_too_much_is_ended(end, monkeypatch):
    f = end.find("f", "import numpy as np\ndef f(count):\n    return np.zeros(count)")
    monkeypatch.setattr(remote, "SENT", 20_000)  # little enough to wait in the pipe
    f(1000)
    with pytest.raises(Ended, match="sends more than 64 MB"):
        f(4000)


def test_when_the_time_of_all_is_over_nothing_is_asked_any_more(end):
    end.remote.end, end.remote.why = end.remote.clock.now() - 1, "its time is over"
    with pytest.raises(Ended, match="its time is over"):
        end.run("pass")


def pipes(*frames):
    """Return a Remote that reads these bytes, and then the end of the pipe."""
    (source, there), (here, target) = os.pipe(), os.pipe()
    for frame in frames:
        os.write(there, frame)
    os.close(there)
    return Remote(source, target), here


def test_a_process_that_has_ended_is_noticed():
    asking, here = pipes()
    with pytest.raises(Ended, match="ended Python"):
        asking.ask("find", name="X")
    os.close(here)
    with pytest.raises(Ended, match="ended Python"):
        asking.ask("find", name="X")
    for pipe in (asking.source, asking.target):
        os.close(pipe)


def test_rubbish_in_the_pipe_ends_it():
    asking, here = pipes(pack({"do": "return"}, []))
    with pytest.raises(Ended, match="cannot read its return value"):
        asking.ask("find", name="X")
    for pipe in (here, asking.source, asking.target):
        os.close(pipe)


def verdict(exercise, answer):
    """Return whether an answer passes, and its message without the place, which differs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return True, exercise.judge(answer, attempt=5)
        except CheckFailed as no:
            return False, no.sentence.replace("using it raises", "it raises")


def compare(end, exercise, right, refused, parts=2):
    """Assert that answers get the same verdict, and optionally the same message, with the wire as without."""
    end.run("from course.checks import find\nfrom tests.answers import answers_to")
    end.run(f"answers = answers_to(find({exercise.name!r}))")
    for kind, number in [("right", n) for n in right] + [("refused", n) for n in refused]:
        answer = getattr(answers_to(exercise), kind)[number]
        answer = answer if kind == "right" else answer[1]
        end.run(f"answer = answers.{kind}[{number}]")
        end.run("answer = answer if not isinstance(answer, tuple) else answer[1]")
        here, there = verdict(exercise, answer), verdict(exercise, end.find("answer"))
        assert there[:parts] == here[:parts], (kind, number)


@pytest.mark.parametrize("exercise", ASKED, ids=lambda exercise: exercise.name)
def test_an_answer_gets_the_same_verdict_across_the_wire(end, exercise):
    compare(end, exercise, [0], [0])


@pytest.mark.long
@pytest.mark.parametrize("exercise", ASKED, ids=lambda exercise: exercise.name)
def test_every_answer_gets_the_same_verdict_across_the_wire(end, exercise):
    right, refused = answers_to(exercise)
    compare(end, exercise, range(len(right)), range(len(refused)), parts=1)


def test_the_name_that_is_looked_up_is_the_one_that_the_notebook_checks():
    for path in PROJECT.glob("solutions/*/*.ipynb"):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.source.startswith("check("):
                name = cell.source.split('"')[1]
                assert cell.source.startswith(f'check("{name}", {name.partition(".")[2]})'), path.stem


# The check's own data


TOUCH = {  # the source of f(X, p, rng), and whether it changes the check's data
    "nothing": ("return X + 1", False),
    "a gradient added to": ("p.grad += 1.0", False),
    "a gradient put in the place of another": ("p.grad = np.ones(3)", False),
    "a gradient put there and added to": ("p.grad = np.ones(3)\n    p.grad += 1", False),
    "drawing": ("rng.normal(size=7)\n    rng.integers(5)\n    rng.permutation(3)", False),
    "drawing the same once more": (
        "before = rng.bit_generator.state\n    rng.normal(size=7)\n    rng.bit_generator.state = before",
        False,
    ),
    "an array put back": ("X[0] = 0\n    hand(X)\n    X[0] = 1", False),
    "an array that the check changes, put back": ("other(X)\n    X[0] = 1", False),
    "drawing 32 bits": ("rng.integers(5, dtype=np.int32)", False),
    "an array of the check's": ("X[0] = 0", True),
    "one changed before it is given away and not put back": ("X[0] = 0\n    other(X)", True),
    "a Parameter's data": ("p.data[0] = 0", True),
    "a Parameter's data, which is its gradient": ("p.grad = p.data\n    p.data[...] = 0", True),
    "an array that is the gradient of the check's Parameter": ("p.grad = X\n    X[...] = 0", True),
    "an array that is the gradient of another Parameter": ("q.grad = X\n    X[...] = 0", True),
    "an array that becomes such a gradient one question later": (
        "hand(q)\n    q.grad = X\n    hand(q)\n    X[...] = 0",
        True,
    ),
    "a Parameter's data put in the place of another": ("p.data = np.zeros(3)", True),
    "a generator set to zeros": (
        "state = rng.bit_generator.state\n    state['state'] = {'state': 0, 'inc': 0}\n"
        "    rng.bit_generator.state = state",
        True,
    ),
    "a generator set to another seed": ("rng.bit_generator.state = type(rng.bit_generator)(1).state", True),
    "a generator set to other bits that wait": (
        "state = rng.bit_generator.state\n    state.update(has_uint32=1, uinteger=0)\n"
        "    rng.bit_generator.state = state",
        True,
    ),
    "a generator set back to where it was before it was handed over": ("rng.bit_generator.advance(-1)", True),
}


@pytest.mark.parametrize(("body", "touched"), TOUCH.values(), ids=TOUCH)
def test_the_checks_gradients_may_be_filled_and_its_generators_drawn_from_and_nothing_changed(
    end, body, touched
):
    end.run("import numpy as np\nfrom minigrad import Parameter\nq, kept = Parameter(np.zeros(3)), []")
    f = end.find("f", f"def f(X, p, rng, hand, other):\n    {body}")
    rng = np.random.default_rng(3)
    rng.integers(9, dtype=np.int32)
    parameter = Parameter([1.0, 2.0, 3.0])
    X = np.ones(3)
    f(X, parameter, rng, lambda thing: None, lambda thing: thing.__setitem__(slice(1), 5.0))
    assert end.remote.touched == touched


def test_the_gradients_of_the_submissions_own_parameters_are_free(end):
    end.run(LAYER)
    layer = end.find("Scale")(3)
    layer.zero_grad()
    _, backward = layer(np.ones((5, 3)))
    backward(np.ones((5, 3)))
    assert layer.factor.grad.all() and not end.remote.touched


def test_drawing_from_a_generator_is_distinguished_from_setting_it():
    rng = np.random.default_rng(5)
    before = rng.bit_generator.state
    for draw in (rng.random, rng.standard_normal, lambda: rng.integers(9, dtype=np.int32)):
        draw()
        assert remote.is_drawn_from(before, rng.bit_generator.state)
    rng.random(100_000)
    assert remote.is_drawn_from(before, rng.bit_generator.state)
    far = np.random.default_rng(5)
    far.bit_generator.advance(2**24 - 1)
    tracemalloc.start()
    assert remote.is_drawn_from(before, far.bit_generator.state)
    assert tracemalloc.get_traced_memory()[1] < 1e5  # no number was drawn
    tracemalloc.stop()
    rng.bit_generator.advance(2**40)
    assert not remote.is_drawn_from(before, rng.bit_generator.state)
    assert not remote.is_drawn_from(rng.bit_generator.state, before)
    philox = np.random.Philox(1).state
    assert not remote.is_drawn_from(before, philox)
