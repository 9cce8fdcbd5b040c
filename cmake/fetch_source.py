#!/usr/bin/env python3
"""Download the source of a library and unpack it into a folder, unless it lies there.

Archives are pinned by their SHA-256. Kokkos comes from its release on GitHub, or from the source
distribution of `pycompadre` on the Python package index, which carries it in a subfolder: the
second serves machines that reach a package mirror but not GitHub. DUCC's own source distribution is
on that index.

Usage: fetch_source.py kokkos|ducc FOLDER
"""

from __future__ import annotations

import contextlib
import hashlib
import html
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path

CONNECT_SECONDS = 10


@dataclass(frozen=True)
class Release:
    """An archive at an address; the source lies below `inside`."""

    url: str
    sha256: str
    inside: str


@dataclass(frozen=True)
class Package:
    """A source distribution on the Python package index."""

    name: str
    version: str
    sha256: str
    inside: str


@dataclass(frozen=True)
class Library:
    """Where a library's source is found, and what to do where it is not."""

    title: str
    archives: tuple[Release | Package, ...]
    advice: str


LIBRARIES = {
    "kokkos": Library(
        "Kokkos 4.5.1",
        (
            Release(
                "https://github.com/kokkos/kokkos/releases/download/4.5.01/kokkos-4.5.01.tar.gz",
                "52d003ffbbe05f30c89966e4009c017efb1662b02b2b73190670d3418719564c",
                "kokkos-4.5.01/",
            ),
            Package(
                "pycompadre",
                "1.7.6",
                "c766ec4d445ce076069be4b8c51a23ffac4ee79ea949ca86446bfd8c299b154c",
                "pycompadre-1.7.6/kokkos/",
            ),
        ),
        "Install Kokkos >= 4.5 where CMake finds it, or set OCTANT_KOKKOS to its folder.",
    ),
    "ducc": Library(
        "DUCC 0.42.0",
        (
            Package(
                "ducc0",
                "0.42.0",
                "4e11c59b53a43355b053aebb2a62ee16eebeed026575f7d216cf09d437ce52ef",
                "ducc0-0.42.0/",
            ),
        ),
        "Unpack ducc0-0.42.0.tar.gz from the Python package index, and set OCTANT_DUCC to its "
        "folder.",
    ),
}


def read_url(url: str, accept: str = "*/*") -> bytes:
    """Read a whole web page or file."""
    request = urllib.request.Request(url, headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=CONNECT_SECONDS) as answer:
        return answer.read()


def from_address(release: Release) -> bytes:
    """Read the release archive."""
    return read_url(release.url)


def from_pip(package: Package) -> bytes:
    """Read the source distribution with pip's own client: its index, proxy and certificates.

    `pip download` would also run the package's build, so the file alone is requested.
    """
    from pip._internal.commands import create_command

    command = create_command("download")
    options, _ = command.parse_args(["--no-deps", "--no-binary", ":all:", package.name])
    with command.main_context():
        session = command.get_default_session(options)
        finder = command._build_package_finder(options, session)
        for candidate in finder.find_all_candidates(package.name):
            if str(candidate.version) == package.version and not candidate.link.is_wheel:
                answer = session.get(candidate.link.url_without_fragment)
                answer.raise_for_status()
                return answer.content
    raise FileNotFoundError(f"the index has no source of {package.name} {package.version}")


def index_url() -> str:
    """Return the package index that pip is configured to use."""
    if url := os.environ.get("PIP_INDEX_URL"):
        return url
    pip = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    url = subprocess.run(pip, capture_output=True, text=True, check=False).stdout.strip()
    if url:
        return url
    from pip._internal.models.index import PyPI

    return PyPI.simple_url


def from_index(package: Package) -> bytes:
    """Read the source distribution through the index's public page, where pip is too different."""
    page_url = f"{index_url().rstrip('/')}/{package.name}/"
    page = read_url(page_url, "application/vnd.pypi.simple.v1+json, text/html;q=0.5").decode()
    name = f"{package.name}-{package.version}.tar.gz"
    if page.lstrip().startswith("{"):
        links = [file["url"] for file in json.loads(page)["files"]]
    else:
        links = [html.unescape(link) for link in re.findall(r'href="([^"]+)"', page)]
    for link in links:
        address = urllib.parse.urljoin(page_url, link).partition("#")[0]
        if address.endswith("/" + name):
            return read_url(address)
    raise FileNotFoundError(f"{page_url} does not list {name}")


def unpack(archive: bytes, inside: str, folder: Path) -> None:
    """Unpack what lies below `inside` in the archive into `folder`."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar.getmembers():
            path = member.name.partition(inside)[2]
            if member.name.startswith(inside) and path and ".." not in Path(path).parts:
                member.name = path
                tar.extract(member, folder)


READERS = {Release: (from_address,), Package: (from_pip, from_index)}


def download(library: Library) -> tuple[bytes, str]:
    """Try each way in turn; return an archive, and where in it the source lies."""
    failures = []
    for archive in library.archives:
        for read in READERS[type(archive)]:
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    content = read(archive)
            except (Exception, SystemExit) as failure:  # whatever goes wrong, the next may work
                failures.append(f"  {read.__name__}: {failure}")
                continue
            found = hashlib.sha256(content).hexdigest()
            if found == archive.sha256:
                return content, archive.inside
            failures.append(f"  {read.__name__}: SHA-256 is {found}, expected {archive.sha256}")
    reasons = "\n".join(failures)
    sys.exit(f"Could not download the source of {library.title}:\n{reasons}\n{library.advice}")


def main(name: str, folder: Path) -> None:
    """Fetch a library; nobody finds half of it in its folder."""
    if folder.exists():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    archive, inside = download(LIBRARIES[name])
    with tempfile.TemporaryDirectory(dir=folder.parent) as unpacked:
        unpack(archive, inside, Path(unpacked) / "source")
        with contextlib.suppress(OSError):  # another one was faster
            (Path(unpacked) / "source").rename(folder)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
