"""The seed of a submission's data, computed from the teacher's secret and the submission's hash.

Holds `secret` and `seed`.
"""

import hmac
import os
import secrets

from classroom.faults import GradingFault
from classroom.queue import kept_on_disk

SECRET = "course-secret"


def secret(folder):
    """Read the course secret from the teacher's file, which is created at the first call.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    bytes

    Raises
    ------
    GradingFault
        If the file exists and has no secret.
    """
    path = folder / SECRET
    if not path.exists():
        temporary = path.with_name(f".{SECRET}.{os.getpid()}")
        with kept_on_disk(folder):
            try:
                with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                    file.write(secrets.token_hex(32) + "\n")
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(temporary, path)
            finally:
                temporary.unlink(missing_ok=True)
    found = path.read_bytes().strip()
    if len(found) < 64:
        raise GradingFault(f"not graded, because {path} is damaged: restore your copy, or delete the file.")
    return found


def seed(key, digest):
    """Compute the seed of a submission: reproducible with the course secret, unpredictable without it.

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
