"""The list of themes in the command palette: our own first, then those that come with Textual."""

from __future__ import annotations

from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.theme import BUILTIN_THEMES


class ThemeChoice(Provider):
    """Choosing one sets it; the app shows the one under the cursor meanwhile."""

    def _names(self) -> list[str]:
        return sorted(self.app.available_themes, key=lambda name: (name in BUILTIN_THEMES, name))

    def _choose(self, name: str) -> None:
        self.app.theme = name

    async def discover(self) -> Hits:
        for name in self._names():
            yield DiscoveryHit(name, partial(self._choose, name))

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for name in self._names():
            if (score := matcher.match(name)) > 0:
                yield Hit(score, matcher.highlight(name), partial(self._choose, name), text=name)
