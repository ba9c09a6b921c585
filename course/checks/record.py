"""What the learner has done so far: tries, hints, exercises passed.

Holds `entry` and `note`. The record is one small file, ``progress.json`` in the work folder; with storing off
it lives in memory, as long as the kernel. Leaves out how it is shown (``progress`` in ``course.checks``).
"""

import json
from dataclasses import asdict, dataclass

from course import store

_memory = {}  # the record where storing is off


@dataclass(frozen=True)
class Entry:
    """What is known of one exercise.

    Attributes
    ----------
    tries : int
        How often it was checked.
    hints : int
        How many hints are open.
    passed : bool
        Whether a check ever said yes.
    """

    tries: int = 0
    hints: int = 0
    passed: bool = False

    @property
    def opened(self):
        """Return whether the exercise was ever checked, or a hint for it read."""
        return self.tries > 0 or self.hints > 0 or self.passed


def entry(name):
    """Return what is known of an exercise.

    Parameters
    ----------
    name : str

    Returns
    -------
    Entry
    """
    return entries().get(name, Entry())


def note(name, tries=0, hints=0, passed=False):
    """Add tries, hints or a pass to what is known of an exercise; a pass is never taken back.

    Parameters
    ----------
    name : str
    tries, hints : int
        How many to add.
    passed : bool
    """
    known = entries()
    was = known.get(name, Entry())
    known[name] = Entry(was.tries + tries, was.hints + hints, was.passed or passed)
    if store.folder() is None:
        _memory.update(known)
        return
    text = json.dumps({key: asdict(value) for key, value in sorted(known.items())}, indent=1) + "\n"
    try:
        store.write(_file(), text)
    except OSError as error:
        print(
            f"Your progress could not be stored ({error.strerror}); the check itself is not touched by that."
        )


def entries():
    """Return the whole record; a file that cannot be read is put aside, and said so.

    Returns
    -------
    dict of str to Entry
    """
    if store.folder() is None:
        return dict(_memory)
    try:
        return _stored()
    except OSError as error:
        print(f"Your progress could not be read ({error.strerror}).")
        return {}


def _stored():
    """Return the record that stands in the file."""
    try:
        return {name: _entry(fields) for name, fields in json.loads(_file().read_text("utf-8")).items()}
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, AttributeError):
        _file().replace(_file().with_name("progress.json.broken"))
        print(
            "progress.json could not be read. It is kept as progress.json.broken, and a new one begins here."
        )
        return {}


def _file():
    """Return where the record stands."""
    return store.folder() / "progress.json"


def _entry(fields):
    """Return an entry made of stored fields, or raise TypeError for fields that no entry has."""
    made = Entry(**fields)
    if type(made.tries) is not int or type(made.hints) is not int or type(made.passed) is not bool:
        raise TypeError(f"an entry holds two whole numbers and a truth value, got {fields}")
    return made
