"""One table of the floors of the house; tests/house/test_floors.py holds the rule, and the book draws it."""

import ast

GROUND = "habits settings shapes parameter backend parts initializers losses accuracy".split()
GROUND += ["diagnosis", "data"]
FIRST = "layer optimizers checkpoint blueprint trial gradcheck graph".split()
LAYERS = (
    "weighted linear activations combinators reductions normalization convolution recurrent embedding".split()
)
LAYERS += ["attention", "recompute", "similarity"]
TOP = "learner early_stopping replica functional parallel evaluator bridge".split()

# From the ground up: what each file of the library may import from the library.
MAY = {name: {"settings", "shapes"} for name in GROUND}
MAY["settings"], MAY["shapes"] = set(), {"settings"}
MAY["losses"] |= {"backend"}
MAY["parts"] |= {"parameter"}
MAY["parameter"] |= {"habits"}
MAY |= {name: {"habits", "settings", "shapes", "parameter", "backend", "parts"} for name in FIRST}
MAY["checkpoint"] |= {"layer"}
MAY["blueprint"] |= {"layer", "checkpoint"}
MAY["trial"] |= {"layer"}
MAY["gradcheck"] |= {"layer", "diagnosis", "trial"}
MAY["graph"] |= {"layer", "losses"}
below = {"habits", "settings", "shapes", "parameter", "backend", "parts", "initializers", "layer"}
for name in LAYERS:
    MAY[f"layers.{name}"] = set(below)
    below |= {f"layers.{name}"}
MAY |= {name: {*GROUND, *FIRST} for name in TOP}
MAY["parallel"] |= {"learner", "replica"}
MAY["evaluator"] |= {"learner"}

# And of what stands around it, lowest first: a row imports from itself and from the rows before it.
AROUND = "browser style store built gather xray bugs cupy_stand_in gpu mpi addition figures checks".split()
AROUND += ["keep", "widgets", "grading", "release", "recall", "build", "bundle", "colab"]


def imports(path, everywhere=True):
    """Return the dotted names that a file imports; at its top only, or also inside functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = list(ast.walk(tree)) if everywhere else tree.body
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}, line {node.lineno}: write the import in full, without dots"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names
