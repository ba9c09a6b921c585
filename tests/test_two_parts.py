"""A model in two parts with two optimizers, a GAN on a ring: it learns, and resumes from one checkpoint."""

import numpy as np
import pytest

from minigrad import Adam, Linear, ReLU, bce_with_logits, cosine, load, save

ROUNDS, BATCH, RADIUS = 1500, 64, 2.0


def network(n_out, rng):
    return Linear(2, 32, rng=rng) >> ReLU() >> Linear(32, 32, rng=rng) >> ReLU() >> Linear(32, n_out, rng=rng)


def new_game(seed):
    rng = np.random.default_rng(seed)
    models = {"generator": network(2, rng), "discriminator": network(1, rng)}
    return models | {name: Adam(cosine(0.004, ROUNDS), beta1=0.5) for name in ("g", "d")}


def ring(examples, rng):
    angles = rng.uniform(0, 2 * np.pi, size=examples)
    return RADIUS * np.column_stack([np.cos(angles), np.sin(angles)])


def play(game, rounds):
    """Let the discriminator move, then the generator; a round's draws follow from its number."""
    generator, discriminator = game["generator"], game["discriminator"]
    for _ in range(rounds):
        rng = np.random.default_rng(game["d"].steps)
        points = np.vstack([ring(BATCH, rng), generator.predict(rng.normal(size=(BATCH, 2)))])
        discriminator.zero_grad()
        logits, backward = discriminator(points)
        backward(bce_with_logits(logits, np.repeat([[1.0], [0.0]], BATCH, axis=0))[1]())
        game["d"].step(discriminator.parameters())

        generator.zero_grad()
        made, back_to_generator = generator(rng.normal(size=(BATCH, 2)))
        logits, back_to_points = discriminator(made)
        back_to_generator(back_to_points(bce_with_logits(logits, np.ones((BATCH, 1)))[1]()))
        game["g"].step(generator.parameters())


def weights(game):
    parameters = game["generator"].parameters() + game["discriminator"].parameters()
    return np.concatenate([parameter.data.ravel() for parameter in parameters])


def test_the_made_points_fill_the_ring():
    game = new_game(seed=0)
    play(game, ROUNDS)
    x, y = game["generator"].predict(np.random.default_rng(0).normal(size=(1000, 2))).T
    radii, sectors = np.hypot(x, y), np.floor(np.arctan2(y, x) / (np.pi / 4)).astype(int) % 8
    assert radii.mean() == pytest.approx(RADIUS, abs=0.1)
    assert np.mean(abs(radii - RADIUS) < 0.3) > 0.8
    assert np.bincount(sectors, minlength=8).min() > 40


def test_a_game_goes_on_from_its_checkpoint_bit_for_bit(tmp_path):
    unbroken = new_game(seed=0)
    play(unbroken, 20)
    save(tmp_path / "game.npz", unbroken)
    resumed = load(tmp_path / "game.npz", new_game(seed=1))
    for game in (unbroken, resumed):
        play(game, 20)
    np.testing.assert_array_equal(weights(resumed), weights(unbroken))


def test_each_optimizer_remembers_its_own_part_and_two_models_alone_do_not_go_on(tmp_path):
    unbroken, forgetful = new_game(seed=0), new_game(seed=1)
    play(unbroken, 20)
    assert set(unbroken["g"].memory) == set(unbroken["generator"].parameters())
    assert set(unbroken["d"].memory) == set(unbroken["discriminator"].parameters())
    save(tmp_path / "game.npz", unbroken)
    load(tmp_path / "game.npz", {part: forgetful[part] for part in ("generator", "discriminator")})
    np.testing.assert_array_equal(weights(forgetful), weights(unbroken))
    forgetful["g"].steps = forgetful["d"].steps = 20
    for game in (unbroken, forgetful):
        play(game, 20)
    assert not np.array_equal(weights(forgetful), weights(unbroken))
