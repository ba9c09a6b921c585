"""The typefaces of the book, cut to the letters that a course in English and mathematics needs.

    python -m book.fonts FOLDER

FOLDER holds the TrueType files of Source Serif 4 and Source Code Pro, which npm carries as
@expo-google-fonts/source-serif-4 and @expo-google-fonts/source-code-pro, and the OpenType file of TeX Gyre
Pagella Math, which draws the formulas of pages and is in Debian's fonts-texgyre-math. What comes out lies in
_static/fonts/, and is in git, so that building the book needs none of them. Their licences want another name
for a changed font.
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
# What a formula has: Latin, Greek, and both as slanted letters of mathematics, digits, signs.
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
)  # in its name table; the others say who made it, and its licence


def cut(source, name, letters=LETTERS, features=FEATURES):
    """Return a font that keeps the letters and features of the book, under a name of its own.

    Parameters
    ----------
    source : Path
        A TrueType or OpenType file.
    name : str
        Such as "text-regular".
    letters : sequence of (int, int)
        The first and the last letter of each range that stays.
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
    """Write the fonts of text and code as TrueType, which TeX reads, into a folder.

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
    """Cut all fonts anew."""
    parser = argparse.ArgumentParser(description="Cut the book's fonts.")
    parser.add_argument("folder", type=Path, help="where the files of all three typefaces lie")
    folder = parser.parse_args().folder
    FONTS.mkdir(exist_ok=True)
    for name, original in CUTS.items():
        cut(_file(folder, f"{original}.ttf"), name).save(FONTS / f"{name}.woff2")
    formulas = cut(_file(folder, f"{MATHEMATICS}.otf"), "formulas", SIGNS, ["dtls", "flac"])
    formulas.save(FONTS / "formulas.woff2")


def _file(folder, name):
    """Return the file of a name in a folder or below."""
    files = sorted(folder.glob(f"**/{name}"))
    if not files:
        raise SystemExit(f"{folder} holds no {name}: unpack the packages there.")
    return files[0]


if __name__ == "__main__":
    main()
