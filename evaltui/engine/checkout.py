"""The git commit of the folder that a study file lies in, read from the files of the repository."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

COMMIT: Final = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


def commit_of(path: Path) -> str | None:
    """The commit that is checked out around ``path``; None outside a repository or when it cannot be read.

    No process is started: a pin is not worth a slow or failing ``git``.
    """
    try:
        folder = next((folder for folder in path.absolute().parents if (folder / ".git").exists()), None)
        return _head(folder / ".git") if folder is not None else None
    except (OSError, UnicodeDecodeError):
        return None


def _head(git: Path) -> str | None:
    if git.is_file():
        # A linked work tree: the file names its own folder, which names the folder with the branches.
        git = git.parent / git.read_text(encoding="utf-8").strip().removeprefix("gitdir: ")
    head = (git / "HEAD").read_text(encoding="utf-8").strip()
    if not head.startswith("ref: "):
        return head if COMMIT.fullmatch(head) else None
    shared = git / (git / "commondir").read_text(encoding="utf-8").strip() if (git / "commondir").exists() else git
    name = head.removeprefix("ref: ")
    loose = shared / name
    if loose.exists():
        commit = loose.read_text(encoding="utf-8").strip()
        return commit if COMMIT.fullmatch(commit) else None
    for line in (shared / "packed-refs").read_text(encoding="utf-8").splitlines():
        commit, _, ref = line.partition(" ")
        if ref == name and COMMIT.fullmatch(commit):
            return commit
    return None
