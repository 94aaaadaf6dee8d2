"""Finds the pinned source distribution of a native library, with the standard library alone.

Looked for in this order: the library's environment variable, the cache, then wherever pip is configured to
look (find-links, index-url, extra-index-url). A file counts only if its sha256 is the pinned one. `pip download` would
also install the build tools of the library and run its build backend, for metadata that nobody needs.
"""

import ast
import base64
import hashlib
import html
import json
import os
import re
import ssl
import subprocess
import sys
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import unquote, urljoin, urlsplit
from urllib.request import Request, url2pathname, urlopen

from . import cache

TIMEOUT = 60  # seconds, per request
ATTEMPTS = 3
PAGE_TYPES = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
HREF = re.compile(r"""<a\s[^>]*?href\s*=\s*["']([^"']+)""", re.IGNORECASE)


class SourceNotFound(Exception):
    """No usable source; the text lists the attempts and the variable to set."""


@dataclass(frozen=True)
class Sdist:
    """One pinned source distribution.

    Attributes:
        project: its name on a package index, as in "ale-py".
        version: the one version we build with.
        sha256: of the tar.gz.
        variable: environment variable that may name the tar.gz or the folder it unpacks to.
        version_file: file inside that holds nothing but the version, or a line "Version: " with it.
        name: the beginning of its file's name, where that is older than today's rule, which has no "-".
    """

    project: str
    version: str
    sha256: str
    variable: str
    version_file: str
    name: str = ""

    @property
    def filename(self):
        return f"{self.name or self.project.replace('-', '_')}-{self.version}.tar.gz"


def find(sdist):
    """Finds the sources.

    Returns:
        The Path of the verified tar.gz, or of a folder if the environment variable names one.

    Raises:
        SourceNotFound: nothing usable; lists the attempts and remedies.
    """
    given = os.environ.get(sdist.variable)
    if given:
        return _given(sdist, Path(given))
    target = cache.folder() / "sdist" / sdist.filename
    if target.is_file() and _sha256(target.read_bytes()) == sdist.sha256:
        return target
    tried = []
    for place, read in _places(sdist, PipSettings.read()):
        try:
            data = read()
        # URLError and HTTPError are OSErrors
        except (OSError, HTTPException, ValueError, LookupError) as error:
            tried.append(f"{place}: {error}")
            continue
        if _sha256(data) == sdist.sha256:
            target = cache.folder_of_new() / "sdist" / sdist.filename
            with cache.publish(target) as new:
                new.write_bytes(data)
            return target
        tried.append(f"{place}: expected sha256 {sdist.sha256}, got {_sha256(data)}")
    raise SourceNotFound("\n".join([
        f"the sources of {sdist.project} {sdist.version} are needed to build and were not found; tried",
        *(f"  - {line}" for line in tried or ["nothing: pip is configured without any index"]),
        f"Where there is network access, get them with: pip download --no-deps --no-binary {sdist.project} "
        f"{sdist.project}=={sdist.version}",
        f"then set {sdist.variable} to {sdist.filename}, or to the folder it unpacks to.",
    ]))


def _given(sdist, path):
    """Checks the path in the environment variable; it is never replaced by something else."""
    if path.is_dir():
        file = path / sdist.version_file
        text = file.read_text().strip() if file.is_file() else f"no {sdist.version_file}"
        found = re.search(r"^Version: (.*)$", text, re.MULTILINE)
        version = found[1] if found else text
        if version == sdist.version:
            return path.resolve()
        problem = f"expected version {sdist.version}, got {version}"
    elif path.is_file():
        got = _sha256(path.read_bytes())
        if got == sdist.sha256:
            return path.resolve()
        problem = f"expected sha256 {sdist.sha256}, got {got}"
    else:
        problem = "there is no such file or folder"
    raise SourceNotFound(
        f"{sdist.variable}={path}: {problem}. Set it to {sdist.filename}, or to the folder it unpacks to."
    )


