"""PyTorch and JAX modules as layers, and layers as PyTorch modules.

The other library's backward pass is wrapped in the `backward` closure of a Layer.
Holds from_torch and from_jax, which make a Layer, and to_torch, which makes a PyTorch module.
No other file of the library uses this one, and `minigrad` does not export it; PyTorch and JAX are
imported by the functions that need them. GPUs are not supported: the libraries exchange arrays through the
memory of the CPU. Built in chapter 11.
"""

import contextlib
import copy
import functools
import importlib
import threading

import numpy as np

from minigrad.layer import Layer, require_drawn
from minigrad.parameter import Buffer, Parameter
from minigrad.parts import named_parts
from minigrad.settings import as_generator
from minigrad.shapes import arrays_of, require_array

_SEEDED = threading.Lock()  # PyTorch has one random generator for all threads
_ADDING = threading.RLock()  # one thread at a time separates new gradients from old ones


def from_torch(module, rng=None):
    """Return a PyTorch module as a Layer that shares its weights: training one trains the other.

    Parameters
    ----------
    module : torch.nn.Module
        On the CPU, in float32 or float64, without lazy modules. An array is passed to it as one tensor, and a
        tuple of arrays as several; it returns a tensor, or a tuple of tensors.
    rng : int or numpy.random.Generator, optional
        The source of random numbers in training, for a Dropout for example; saved with the layer. Without it,
        PyTorch's own generator is used, whose state our checkpoints do not contain.

    Returns
    -------
    Layer
        Its Parameters and Buffers are `parts["0.weight"]`, under the names that they have in the module, and
        `module` is the module. Their data are arrays that share the memory of the tensors. A tensor with
        `requires_grad=False` is a Parameter with `trainable=False`, and vice versa.

    Raises
    ------
    ImportError
        If PyTorch is not installed.
    TypeError
        If module is not a Module, or has weights of another float type, or complex ones.

    Notes
    -----
    Floats are converted to the type of the module's weights, and Y is of that type; dX is of X's type. So in
    a model of float64, a module of float32 computes in float32: `model.to(np.float64)` converts the module,
    too. Integers are passed unchanged, and have no dX.

    The module is put into training or evaluation mode for each pass, and then back; its BatchNorm updates its
    averages only in training. Forward passes of several threads through one layer take turns;
    replicas have their own modules. No other code should run the module meanwhile.

    `save` and `load` work for the weights; `save_model` raises an error, since the module itself is code.

    References
    ----------
    Thinc, "Concept and Design". Chapter 11.

    Examples
    --------
    With PyTorch installed::

        module = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.Tanh())
        model = Linear(2, 16, rng=0) >> from_torch(module) >> Linear(16, 2, rng=1)
        Learner(model, cross_entropy, Adam(0.01)).fit(*moons(200, rng=0), epochs=5)
        model.layers[1].parts["0.weight"]  # Parameter(16, 16), the data of module[0].weight
    """
    torch = _imported("torch", "PyTorch", "from_torch")
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"from_torch makes a Layer of a torch.nn.Module, got {module!r}.")
    return _FromTorch(module, rng)


def from_jax(function, params):
    """Return a JAX function of its parameters and X as a Layer.

    Parameters
    ----------
    function : callable, (params, X) -> Y
        Written with `jax.numpy`, with or without `jax.jit`. Y is an array, or a tuple of arrays.
    params : pytree of float arrays
        Nested dicts, lists and tuples of arrays. The arrays are copied.

    Returns
    -------
    Layer
        Its Parameters are `parts["layers.0.W"]`, named by their path in the pytree. `params` is the pytree
        with the current values, for JAX.

    Raises
    ------
    ImportError
        If JAX is not installed.

    Notes
    -----
    (dparams, dX) = vjp(dY), with Y, vjp = jax.vjp(function, params, X). JAX computes in float32 by
    default; if X or a Parameter is float64, float64 is enabled for this pass alone. JAX's arrays never
    change, so each pass gets copies of the Parameters. Integers have no dX.

    References
    ----------
    Thinc, "Concept and Design". Chapter 11.

    Examples
    --------
    With JAX installed::

        def mlp(params, X):
            return jax.numpy.tanh(X @ params["W"]) @ params["V"]

        params = {"W": np.eye(2, 16), "V": np.zeros((16, 2))}
        layer = from_jax(jax.jit(mlp), params)
        gradcheck(layer, np.ones((5, 2))).ok  # True
    """
    _imported("jax", "JAX", "from_jax")
    return _FromJax(function, params)


