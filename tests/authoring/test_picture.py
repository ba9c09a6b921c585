"""The picture of the README is the figure that its chapter stores."""

import shutil

import nbformat
import pytest

from authoring.notebooks import BuildError
from authoring.picture import CHAPTER, DRAWN_BY, PLACE, picture, write_picture
from course import store


def test_the_picture_is_up_to_date():
    assert (store.PROJECT / PLACE).read_text("utf-8") == picture(), "run `python -m authoring pictures`"


def test_another_figure_is_another_picture_and_a_missing_one_is_named(tmp_path):
    (tmp_path / "notebooks").mkdir()
    shutil.copy(store.PROJECT / CHAPTER, tmp_path / CHAPTER)
    write_picture(tmp_path)
    assert (tmp_path / PLACE).read_text("utf-8") == picture()
    chapter = nbformat.read(tmp_path / CHAPTER, as_version=4)
    for cell in chapter.cells:
        if DRAWN_BY in cell.source:
            cell.outputs = []
    nbformat.write(chapter, tmp_path / CHAPTER)
    with pytest.raises(BuildError, match="stores no figure of .*run the chapter first"):
        picture(tmp_path)
