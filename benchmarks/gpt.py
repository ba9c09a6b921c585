"""A small GPT: initial weights, models in minigrad and PyTorch, a step in raw NumPy, matrix products.

Token and position embeddings, blocks of attention and two linear layers, a final norm, and a linear layer
that gives the logits. The other workloads are in other files, since a GPT has many kinds of weights.
Sizes are (tokens, width, width, ..., tokens), one width per block.
"""

import numpy as np

EPS = 1e-5  # added to the variance in a norm
WIDER = 4  # hidden width of a block's MLP, as a multiple of the block's width
BLOCK = 16  # arrays of a block: norm 2, queries 2, keys 2, values 2, output 2, norm 2, two linear layers 4


def start(workload, examples, rng):
    """Draw tokens, the next tokens, and the initial weights, in minigrad's order.

    Parameters
    ----------
    workload : Workload
    examples : int
    rng : numpy.random.Generator

    Returns
    -------
    X, T : array of integers (examples, steps)
    weights : list of tuple of array
        Token embeddings, position embeddings, a tuple of 16 for each block, the final norm, the linear layer.
    """
    n_tokens, *widths, _ = workload.sizes
    width = widths[0]

    def linear(n_in, n_out):
        return rng.standard_normal((n_in, n_out)) / np.sqrt(n_in), np.zeros(n_out)

    def norm():
        return np.ones(width), np.zeros(width)

    weights = [(rng.standard_normal((n_tokens, width)),), (rng.standard_normal((workload.steps, width)),)]
    for _ in widths:
        around = [array for _ in range(4) for array in linear(width, width)]
        weights.append(
            (*norm(), *around, *norm(), *linear(width, WIDER * width), *linear(WIDER * width, width))
        )
    weights += [norm(), linear(width, n_tokens)]
    text = rng.integers(n_tokens, size=(examples, workload.steps + 1))
    weights = [tuple(array.astype(workload.dtype) for array in arrays) for arrays in weights]
    return text[:, :-1].copy(), text[:, 1:].copy(), weights


def minigrad_model(workload, weights):
    """Make the model in minigrad, with copies of the weights."""
    import minigrad

    n_tokens, *widths, _ = workload.sizes
    rng = np.random.default_rng(0)
    model = minigrad.Sequential(
        minigrad.Embedding(n_tokens, widths[0], rng=rng),
        minigrad.Positions(workload.steps, widths[0], rng=rng),
        *(minigrad.TransformerBlock(width, workload.heads, causal=True, rng=rng) for width in widths),
        minigrad.LayerNorm(widths[-1]),
        minigrad.Linear(widths[-1], n_tokens, rng=rng),
    ).to(workload.dtype)
    arrays = (array for part in weights for array in part)
    for parameter, array in zip(model.parameters(), arrays, strict=True):
        parameter.data[...] = array
    return model


def torch_model(torch, workload, weights):
    """Make the model in PyTorch as in its tutorials, with copies of the weights.

    One product computes queries, keys and values, and attention is a single operation of PyTorch's. The
    logits have one row per token of the batch.
    """
    nn, attention = torch.nn, torch.nn.functional.scaled_dot_product_attention

    def own(array):
        return nn.Parameter(torch.from_numpy(array.copy()))

    def linear(W, b):
        layer = nn.Linear(*W.shape)
        layer.weight, layer.bias = own(W.T), own(b)
        return layer

    def norm(gain, shift):
        layer = nn.LayerNorm(len(gain), eps=EPS)
        layer.weight, layer.bias = own(gain), own(shift)
        return layer

    class Attention(nn.Module):
        def __init__(self, queries, keys, values, output):
            super().__init__()
            three = zip(queries, keys, values, strict=True)
            self.inputs = linear(*(np.concatenate(arrays, axis=-1) for arrays in three))
            self.output = linear(*output)

        def forward(self, X):
            batch, steps, width = X.shape
            split = self.inputs(X).view(batch, steps, 3, workload.heads, -1).permute(2, 0, 3, 1, 4)
            H = attention(*split, is_causal=True)
            return self.output(H.transpose(1, 2).reshape(batch, steps, width))

    class Block(nn.Module):
        def __init__(self, arrays):
            super().__init__()
            pairs = [arrays[i : i + 2] for i in range(0, BLOCK, 2)]
            self.norm, self.attention, self.second_norm = (
                norm(*pairs[0]),
                Attention(*pairs[1:5]),
                norm(*pairs[5]),
            )
            self.linears = nn.Sequential(linear(*pairs[6]), nn.GELU(approximate="tanh"), linear(*pairs[7]))

        def forward(self, X):
            X = X + self.attention(self.norm(X))
            return X + self.linears(self.second_norm(X))

    class GPT(nn.Module):
        def __init__(self, rows, places, *blocks, last_norm, last_linear):
            super().__init__()
            self.rows = nn.Embedding(*rows[0].shape, _weight=own(rows[0]))
            self.places = own(places[0])
            self.blocks = nn.Sequential(*map(Block, blocks), norm(*last_norm), linear(*last_linear))

        def forward(self, X):
            return self.blocks(self.rows(X) + self.places[: X.shape[1]]).flatten(0, 1)

    *first, last_norm, last_linear = weights
    return GPT(*first, last_norm=last_norm, last_linear=last_linear)