def to_torch(layer):
    """Return a Layer as a PyTorch module that shares its weights, for use inside a PyTorch model.

    Parameters
    ----------
    layer : Layer or function, X -> (Y, backward)
        It must be initialized.

    Returns
    -------
    torch.nn.Module
        Called with one tensor, or with several for a layer that takes a tuple. Its nn.Parameters and buffers
        have the names of the layer's, in `state_dict()` as well, and share their memory, so that
        `torch.optim` trains both. `train()` and `eval()` set the layer's `training`.

    Raises
    ------
    ImportError
        If PyTorch is not installed.
    TypeError
        If layer is not a layer.
    ValueError
        If the layer is not initialized.
    RuntimeError
        If the weights are no longer shared, or a second derivative is requested.

    Notes
    -----
    Y has the float type of X, whatever the layer computes in, as it should be inside a model; the gradients
    of the weights are added to the `.grad` of the nn.Parameters, and those of the layer's Parameters do not
    change. `module.double()` converts the layer, too; after `layer.to(...)` the memory is no longer shared:
    call to_torch again. The module cannot be called with other weights, by `torch.func.functional_call`:
    the layer's backward uses its own.

    References
    ----------
    Thinc, "Concept and Design". Chapter 11.

    Examples
    --------
    With PyTorch installed::

        module = to_torch(Linear(2, 16, rng=0) >> ReLU() >> Linear(16, 2, rng=1)).float()
        model = torch.nn.Sequential(module, torch.nn.Softmax(dim=1))
        model(torch.ones(5, 2)).sum().backward()
        list(module.state_dict())  # ['layers.0.W', 'layers.0.b', 'layers.2.W', 'layers.2.b']
    """
    _imported("torch", "PyTorch", "to_torch")
    return _module_class()(require_drawn(layer))


def _imported(name, words, who):
    """Import another library; raise an error that says how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(
            f'{who} needs {words}, which is not installed: pip install "minigrad-course[{name}]", '
            f"or {name} alone."
        ) from error


# Memory shared by an array and a tensor ------------------------------------------------------------------


def _as_tensor(array):
    """Return an array as a tensor: on the same memory if PyTorch allows it, otherwise a copy."""
    import torch

    array = np.asarray(array)
    if not array.flags.writeable or any(stride < 0 for stride in array.strides):
        array = array.copy()
    return torch.from_numpy(array)


def _as_array(tensor, known=None):
    """Return an array on a tensor's memory: the known one, if it is still on it."""
    array = tensor.detach().numpy()
    is_still = known is not None and array.__array_interface__ == known.__array_interface__
    return known if is_still else array


class _OnTensor:
    """The base class of a Parameter and a Buffer on a tensor, whose data is an array on its memory."""

    __slots__ = ()

    def __init__(self, tensor):
        self.tensor, self._known = tensor, None

    @property
    def data(self):
        """The array on the tensor's memory; setting it gives the tensor this memory."""
        self._known = _as_array(self.tensor, self._known)
        return self._known

    @data.setter
    def data(self, array):
        if array is not self.data:
            self.tensor.data, self._known = _as_tensor(array), np.asarray(array)

    def __deepcopy__(self, memo):
        twin = memo[id(self)] = type(self)(copy.deepcopy(self.tensor, memo))
        if id(self.data) in memo:  # a replica shares the data
            twin.data = memo[id(self.data)]
        return twin


class _TensorParameter(_OnTensor, Parameter):
    """A Parameter with the data of a tensor; it is trainable if the tensor requires a gradient."""

    __slots__ = ("tensor", "_known")

    def __init__(self, tensor):
        super().__init__(tensor)
        self.grad = np.zeros_like(self.data)

    @property
    def trainable(self):
        """Whether the tensor requires a gradient in PyTorch."""
        return self.tensor.requires_grad

    @trainable.setter
    def trainable(self, trainable):
        self.tensor.requires_grad_(bool(trainable))

    def __deepcopy__(self, memo):
        twin = super().__deepcopy__(memo)
        twin.grad = self.grad.copy()
        return twin


