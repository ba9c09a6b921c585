"""PaddlePaddle, "API design": its model, evaluator, gradient machine and optimizer, in minigrad's words."""

import numpy as np

from minigrad import (
    Adam,
    BatchNorm,
    ConcurrentLearner,
    CosineSimilarity,
    Learner,
    Linear,
    ReLU,
    Sequential,
    Twin,
    accuracy,
    cross_entropy,
    gradcheck,
    mse,
    save,
    spirals,
)


def test_semantic_projection_shares_one_matrix():
    RNG = np.random.default_rng(0)
    A, B = RNG.normal(size=(2, 5, 7))
    projection = Linear(7, 3, bias=False, rng=0)
    similarity = Twin(projection) >> CosineSimilarity()
    assert len(similarity.parameters()) == 1
    assert gradcheck(similarity, (A, B)).ok
    T = np.sign(RNG.normal(size=5))
    learner = Learner(similarity, mse, Adam(0.05))
    history = learner.fit((A, B), T, epochs=200)
    assert history["loss"][-1] < 0.1 * history["loss"][0]


def test_names_of_layers_are_in_checkpoints_summary_and_files(tmp_path):
    model = Sequential({"hidden": Linear(2, 32, rng=0), "bend": ReLU(), "output": Linear(32, 3, rng=1)})
    assert list(model.named_parameters())[0] == "layers.hidden.W" and "layers.output.b" in model.summary()
    save(tmp_path / "weights.npz", model)
    with np.load(tmp_path / "weights.npz") as file:
        np.testing.assert_array_equal(file["data/layers.output.W"], model.layers["output"].W.data)


def test_the_concurrent_optimizer_is_right_with_batch_norm():
    X, T = spirals(100, rng=0)
    right = []
    for make, settings in ((Learner, {}), (ConcurrentLearner, {"workers": 4})):
        rng = np.random.default_rng(0)
        model = Linear(2, 32, rng=rng) >> BatchNorm(32) >> ReLU() >> Linear(32, 3, rng=rng)
        learner = make(model, cross_entropy, Adam(0.02), accuracy, **settings)
        learner.fit(X, T, epochs=30, batch_size=100)
        right.append(learner.evaluate(X, T)["accuracy"])
    assert right[1] > right[0] - 0.05 and right[0] > 0.7