def normalize(X, gain, shift):
    """Return normalized rows, and the values saved for the gradients."""
    N = X - X.mean(axis=1, keepdims=True)
    scale = 1 / np.sqrt((N * N).mean(axis=1, keepdims=True) + EPS)
    N *= scale
    return N * gain + shift, (N, scale, gain)


def normalize_gradients(N, scale, gain, dY):
    """Return the gradients of X, gain and shift."""
    dN = dY * gain
    dX = dN - dN.mean(axis=1, keepdims=True)
    dX -= N * (dN * N).mean(axis=1, keepdims=True)
    dX *= scale
    return dX, (dY * N).sum(axis=0), dY.sum(axis=0)


def attend(Q, K, V, hidden):
    """Return attention's output and weights; Q must be scaled."""
    A = Q @ K.swapaxes(2, 3)
    A += hidden
    A -= A.max(axis=3, keepdims=True)
    np.exp(A, out=A)
    A /= A.sum(axis=3, keepdims=True)
    return A @ V, A


def gelu(X):
    """Return GELU in its tanh form, and its derivative."""
    scale, cubic = np.float32((2 / np.pi) ** 0.5), np.float32(0.044715)
    squares = X * X
    half = np.tanh(scale * X * (1 + cubic * squares))
    half += 1
    half *= np.float32(0.5)
    Y = X * half
    squares *= 6 * scale * cubic
    squares += 2 * scale
    squares *= Y
    squares *= 1 - half
    squares += half
    return Y, squares


