"""Which chapter builds what: the order in which names of the library may be used.

Holds two tables. Leaves out who asks: the rules of notebooks (a chapter uses nothing that a later one builds)
and the student edition of the library (``classroom.edition``).
"""

# Which chapter builds a public name of the library.
BUILT = {
    "numerical_gradient": 1,
    "gradcheck": 3,
    **dict.fromkeys(("Parameter", "Layer", "Linear", "Sum", "ReLU"), 4),
    **dict.fromkeys(("chain", "Sequential", "as_layer", "Residual", "Parallel", "Add", "Watch"), 5),
    **dict.fromkeys(("Sigmoid", "Tanh"), 5),
    **dict.fromkeys(("Mean", "Max", "Flatten", "Reshape", "Transpose"), 5),
    **dict.fromkeys(("mse", "bce_with_logits", "cross_entropy", "Softmax"), 6),
    **dict.fromkeys(("SGD", "Learner", "History", "accuracy", "batches", "xor", "moons", "spirals"), 7),
    **dict.fromkeys(("digits", "split", "one_hot", "save", "load", "CheckpointError"), 8),
    **dict.fromkeys(("save_model", "load_model"), 8),
    "EarlyStopping": 8,
    **dict.fromkeys(("RMSProp", "Adam", "AdamW", "clip_grad_norm", "cosine", "exponential"), 9),
    **dict.fromkeys(("lecun", "glorot", "he", "orthogonal", "zeros", "Buffer"), 10),
    **dict.fromkeys(("Dropout", "BatchNorm", "LayerNorm"), 10),
    **dict.fromkeys(("ShapeError", "observed", "functional", "values_of", "with_values"), 12),
    "FunctionalLayer": 12,
    **dict.fromkeys(("cosine_distance", "Twin", "replica"), 13),
    **dict.fromkeys(("CosineSimilarity", "Conv2d", "MaxPool2d"), 14),
    **dict.fromkeys(("pad", "RNN", "LSTM"), 15),
    **dict.fromkeys(("Embedding", "Positions", "MultiHeadAttention", "GELU"), 16),
    "TransformerBlock": 17,
    "Recompute": 19,
    **dict.fromkeys(("array_module", "to_numpy", "to_device"), 21),
    **dict.fromkeys(("ConcurrentLearner", "average_gradients", "broadcast"), 22),
    "Evaluator": 23,
}
APART = {"minigrad.graph": 11, "minigrad.bridge": 11}  # modules that `minigrad` does not export, named whole
