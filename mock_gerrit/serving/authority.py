"""A certificate authority of our own, so that clients check TLS as they do in earnest."""

from __future__ import annotations

import ssl
from functools import cached_property
from pathlib import Path

import trustme


class CertificateAuthority:
    """Issues certificates for whatever name a world gives its hosts; they are made once a name and kept.

    Args:
        folder: where `ca.pem` is written for clients to trust; it must exist.

    Attributes:
        pem: the certificate of the authority, the value for `CURL_CA_BUNDLE` and the like.
    """

    def __init__(self, folder: Path) -> None:
        self._authority = trustme.CA(organization_name="mock-gerrit")
        self._contexts: dict[str, ssl.SSLContext] = {}
        self.pem = folder / "ca.pem"
        self._authority.cert_pem.write_to_path(str(self.pem))

    def server_context(self, name: str) -> ssl.SSLContext:
        """The TLS settings with which to answer as `name`, a host name or an IP address without a port."""
        if name not in self._contexts:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.set_alpn_protocols(["http/1.1"])
            self._authority.issue_cert(name).configure_cert(context)
            self._contexts[name] = context
        return self._contexts[name]

    @cached_property
    def client_context(self) -> ssl.SSLContext:
        """TLS settings for a Python client that trusts this authority and no other."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._authority.configure_trust(context)
        return context

    def environment(self) -> dict[str, str]:
        """The variables by which curl, Python's ssl and requests trust this authority."""
        return dict.fromkeys(("CURL_CA_BUNDLE", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"), str(self.pem))
