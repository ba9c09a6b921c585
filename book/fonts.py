"""Reduce the book's fonts to the characters that a course in English and mathematics needs.

    python -m book.fonts FOLDER

FOLDER has the TrueType files of Source Serif 4 and Source Code Pro, from the npm packages
@expo-google-fonts/source-serif-4 and @expo-google-fonts/source-code-pro, and the OpenType file of TeX Gyre
Pagella Math, for formulas, from Debian's fonts-texgyre-math. The output in _static/fonts/ is in git, so that
building the book needs none of these files. Their licences require a new name for a changed font.
"""

import argparse
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

FONTS = Path(__file__).with_name("_static") / "fonts"
CUTS = {
    "text-regular": "SourceSerif4_400Regular",
    "text-italic": "SourceSerif4_400Regular_Italic",
    "text-semibold": "SourceSerif4_600SemiBold",
    "text-semibold-italic": "SourceSerif4_600SemiBold_Italic",
    "code-regular": "SourceCodePro_400Regular",
    "code-italic": "SourceCodePro_400Regular_Italic",
    "code-semibold": "SourceCodePro_600SemiBold",
}
MATHEMATICS = "texgyrepagella-math"
# Latin, Greek, punctuation, superscripts, arrows, mathematics, lines and blocks, a tick, ligatures.
LETTERS = (
    (0x20, 0x7E),
    (0xA0, 0x17F),
    (0x2C6, 0x2DC),
    (0x300, 0x308),
    (0x370, 0x3FF),
    (0x2000, 0x209F),
    (0x20AC, 0x20AC),
    (0x2100, 0x23FF),
    (0x2500, 0x25FF),
    (0x2713, 0x2713),
    (0xFB00, 0xFB06),
)
# Characters of formulas: Latin, Greek, both as mathematical italics, digits, signs.
SIGNS = (
    (0x20, 0x7E),
    (0xA0, 0xB7),
    (0xD7, 0xD7),
    (0x2C6, 0x2DC),
    (0x391, 0x3C9),
    (0x2026, 0x2032),
    (0x2061, 0x2064),
    (0x2190, 0x2194),
    (0x2200, 0x2212),
    (0x221A, 0x222B),
    (0x2248, 0x2265),
    (0x22A4, 0x22A5),
    (0x22C5, 0x22C5),
    (0x2308, 0x230B),
    (0x1D434, 0x1D467),
    (0x210E, 0x210E),
    (0x1D6FC, 0x1D714),
)
FEATURES = ["kern", "liga", "lnum", "tnum", "mark", "mkmk", "ccmp", "locl", "sups", "subs", "frac"]
NAMES_OF_A_FONT = (
    1,
    3,
    4,
    6,
    16,
    18,
    21,
    25,
)  # entries of the name table; others have the font's authors and licence


def cut(source, name, letters=LETTERS, features=FEATURES):
    """Reduce a font to the book's characters and features, and rename it.

    Parameters
    ----------
    source : Path
        A TrueType or OpenType file.
    name : str
        For example "text-regular".
    letters : sequence of (int, int)
        The first and the last character of each range to keep.
    features : list of str

    Returns
    -------
    TTFont
    """
    options = subset.Options(layout_features=features, name_IDs=["*"], drop_tables=["FFTM"])
    font = TTFont(source)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=[letter for first, last in letters for letter in range(first, last + 1)])
    subsetter.subset(font)
    font.flavor = "woff2"
    face, _, style = name.partition("-")
    family = f"minigrad {face.title()}"
    for entry in font["name"].names:
        if entry.nameID in NAMES_OF_A_FONT:
            whole = f"{family} {style.replace('-', ' ').title()}".strip()
            entry.string = family if entry.nameID in (1, 16) else whole.replace(" ", "-")
    return font


def as_truetype(folder):
    """Write the fonts of text and code into a folder as TrueType, for TeX.

    Parameters
    ----------
    folder : Path
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in CUTS:
        font = TTFont(FONTS / f"{name}.woff2")
        font.flavor = None
        font.save(folder / f"{name}.ttf")


def main():
    """Make all fonts again."""
    parser = argparse.ArgumentParser(description="Cut the book's fonts.")
    parser.add_argument("folder", type=Path, help="the folder with the files of all three fonts")
    folder = parser.parse_args().folder
    FONTS.mkdir(exist_ok=True)
    for name, original in CUTS.items():
        cut(_file(folder, f"{original}.ttf"), name).save(FONTS / f"{name}.woff2")
    formulas = cut(_file(folder, f"{MATHEMATICS}.otf"), "formulas", SIGNS, ["dtls", "flac"])
    formulas.save(FONTS / "formulas.woff2")


def _file(folder, name):
    """Find a file by its name in a folder and its subfolders."""
    files = sorted(folder.glob(f"**/{name}"))
    if not files:
        raise SystemExit(f"{folder} has no {name}: unpack the packages there.")
    return files[0]


if __name__ == "__main__":
    main()
