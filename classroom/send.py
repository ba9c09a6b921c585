"""The pages of a class as one zip, in which each lies where the platform's own export had the hand-in.

Canvas gives feedback to whom the name of a file names, Moodle to whom the name of a folder names; both take a
zip whose names are those that they have given out. Holds `write_zip`.
Not taught in a chapter: it belongs to the classroom.
"""

import zipfile

from classroom.faults import GradingFault
from classroom.folders import places
from classroom.reports import page_name

FIRST = (1980, 1, 1, 0, 0, 0)  # the same pages make the same bytes


def write_zip(queue, folder, target):
    """Write the zip.

    Parameters
    ----------
    queue : Queue
        Its reports have been written.
    folder : Path
        The hand-ins as the platform has exported them.
    target : Path

    Returns
    -------
    int
        How many pages are in it.

    Raises
    ------
    GradingFault
        If no hand-in there belongs to a student of the marks.
    """
    pages = []
    for student, place in places(folder, queue.chapter):
        page = queue.folder / "feedback" / f"{page_name(student)}.html"
        if page.exists():
            is_folder = place.is_dir()
            name = f"{place.name}/feedback.html" if is_folder else f"{place.stem}.html"
            pages.append((name, page.read_bytes()))
    if not pages:
        raise GradingFault(f"no hand-in in {folder} is of a student in {queue.folder}: nothing was written.")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in pages:
            archive.writestr(zipfile.ZipInfo(name, FIRST), data, zipfile.ZIP_DEFLATED)
    return len(pages)
