"""Find planted credentials in what a subject lets out, and keep them out of every report."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from urllib.parse import quote

from conformance.rig.surroundings import USER, Credentials

MASK = "«credential»"


class Masking:
    """Knows every form in which a trial's credentials can stand in a text."""

    def __init__(self, credentials: Credentials) -> None:
        """Derive the forms: as configured, percent-encoded, and as HTTP Basic sends them."""
        self._forms: dict[str, str] = {}
        for host, token in credentials.tokens.items():
            pair = f"{USER}:{token}"
            forms = {token, quote(token, safe=""), token[::-1], token.encode().hex()}
            forms |= {base64.b64encode(text.encode()).decode().rstrip("=") for text in (token, pair)}
            self._forms |= dict.fromkeys(forms, host)

    def leaks(self, text: str) -> list[str]:
        """Name the hosts whose credentials stand in `text` in any form."""
        return sorted({host for form, host in self._forms.items() if form in text})

    def mask(self, text: str) -> str:
        """Give `text` with every credential replaced."""
        for form in sorted(self._forms, key=len, reverse=True):
            text = text.replace(form, MASK)
        return text

    def leaks_in(self, texts: Mapping[str, str]) -> Iterable[tuple[str, str, str]]:
        """Yield place, host and the surrounding text, masked, for each place that lets a credential out."""
        for place, text in texts.items():
            for host in self.leaks(text):
                form = next(form for form, owner in self._forms.items() if owner == host and form in text)
                at = text.index(form)
                yield place, host, self.mask(text[max(0, at - 80) : at + len(form) + 80])
