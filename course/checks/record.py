"""The learner's progress: tries, hints, exercises passed.

It is stored in one small file, ``progress.json`` in the work folder; if storing is off, it is kept in memory
while the kernel runs. `course.checks.progress` shows it.
"""

import json
from dataclasses import asdict, dataclass

from course import store

_memory = {}  # the progress, if storing is off


@dataclass(frozen=True)
class Entry:
    """The progress on one exercise.

    Attributes
    ----------
    tries : int
        The number of times it was checked.
    hints : int
        The number of hints shown.
    passed : bool
        Whether it has ever passed its check.
    """

    tries: int = 0
    hints: int = 0
    passed: bool = False

    @property
    def opened(self):
        """Return whether the exercise was ever checked, or a hint for it was shown."""
        return self.tries > 0 or self.hints > 0 or self.passed


def entry(name):
    """Return the progress on an exercise.

    Parameters
    ----------
    name : str

    Returns
    -------
    Entry
    """
    return entries().get(name, Entry())


def note(name, tries=0, hints=0, passed=False):
    """Add tries, hints or a pass to the progress on an exercise; a pass is never taken back.

    Parameters
    ----------
    name : str
    tries, hints : int
        How many to add.
    passed : bool
    """
    try:  # a file that cannot be read is not written over
        known = _memory if store.folder() is None else _stored()
        was = known.get(name, Entry())
        known[name] = Entry(was.tries + tries, was.hints + hints, was.passed or passed)
        if known is not _memory:
            text = json.dumps({key: asdict(value) for key, value in sorted(known.items())}, indent=1) + "\n"
            store.write(_file(), text)
    except OSError as error:
        print(f"Your progress could not be stored ({error.strerror}); this does not affect the check.")


def entries():
    """Return the progress on all exercises; a file that cannot be read is renamed, with a message.

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
    """Return the progress stored in the file."""
    try:
        return {name: _entry(fields) for name, fields in json.loads(_file().read_text("utf-8")).items()}
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, AttributeError):
        _file().replace(_file().with_name("progress.json.broken"))
        print(
            "progress.json could not be read. It has been renamed to progress.json.broken, and a new one "
            "is started."
        )
        return {}


def _file():
    """Return the path of the file."""
    return store.folder() / "progress.json"


def _entry(fields):
    """Return an Entry made of stored fields; raise TypeError if they do not fit."""
    made = Entry(**fields)
    if type(made.tries) is not int or type(made.hints) is not int or type(made.passed) is not bool:
        raise TypeError(f"an entry needs two int and a bool, got {fields}")
    return made
