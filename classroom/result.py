"""What came of a submission.

Holds `unmarked`, the result of what no check has seen, and `exercises_of`, what a result is about.
"""

from classroom.faults import GradingFault
from course.checks import exercises


def unmarked(chapter, digest, refused=None, fault=None):
    """Return the result of a submission that no check has seen.

    Parameters
    ----------
    chapter : str
    digest : str
    refused : str, optional
        Why it cannot be read: no points.
    fault : str, optional
        What went wrong on our side: no mark at all.

    Returns
    -------
    dict
    """
    asked = exercises_of(chapter)
    points, status = (0, "missing") if fault is None else (None, "not graded")
    return {
        "chapter": chapter,
        "submission": digest,
        "level": None,
        "fault": fault,
        "refused": refused,
        "points": points,
        "out_of": sum(exercise.points for exercise in asked),
        "by_hand": 0,
        "exercises": [
            {
                "name": exercise.name,
                "title": exercise.title,
                "kind": exercise.kind,
                "out_of": exercise.points,
                "points": points,
                "status": status,
                "sentence": refused or fault,
            }
            for exercise in asked
        ],
        "notes": [],
    }


def exercises_of(chapter):
    """Return the exercises of a chapter, or raise GradingFault where there are none.

    Parameters
    ----------
    chapter : str

    Returns
    -------
    list of Exercise
    """
    known = exercises()
    found = [exercise for exercise in known if exercise.stem == chapter]
    if not found:
        stems = ", ".join(dict.fromkeys(exercise.stem for exercise in known))
        raise GradingFault(f"there are no exercises of a chapter {chapter}; these have some: {stems}.")
    return found