class _TensorBuffer(_OnTensor, Buffer):
    """A Buffer with the data of a tensor; integers, which `to` does not convert, are allowed."""

    __slots__ = ("tensor", "_known")

    def convert(self, function):
        """Replace data by function(data), if they are floats."""
        if self.data.dtype.kind == "f":
            super().convert(function)


# From PyTorch --------------------------------------------------------------------------------------------


class _FromTorch(Layer):
    """The layer that from_torch returns."""

    not_parts = ("module", "turns")  # copied separately

    def __init__(self, module, rng=None):
        self.module, self.turns = module, threading.Lock()
        self.rng = None if rng is None else as_generator(rng)
        self.parts = {}
        self.tie()

    def tie(self):
        """Set each Parameter and Buffer to the tensor that the module now has under its name."""
        tensors = dict(self.module.named_parameters()) | dict(self.module.named_buffers())
        learn = dict(self.module.named_parameters())
        for name, tensor in tensors.items():
            if tensor.dtype.itemsize < 4 and tensor.is_floating_point() or tensor.is_complex():
                raise TypeError(f"{name} is of {tensor.dtype}, but minigrad supports float32 and float64.")
            if name in self.parts:
                self.parts[name].tensor = tensor
            else:
                self.parts[name] = (_TensorParameter if name in learn else _TensorBuffer)(tensor)

    def forward(self, X, training=False, need_dX=True):
        """Return the module's result, and autograd's backward pass as a closure."""
        import torch

        inputs = [_as_tensor(entry) for entry in arrays_of(X)]
        differentiable = [tensor for tensor in inputs if need_dX and tensor.is_floating_point()]
        for tensor in differentiable:
            tensor.requires_grad_()
        with self.turns, torch.enable_grad(), _mode(self.module, training), _seeded(training and self.rng):
            self.tie()
            learn = {name: part for name, part in self.parts.items() if isinstance(part, Parameter)}
            # On the same memory, in a graph of this pass alone; frozen ones, too: they also get gradients.
            weights = {name: part.tensor.detach().requires_grad_() for name, part in learn.items()}
            floats = next((tensor.dtype for tensor in weights.values()), None)
            # Copies, since a module may change its input.
            given = [t.to(floats if t.is_floating_point() else t.dtype, copy=True) for t in inputs]
            result = torch.func.functional_call(self.module, weights, tuple(given))
            if training:
                self.tie()  # a module may have replaced a buffer by a new tensor
        outputs = arrays_of(result)
        leaves = [*differentiable, *weights.values()]

        def backward(dY):
            pairs = zip(outputs, arrays_of(dY), strict=True)
            pairs = [(output, g) for output, g in pairs if output.requires_grad and g is not None]
            gradients = [torch.zeros_like(leaf) for leaf in leaves]
            if pairs and leaves:
                reached = [output for output, _ in pairs]
                dY_of = [_as_tensor(g).to(output.dtype) for output, g in pairs]
                keep = {"retain_graph": True, "allow_unused": True, "materialize_grads": True}
                gradients = torch.autograd.grad(reached, leaves, dY_of, **keep)  # may be called again
            gradients = [gradient.contiguous().numpy() for gradient in gradients]
            for parameter, gradient in zip(learn.values(), gradients[len(differentiable) :], strict=True):
                parameter.grad += gradient
            dX_of = iter(gradients)
            dX = tuple(next(dX_of) if tensor.requires_grad else None for tensor in inputs)
            return dX if isinstance(X, tuple) else dX[0]

        Y = tuple(output.detach().contiguous().numpy() for output in outputs)
        return (Y if isinstance(result, tuple) else Y[0]), backward

    def check_input(self, X):
        """Raise TypeError unless X is an array of numbers."""
        for entry in arrays_of(X):
            require_array(self, entry)

    def __deepcopy__(self, memo):
        # Its parts are on copies of the tensors, or in a replica on the same ones.
        twin = super().__deepcopy__(memo)
        for name, part in self.parts.items():
            memo[id(part.tensor)] = twin.parts[name].tensor
        twin.module, twin.turns = copy.deepcopy(self.module, memo), threading.Lock()
        return twin

    def __repr__(self):
        return f"from_torch({type(self.module).__name__})"


@contextlib.contextmanager
def _mode(module, training):
    """Put a PyTorch module into training or evaluation mode, and restore the mode of each part afterwards."""
    before = [(part, part.training) for part in module.modules()]
    module.train(training)
    try:
        yield
    finally:
        for part, was_training in before:
            part.training = was_training


