"""minigrad: a neural-network library built on one idea.

A forward pass returns its result and the function for the backward pass: `Y, backward = layer(X)`, then
`dX = backward(dY)`. The names imported here are public, in about the order in which the course builds them.

Examples
--------
One seed is enough for a whole model: each layer draws its weights in turn.

>>> X, T = moons(500, rng=0)
>>> model = (Linear(2, 32) >> ReLU() >> Linear(32, 2)).initialize(X, rng=0)
>>> learner = Learner(model, cross_entropy, SGD(learning_rate=0.5), metrics=accuracy)
>>> history = learner.fit(X, T, epochs=100)
>>> learner.evaluate(*moons(500, rng=1))["accuracy"] > 0.98
True
"""

from minigrad.check.checker import gradcheck
from minigrad.check.numerical import numerical_gradient
from minigrad.parameter import Buffer, Parameter
from minigrad.layer import Layer, Sequential, as_layer, observed
from minigrad.layers.linear import Linear
from minigrad.layers.activations import GELU, ReLU, Sigmoid, Softmax, Tanh
from minigrad.layers.combinators import Add, Parallel, Residual, Twin, Watch, chain
from minigrad.layers.reductions import Flatten, Max, Mean, Reshape, Sum
from minigrad.layers.normalization import BatchNorm, Dropout, LayerNorm
from minigrad.layers.convolution import Conv2d, MaxPool2d
from minigrad.layers.recurrent import LSTM, RNN
from minigrad.layers.embedding import Embedding, Positions
from minigrad.layers.attention import MultiHeadAttention, TransformerBlock
from minigrad.losses import bce_with_logits, cosine_distance, cross_entropy, mse
from minigrad.optimizers import SGD, Adam, AdamW, RMSProp, clip_grad_norm, cosine
from minigrad.accuracy import accuracy
from minigrad.learner import History, Learner
from minigrad.data import batches, digits, moons, one_hot, pad, spirals, split
from minigrad.checkpoint import CheckpointError, load, save
from minigrad.initializers import glorot, he, lecun, orthogonal, zeros
from minigrad.shapes import ShapeError
from minigrad.backend import array_module, to_device, to_numpy

# Extensions that the chapters build; the rest of the library never imports them.
from minigrad.beyond.early_stopping import EarlyStopping
from minigrad.beyond.model_files import load_model, save_model
from minigrad.beyond.pure import FunctionalLayer, functional, values_of, with_values
from minigrad.beyond.sharing import replica
from minigrad.beyond.similarity import CosineSimilarity
from minigrad.beyond.recompute import Recompute
from minigrad.beyond.parallel import ConcurrentLearner, average_gradients, broadcast
from minigrad.beyond.evaluator import Evaluator

__version__ = "0.1.0"
__all__ = [name for name, thing in globals().items() if hasattr(thing, "__module__") and name[0] != "_"]
