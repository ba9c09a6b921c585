"""PaddlePaddle, "API design": its model, evaluator, gradient machine and optimizer, in minigrad's words."""

import copy
import threading

import numpy as np
import pytest

from minigrad import (
    SGD,
    Adam,
    BatchNorm,
    ConcurrentLearner,
    CosineSimilarity,
    Evaluator,
    Learner,
    Linear,
    ReLU,
    Sequential,
    Twin,
    accuracy,
    cross_entropy,
    gradcheck,
    load_model,
    mse,
    replica,
    save,
    save_model,
    spirals,
)


@pytest.fixture
def model():
    rng = np.random.default_rng(0)
    return Sequential({"hidden": Linear(2, 32, rng=rng), "bend": ReLU(), "output": Linear(32, 3, rng=rng)})


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


def test_an_evaluator_reads_activations_by_name_while_another_thread_trains(model):
    X, T = spirals(60, rng=0)
    evaluator, learner, stop = Evaluator(model), Learner(model, cross_entropy, Adam(0.01)), threading.Event()

    def train():
        while not stop.is_set():
            learner.fit_batch(X, T)

    trainer = threading.Thread(target=train)
    trainer.start()
    try:
        tests = []
        for _ in range(50):
            Y = evaluator.forward(X)
            assert evaluator.activation(layer="output") is Y
            assert evaluator.activation(layer="hidden").shape == (len(X), 32)
            tests.append(evaluator.test(X, T, cross_entropy, accuracy))
    finally:
        stop.set()
        trainer.join()
    learner.fit(X, T, epochs=20)
    assert evaluator.test(X, T, cross_entropy, accuracy)["loss"] < tests[0]["loss"]


def test_names_of_layers_are_in_checkpoints_summary_and_files(model, tmp_path):
    assert list(model.named_parameters())[0] == "layers.hidden.W" and "layers.output.b" in model.summary()
    save(tmp_path / "weights.npz", model)
    with np.load(tmp_path / "weights.npz") as file:
        np.testing.assert_array_equal(file["data/layers.output.W"], model.layers["output"].W.data)


def test_a_server_starts_from_one_file(model, tmp_path):
    save_model(tmp_path / "trained.model", model)
    X = np.ones((1, 2))
    evaluator = Evaluator(load_model(tmp_path / "trained.model"))
    np.testing.assert_array_equal(evaluator.forward(X), model.predict(X))
    assert evaluator.activation(layer="bend").shape == (1, 32)


def test_a_gradient_machine_has_the_weights_and_gradients_of_its_own(model):
    machine = replica(model)
    ours, theirs = model.parameters()[0], machine.parameters()[0]
    assert theirs.data is ours.data and theirs.grad is not ours.grad


def test_the_concurrent_optimizer_steps_as_one_learner_does(model):
    X, T = spirals(60, rng=0)
    twin = copy.deepcopy(model)
    Learner(model, cross_entropy, SGD(0.1)).fit(X, T, epochs=3)
    ConcurrentLearner(twin, cross_entropy, SGD(0.1), workers=4).fit(X, T, epochs=3)
    for ours, theirs in zip(model.parameters(), twin.parameters(), strict=True):
        np.testing.assert_allclose(ours.data, theirs.data, rtol=1e-9, atol=1e-12)  # rounding of another order


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