def numpy_step(workload, X, T, weights, loss, optimizer):  # noqa: PLR0913, PLR0915  one step and what it needs
    """Make the step in raw NumPy.

    Parameters
    ----------
    workload : Workload
    X, T, weights
        Returned by start.
    loss : function of labels -> function of logits (labels, examples) -> L, which overwrites them with dY
    optimizer : function, (arrays, learning_rate) -> function of the gradients

    Returns
    -------
    function, () -> loss
    """
    (E,), (P,), *blocks, (gain, shift), (W, b) = weights
    # one product for queries, keys and values: of the 16 arrays, 2 to 7 become two
    blocks = [(*a[:2], np.hstack(a[2:8:2]), np.hstack(a[3:8:2]), *a[8:]) for a in blocks]
    arrays = [E, P, *(array for block in blocks for array in block), gain, shift, W, b]
    update, loss = optimizer(arrays, workload.learning_rate), loss(T.reshape(-1))
    (batch, steps), width, heads = X.shape, E.shape[1], workload.heads
    hidden = np.where(np.tri(steps, dtype=bool), 0, -np.inf).astype(E.dtype)
    scale = E.dtype.type((width // heads) ** -0.5)
    one_hot = (np.arange(len(E))[:, None] == X.reshape(-1)).astype(E.dtype)

    def split(H):
        return H.reshape(batch, steps, -1, heads, width // heads).transpose(2, 0, 3, 1, 4)

    def forward(H, block):
        g1, s1, W_in, b_in, W_out, b_out, g2, s2, W1, b1, W2, b2 = block
        N1, norm1 = normalize(H, g1, s1)
        QKV = N1 @ W_in
        QKV += b_in
        QKV[:, :width] *= scale
        Q, K, V = split(QKV)
        read, A = attend(Q, K, V, hidden)
        read = read.swapaxes(1, 2).reshape(-1, width)
        H = H + read @ W_out
        H += b_out
        N2, norm2 = normalize(H, g2, s2)
        Z = N2 @ W1
        Z += b1
        G, slope = gelu(Z)
        Y = G @ W2
        Y += b2
        Y += H
        return Y, (N1, norm1, Q, K, V, A, read, N2, norm2, G, slope)

    def backward(dY, block, kept):
        W_in, W_out, W1, W2 = block[2], block[4], block[8], block[10]
        N1, norm1, Q, K, V, A, read, N2, norm2, G, slope = kept
        dZ = dY @ W2.T
        dZ *= slope
        dH, d_g2, d_s2 = normalize_gradients(*norm2, dZ @ W1.T)
        dH += dY
        d_after = [d_g2, d_s2, N2.T @ dZ, dZ.sum(axis=0), G.T @ dY, dY.sum(axis=0)]
        (d_read,) = split(dH @ W_out.T)
        dS = d_read @ V.swapaxes(2, 3)
        dS -= np.einsum("...ij,...ij->...i", dS, A)[..., None]
        dS *= A
        d_QKV = np.empty((batch * steps, 3 * width), dY.dtype)
        dQ, dK, dV = split(d_QKV)
        np.matmul(dS, K, out=dQ)
        np.matmul(dS.swapaxes(2, 3), Q, out=dK)
        np.matmul(A.swapaxes(2, 3), d_read, out=dV)
        d_QKV[:, :width] *= scale
        dX, d_g1, d_s1 = normalize_gradients(*norm1, d_QKV @ W_in.T)
        dX += dH
        return dX, [d_g1, d_s1, N1.T @ d_QKV, d_QKV.sum(axis=0), read.T @ dH, dH.sum(axis=0), *d_after]

    def take():
        H, passed = (E[X] + P).reshape(-1, width), []
        for block in blocks:
            H, kept = forward(H, block)
            passed.append(kept)
        N, norm = normalize(H, gain, shift)
        dY = N @ W + b
        L = loss(dY.T)  # overwrites the logits with their gradient
        dH, d_gain, d_shift = normalize_gradients(*norm, dY @ W.T)
        gradients = [d_gain, d_shift, N.T @ dY, dY.sum(axis=0)]
        for block, kept in zip(reversed(blocks), reversed(passed), strict=True):
            dH, of_block = backward(dH, block, kept)
            gradients = of_block + gradients
        update([one_hot @ dH, dH.reshape(batch, steps, width).sum(axis=0), *gradients])
        return L

    return take


def factors(workload):
    """Return the pairs of matrices, or of stacks of matrices, that a step multiplies."""
    n_tokens, *widths, _ = workload.sizes
    width, rows, per_head = widths[0], workload.batch * workload.steps, widths[0] // workload.heads
    rng = np.random.default_rng(1)

    def draw(*shape):
        return rng.standard_normal(shape).astype(workload.dtype)

    def linear(n_in, n_out):
        X, W, dY = draw(rows, n_in), draw(n_in, n_out), draw(rows, n_out)
        return [(X, W), (X.T, dY), (dY, W.T)]

    def attention():
        stack = workload.batch, workload.heads, workload.steps
        A, V = draw(*stack, workload.steps), draw(*stack, per_head)
        turned = V.swapaxes(2, 3)
        return [(V, turned), (A, V), (V, turned), (A, V), (A.swapaxes(2, 3), V), (A.swapaxes(2, 3), V)]

    block = [(width, 3 * width), (width, width), (width, WIDER * width), (WIDER * width, width)]
    found = [pair for _ in widths for sizes in block for pair in linear(*sizes)]
    found += [pair for _ in widths for pair in attention()]
    return found + linear(width, n_tokens)
