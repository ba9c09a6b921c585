"""From what a submission's data are drawn: a secret that the teacher keeps, and the submission's hash.

Holds `secret` and `seed`. Not taught in a chapter: it belongs to the classroom.
"""

import hmac
import os
import secrets

from classroom.faults import GradingFault
from classroom.queue import kept_on_disk

SECRET = "course-secret"


def secret(folder):
    """Return the course secret, a file that the teacher keeps; it is made on first use.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    bytes

    Raises
    ------
    GradingFault
        If the file is there and holds no secret.
    """
    path = folder / SECRET
    if not path.exists():
        passing = path.with_name(f".{SECRET}.{os.getpid()}")
        with kept_on_disk(folder):
            try:
                with open(os.open(passing, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                    file.write(secrets.token_hex(32) + "\n")
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(passing, path)
            finally:
                passing.unlink(missing_ok=True)
    found = path.read_bytes().strip()
    if len(found) < 64:
        raise GradingFault(f"not graded, because {path} is damaged: put your copy back, or delete the file.")
    return found


def seed(key, digest):
    """Return the seed of a submission: repeatable with the course secret, not guessable without.

    Parameters
    ----------
    key : bytes
        The course secret.
    digest : str
        The submission's hash.

    Returns
    -------
    int
    """
    return int.from_bytes(hmac.digest(key, digest.encode(), "sha256")[:8])
