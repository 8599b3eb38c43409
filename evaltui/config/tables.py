"""What every table of a study file has in common: frozen, strict, no unknown keys."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, ConfigDict

NAME: Final = re.compile(r"[^\W_][\w .+@/()-]{0,79}")
NAME_RULE: Final = (
    "a name starts with a letter or digit and goes on with letters, digits, blanks and . _ - + @ / ( ), "
    "80 characters at most (':' and '#' are taken: STUDY:ARM#2 names a run)"
)


class Table(BaseModel):
    """A table of the study file."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def name_fault(name: str) -> str | None:
    """Why a study, arm, endpoint or scorer cannot be called so; None when it can."""
    if NAME.fullmatch(name) and name == name.strip():
        return None
    return NAME_RULE


def _checked(name: str) -> str:
    fault = name_fault(name)
    if fault:
        raise ValueError(fault)
    if name == "latest":
        raise ValueError("'latest' always means the newest study; choose another name")
    return name


def function_name(name: str) -> str:
    """``package.module:function``, checked for its form.

    Raises:
        ValueError: it is not of that form.
    """
    module, colon, function = name.partition(":")
    if not colon or not all(part.isidentifier() for part in (*module.split("."), *function.split("."))):
        raise ValueError(f"{name!r} is not of the form module:function, such as agents.answer:ask")
    return name


StudyName = Annotated[str, AfterValidator(_checked)]
