"""The feedback pages of a class as one zip, laid out like the platform's own export of the hand-ins.

Holds `write_zip`. Canvas assigns feedback by the names of files, Moodle by the names of folders; both accept
a zip with the names of their own export.
"""

import zipfile

from classroom.faults import GradingFault
from classroom.folders import places
from classroom.reports import page_name

FIRST = (1980, 1, 1, 0, 0, 0)  # the time of every file, so that the same pages give the same bytes


def write_zip(queue, folder, target):
    """Write the zip of feedback pages.

    Parameters
    ----------
    queue : Queue
        With its reports written.
    folder : Path
        The hand-ins as exported by the platform.
    target : Path

    Returns
    -------
    count : int
        Number of pages.
    without : list of str
        Students who have a hand-in and no page, or a page and no hand-in.

    Raises
    ------
    GradingFault
        If no hand-in in `folder` belongs to a student in the queue.
    """
    pages, found = {}, places(folder, queue.chapter)
    students = set(queue.results(queue.accepted))
    for student, place in found:  # a student may have two files of one name: homework.ipynb, homework.html
        if student in students:
            page = queue.folder / "feedback" / f"{page_name(student)}.html"
            is_folder = place.is_dir()
            name = f"{place.name}/feedback.html" if is_folder else f"{place.stem}.html"
            pages[name] = page.read_bytes()
    if not pages:
        raise GradingFault(
            f"no hand-in in {folder} belongs to a student in {queue.folder}: nothing was written."
        )
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in pages.items():
            archive.writestr(zipfile.ZipInfo(name, FIRST), data, zipfile.ZIP_DEFLATED)
    return len(pages), sorted(students ^ {student for student, _ in found})
