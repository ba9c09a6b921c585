"""Knowing the whole source earns nothing without doing the work."""

import json

import pytest

from classroom.grade import grade
from tests.classroom.hostile.submission import notebook
from tests.classroom.hostile.without_work import ATTACKS, NOTEBOOKS

SEED = 20_261_125
EVERY = ATTACKS | NOTEBOOKS


def handed_in(attack):
    """Return the bytes of a submission."""
    whole = json.loads(notebook(f"import numpy as np\n{attack.code}"))
    around = dict(attack.around)
    whole["cells"][0] |= around.pop("cell", {})
    return json.dumps(whole | around).encode()


def test_there_are_sixty_attacks_and_each_has_a_reason():
    assert len(EVERY) >= 60 and all(attack.why for attack in EVERY.values())


@pytest.mark.parametrize("name", EVERY)
def test_an_attack_earns_nothing(name):
    attack = EVERY[name]
    result = grade(handed_in(attack), attack.exercise.split(".")[0], SEED, seconds=2.0)
    assert result.fault is None
    assert result.points == 0, [(part.short, part.sentence) for part in result.exercises if part.points]