@contextlib.contextmanager
def _seeded(rng):
    """Seed PyTorch from this Generator, if there is one, and restore PyTorch's generator afterwards."""
    import torch

    if not rng:
        yield
        return
    with _SEEDED:
        before = torch.get_rng_state()
        torch.default_generator.manual_seed(int(rng.integers(2**63)))
        try:
            yield
        finally:
            torch.set_rng_state(before)


# From JAX ------------------------------------------------------------------------------------------------


class _FromJax(Layer):
    """The layer that from_jax returns."""

    not_parts = ("function", "tree")  # a pure function and a tree structure, without Parameters

    def __init__(self, function, params):
        import jax

        paths, self.tree = jax.tree_util.tree_flatten_with_path(params)
        self.function, self.parts = function, {}
        for path, leaf in paths:
            name = jax.tree_util.keystr(path, simple=True, separator=".")
            self.parts[name] = Parameter(leaf if hasattr(leaf, "dtype") else jax.numpy.asarray(leaf))

    @property
    def params(self):
        """The pytree, with copies of the current values."""
        return self.tree.unflatten([part.data.copy() for part in self.parts.values()])

    def forward(self, X, need_dX=True):
        """Return the function's result, and JAX's backward pass as a closure."""
        import jax

        parameters = list(self.parts.values())
        arrays = [*(part.data for part in parameters), *arrays_of(X)]
        is_double = any(array.dtype == np.float64 for array in arrays)
        precision = functools.partial(jax.enable_x64, True) if is_double else contextlib.nullcontext

        def given(array):
            # a copy: JAX computes later, perhaps on our memory, which may have changed by then
            return jax.numpy.asarray(np.array(array))

        with precision():
            params, x = jax.tree.map(given, (self.tree.unflatten([part.data for part in parameters]), X))
            if need_dX:
                result, vjp = jax.vjp(self.function, params, x)
            else:
                result, vjp = jax.vjp(lambda params: self.function(params, x), params)
            Y = jax.tree.map(np.array, result)

        def backward(dY):
            with precision():
                dY = jax.tree.map(_cotangent, result, dY, is_leaf=lambda part: part is None)
                dparams, *dX = vjp(dY)
                gradients = [np.asarray(gradient) for gradient in self.tree.flatten_up_to(dparams)]
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter.grad += gradient
            if not need_dX:
                return (None,) * len(X) if isinstance(X, tuple) else None
            return jax.tree.map(_dX_of, X, dX[0])

        return Y, backward

    def check_input(self, X):
        """Raise TypeError unless X is an array of numbers."""
        for entry in arrays_of(X):
            require_array(self, entry)

    def __repr__(self):
        return f"from_jax({getattr(self.function, '__name__', 'function')})"


def _cotangent(Y, dY):
    """Return dY as JAX needs it: of Y's type, or of the type float0 if Y holds integers."""
    import jax

    if not jax.numpy.issubdtype(Y.dtype, jax.numpy.floating):
        return np.zeros(Y.shape, jax.dtypes.float0)
    return jax.numpy.asarray(np.array(np.zeros(Y.shape) if dY is None else dY), Y.dtype)


def _dX_of(X, dX):
    """Return dX as an array, or None if X holds integers."""
    return np.array(dX) if X.dtype.kind == "f" else None


# To PyTorch ----------------------------------------------------------------------------------------------


