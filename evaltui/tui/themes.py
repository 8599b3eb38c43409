"""Theme files: read, checked colour by colour, and turned into Textual themes."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from textual.color import Color, ColorParseError
from textual.theme import Theme

from evaltui.core.errors import Fault

VERDICTS: Final = ("pass", "fail", "partial", "missing")
COLORS: Final = (
    "primary",
    "secondary",
    "background",
    "surface",
    "panel",
    "foreground",
    "accent",
    "warning",
    "error",
    "success",
)
DEFAULT_THEME: Final = "dark"
LEGIBLE: Final = 3.0


@dataclass(frozen=True, slots=True)
class Themes:
    """What a set of folders held: usable themes, and for each unusable file what is wrong with it."""

    loaded: tuple[Theme, ...]
    failed: tuple[Fault, ...]


def shipped_folder() -> Path:
    """The themes of the package: inside it when installed, beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "_data" / "themes"
    return inside if inside.is_dir() else package.parent / "themes"


def user_folder() -> Path:
    """Where a user's own theme files are looked for; it need not exist."""
    from platformdirs import user_config_path

    return user_config_path("evaltui", appauthor=False) / "themes"


def load(folders: Sequence[Path]) -> Themes:
    """Every ``*.toml`` of the folders. A later file of the same theme name replaces the earlier one."""
    loaded: dict[str, Theme] = {}
    failed: list[Fault] = []
    for path in (path for folder in folders if folder.is_dir() for path in sorted(folder.glob("*.toml"))):
        try:
            theme = parse(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as fault:
            failed.append(Fault(path.name, str(fault)))
        else:
            loaded[theme.name] = theme
    return Themes(tuple(loaded.values()), tuple(failed))


def parse(text: str) -> Theme:
    """One theme file. Raises ValueError (TOMLDecodeError is one) naming the first key that cannot be used."""
    data = tomllib.loads(text)
    _refuse_unknown("", data, ("name", "dark", "colors", "verdicts"))
    name, dark = data.get("name"), data.get("dark", True)
    if not isinstance(name, str) or not name.isprintable() or not name.strip():
        raise ValueError("name: a theme needs a name in quotes")
    if not isinstance(dark, bool):
        raise ValueError("dark: must be true or false")
    colors = _colors("colors", data.get("colors", {}), COLORS)
    missing = [key for key in COLORS if key not in colors]
    if missing:
        raise ValueError(f"colors: {', '.join(missing)} missing")
    verdicts = _colors("verdicts", data.get("verdicts", {}), VERDICTS)
    theme = Theme(
        name=name,
        dark=dark,
        primary=colors["primary"],
        secondary=colors["secondary"],
        background=colors["background"],
        surface=colors["surface"],
        panel=colors["panel"],
        foreground=colors["foreground"],
        accent=colors["accent"],
        warning=colors["warning"],
        error=colors["error"],
        success=colors["success"],
    )
    theme.variables = verdict_variables(theme, verdicts)
    return theme


def verdict_variables(theme: Theme, verdicts: Mapping[str, str]) -> dict[str, str]:
    """CSS variables for verdicts: strong, the ink on strong, quiet (blended into the surface) and the ink on quiet.

    Verdict colours that a theme does not name are its success, error, warning and accent.
    """
    system = theme.to_color_system().generate()
    surface, foreground = Color.parse(system["surface"]), Color.parse(system["foreground"])
    fallback = dict(zip(VERDICTS, ("success", "error", "warning", "accent"), strict=True))
    variables: dict[str, str] = {}
    for verdict in VERDICTS:
        strong = Color.parse(verdicts.get(verdict, system[fallback[verdict]]))
        quiet = surface.blend(strong, 0.16)
        dark_ink, light_ink = Color(13, 13, 13), Color(255, 255, 255)
        ink = max(dark_ink, light_ink, key=lambda color: contrast(color, strong))
        variables[f"verdict-{verdict}"] = strong.hex
        variables[f"verdict-{verdict}-ink"] = ink.hex
        variables[f"verdict-{verdict}-quiet"] = quiet.hex
        variables[f"verdict-{verdict}-quiet-ink"] = _legible(quiet, strong, foreground).hex
    variables["verdict-pending"] = surface.blend(foreground, 0.28).hex
    return variables


def _legible(background: Color, strong: Color, foreground: Color) -> Color:
    """The quietest ink of a hue that can still be read (contrast 3) on its own blend."""
    shades = [background.blend(strong, step / 20) for step in range(10, 21)]
    readable = (shade for shade in shades if contrast(background, shade) >= LEGIBLE)
    return next(readable, strong.blend(foreground, 0.5))


def contrast(a: Color, b: Color) -> float:
    """The contrast ratio of WCAG 2: from 1 to 21."""
    darker, lighter = sorted((_luminance(a), _luminance(b)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: Color) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _colors(table: str, given: object, known: Sequence[str]) -> dict[str, str]:
    if not isinstance(given, dict):
        raise ValueError(f"{table}: must be a table of colours")
    _refuse_unknown(f"{table}.", given, known)
    for key, value in given.items():
        if not isinstance(value, str):
            raise ValueError(f"{table}.{key}: a colour is written in quotes")
        try:
            parsed = Color.parse(value)
        except ColorParseError:
            raise ValueError(f"{table}.{key}: {value!r} is not a colour; write it like #56b4e9") from None
        if parsed.a != 1 or parsed.ansi is not None or parsed.auto:
            raise ValueError(f"{table}.{key}: {value!r} must be a plain colour; write it like #56b4e9")
    return given


def _refuse_unknown(prefix: str, given: Mapping[str, object], known: Sequence[str]) -> None:
    for key in given:
        if key not in known:
            raise ValueError(f"{prefix}{key}: unknown key; known are {', '.join(known)}")