def _sha256(data):
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True)
class PipSettings:
    """The part of pip's configuration that says where packages come from."""

    find_links: tuple
    indexes: tuple
    cert: str | None

    @classmethod
    def read(cls):
        """Asks pip for its configuration files; `PIP_*` variables win over these, as in pip itself."""
        # the pip that installs; -I hides the modules that a build environment puts before it
        for options in (["-I"], []):
            done = subprocess.run([sys.executable, *options, "-m", "pip", "config", "list"], capture_output=True,
                                  text=True)
            if not done.returncode:
                break
        listing = done.stdout
        found = dict(re.findall(r"^([\w:.-]+)=(.*)$", listing, re.MULTILINE))

        def get(name):
            variable = os.environ.get("PIP_" + name.upper().replace("-", "_"))
            if variable is not None:
                return variable
            return ast.literal_eval(found.get(f"install.{name}") or found.get(f"global.{name}") or "''")

        indexes = []
        if get("no-index").lower() not in ("1", "true", "yes", "on"):
            indexes = [get("index-url") or "https://pypi.org/simple", *get("extra-index-url").split()]
        cert = get("cert") or os.environ.get("SSL_CERT_FILE") or None
        return cls(tuple(get("find-links").split()), tuple(indexes), cert)


def _places(sdist, pip):
    """Yields (name for messages, function that returns the file's bytes), in pip's order of trust."""
    context = ssl.create_default_context(cafile=pip.cert if pip.cert and os.path.isfile(pip.cert) else None)
    for link in pip.find_links:
        path = _local(link)
        if path and path.is_dir():
            yield str(path), (path / sdist.filename).read_bytes
        else:
            page = path.absolute().as_uri() if path else link
            yield _public(page), lambda page=page: _from_page(sdist, page, context)
    for index in pip.indexes:
        page = f"{index.rstrip('/')}/{sdist.project}/"
        if page.startswith("file:"):  # as pip does: a folder on disk has no server to look for its index
            page += "index.html"
        yield _public(page), lambda page=page: _from_page(sdist, page, context)


def _from_page(sdist, page, context):
    """Reads a listing (PEP 691 JSON, PEP 503 HTML or any page with links), and the file that it links to."""
    address, kind, body = _fetch(page, context)
    if "json" in kind:
        links = [file["url"] for file in json.loads(body)["files"] if file["filename"] == sdist.filename]
    else:
        hrefs = HREF.findall(body.decode(errors="replace"))
        links = [link for link in map(html.unescape, hrefs) if _basename(link) == sdist.filename]
    if not links:
        raise LookupError(f"does not list {sdist.filename}")
    link = urljoin(address, links[0])
    login, at, host = urlsplit(page).netloc.rpartition("@")
    if at and urlsplit(link).netloc == host:  # files of the same host need the same login
        link = urlsplit(link)._replace(netloc=f"{login}@{host}").geturl()
    return _fetch(link, context)[2]


def _fetch(url, context):
    """Returns (final address, content type, body)."""
    headers = {"Accept": f"{PAGE_TYPES}, */*;q=0.1", "User-Agent": "cypool-build"}
    request = Request(_public(url), headers=headers)
    parts = urlsplit(url)
    if parts.username:
        login = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
        # not handed on to where a redirect leads
        request.add_unredirected_header("Authorization", "Basic " + base64.b64encode(login).decode())
    for left in reversed(range(ATTEMPTS)):
        try:
            with urlopen(request, timeout=TIMEOUT, context=context) as answer:
                return answer.geturl(), answer.headers.get("Content-Type", ""), answer.read()
        # again after a broken connection, not for a missing file
        except (HTTPError, HTTPException, ConnectionError, TimeoutError) as error:
            if isinstance(error, HTTPError):
                error.close()
            if not left or (isinstance(error, HTTPError) and error.code < 500):
                raise


def _public(url):
    """The address without a login, which must not show up in messages."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _basename(link):
    return unquote(urlsplit(link).path).rpartition("/")[2]


def _local(link):
    """The path that a find-links entry names, or None if it is a web page."""
    parts = urlsplit(link)
    if parts.scheme == "file":
        return Path(url2pathname(parts.path))
    return None if parts.scheme in ("http", "https") else Path(link).expanduser()