@functools.cache
def _module_class():
    """Define the class of to_torch's modules in a function, since PyTorch may not be installed."""
    import torch

    class Pass(torch.autograd.Function):
        """One pass: a node of PyTorch's graph that keeps the layer's backward."""

        @staticmethod
        def forward(ctx, module, count, *tensors):
            """Run the layer on the first tensors; the others are its weights."""
            X = tuple(tensor.detach().numpy() for tensor in tensors[:count])
            need_dX = any(ctx.needs_input_grad[2 : 2 + count])
            Y, ctx.layer_backward = module.minigrad(
                X if count > 1 else X[0], training=module.training, need_dX=need_dX
            )
            ctx.parameters, ctx.count, ctx.is_many = module.learn, count, isinstance(Y, tuple)
            ctx.save_for_backward(*tensors)  # so that PyTorch detects changes in place
            floats = next((t.dtype for t in tensors[:count] if t.is_floating_point()), None)
            # Copies, since other code may change them.
            outputs = [torch.from_numpy(np.array(entry)) for entry in arrays_of(Y)]
            outputs = [entry.to(floats) if entry.is_floating_point() else entry for entry in outputs]
            ctx.mark_non_differentiable(*(entry for entry in outputs if not entry.is_floating_point()))
            return tuple(outputs) if ctx.is_many else outputs[0]

        @staticmethod
        def backward(ctx, *gradients):
            """Return the layer's dX, and the gradients that it adds to its weights."""
            if torch.is_grad_enabled():
                raise RuntimeError(
                    "a layer's backward is a function, not a graph, so to_torch has no second derivative: "
                    "call backward without create_graph=True."
                )
            tensors = ctx.saved_tensors
            dY = tuple(g.contiguous().numpy() if g.is_floating_point() else None for g in gradients)
            with _gradients_apart(ctx.parameters):
                dX = ctx.layer_backward(dY if ctx.is_many else dY[0])
                found = list(dX) if isinstance(dX, tuple) else [dX] * ctx.count  # None stands for all of them
                found += [parameter.grad for parameter in ctx.parameters]
            needed = zip(tensors, found, ctx.needs_input_grad[2:], strict=True)
            return (
                None,
                None,
                *(
                    torch.from_numpy(np.array(g)).to(tensor.dtype) if is_needed and g is not None else None
                    for tensor, g, is_needed in needed
                ),
            )

    class LayerModule(torch.nn.Module):
        """A minigrad layer; its nn.Parameters and buffers share the memory of the layer's."""

        def __init__(self, layer):
            super().__init__()
            self.minigrad = layer
            parts = named_parts(layer)
            self.shared = {name: part for name, part in parts if isinstance(part, (Parameter, Buffer))}
            self.learn = [part for part in self.shared.values() if isinstance(part, Parameter)]
            for name, part in self.shared.items():
                *path, last = name.split(".")
                owner = self
                for key in path:  # a dot in a name means a module inside a module
                    if key not in dict(owner.named_children()):
                        owner.add_module(key, torch.nn.Module())
                    owner = owner.get_submodule(key)
                tensor = torch.from_numpy(part.data)
                if isinstance(part, Parameter):
                    owner.register_parameter(last, torch.nn.Parameter(tensor, part.trainable))
                else:
                    owner.register_buffer(last, tensor)

        def tensors(self):
            """Return the tensor of each Parameter and Buffer of the layer, by name."""
            return dict(self.named_parameters()) | dict(self.named_buffers())

        def forward(self, *X):
            """Run the layer, after checking that it still shares its weights with this module."""
            tensors = self.tensors()
            for name, part in self.shared.items():
                if _as_array(tensors[name], part.data) is not part.data:
                    raise RuntimeError(
                        f"{name} of {self} is no longer shared with PyTorch: its array has been replaced. "
                        "Convert with module.double() or module.float(), or call to_torch again."
                    )
            weights = [tensors[name] for name, part in self.shared.items() if isinstance(part, Parameter)]
            return Pass.apply(self, len(X), *X, *weights)

        def _apply(self, convert, recurse=True):
            """Convert the tensors, as `double` and `float` do, and pass the new ones to the layer."""
            super()._apply(convert, recurse)
            for name, tensor in self.tensors().items():
                if tensor.device.type == "cpu":
                    self.shared[name].convert(lambda array, tensor=tensor: _as_array(tensor, array))
            return self

        def __deepcopy__(self, memo):
            twin = memo[id(self)] = LayerModule(copy.deepcopy(self.minigrad, memo)).train(self.training)
            of_twin = twin.tensors()
            for name, tensor in self.tensors().items():
                memo[id(tensor)] = of_twin[name].requires_grad_(tensor.requires_grad)
            return twin

        def __repr__(self):
            return f"to_torch({self.minigrad})"

    return LayerModule


@contextlib.contextmanager
def _gradients_apart(parameters):
    """Set the Parameters' gradients to zero for a backward, and restore the old ones afterwards."""
    with _ADDING:
        kept = [parameter.grad for parameter in parameters]
        for parameter in parameters:
            parameter.grad = np.zeros_like(parameter.data)
        try:
            yield
        finally:
            for parameter, gradient in zip(parameters, kept, strict=True):
                parameter.grad = gradient
