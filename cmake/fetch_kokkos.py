#!/usr/bin/env python3
"""Download the source of Kokkos 4.5.1 and unpack it into a folder.

Two archives hold the same source, each pinned by its SHA-256: the release on GitHub, and the source
distribution of `pycompadre` on the Python package index, which carries Kokkos in a subfolder. The
second serves machines that reach a package mirror but not GitHub.

Usage: fetch_kokkos.py FOLDER
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
import urllib.parse
import urllib.request
from pathlib import Path

RELEASE = "https://github.com/kokkos/kokkos/releases/download/4.5.01/kokkos-4.5.01.tar.gz"
RELEASE_SHA256 = "52d003ffbbe05f30c89966e4009c017efb1662b02b2b73190670d3418719564c"
PACKAGE, PACKAGE_VERSION = "pycompadre", "1.7.6"
PACKAGE_SHA256 = "c766ec4d445ce076069be4b8c51a23ffac4ee79ea949ca86446bfd8c299b154c"
CONNECT_SECONDS = 10


def read_url(url: str, accept: str = "*/*") -> bytes:
    """Read a whole web page or file."""
    request = urllib.request.Request(url, headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=CONNECT_SECONDS) as answer:
        return answer.read()


def from_github() -> bytes:
    """Read the release archive."""
    return read_url(RELEASE)


def from_pip() -> bytes:
    """Read the source distribution with pip's own client: its index, proxy and certificates.

    `pip download` would also run the package's build, so this asks for the file alone.
    """
    from pip._internal.commands import create_command

    command = create_command("download")
    options, _ = command.parse_args(["--no-deps", "--no-binary", ":all:", PACKAGE])
    with command.main_context():
        session = command.get_default_session(options)
        finder = command._build_package_finder(options, session)
        for candidate in finder.find_all_candidates(PACKAGE):
            if str(candidate.version) == PACKAGE_VERSION and not candidate.link.is_wheel:
                answer = session.get(candidate.link.url_without_fragment)
                answer.raise_for_status()
                return answer.content
    raise FileNotFoundError(f"the index has no source of {PACKAGE} {PACKAGE_VERSION}")


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


def from_index() -> bytes:
    """Read the source distribution through the index's public page, where pip is too different."""
    page_url = f"{index_url().rstrip('/')}/{PACKAGE}/"
    page = read_url(page_url, "application/vnd.pypi.simple.v1+json, text/html;q=0.5").decode()
    name = f"{PACKAGE}-{PACKAGE_VERSION}.tar.gz"
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


def main(folder: Path) -> int:
    """Try each source in turn; return the exit code."""
    sources = [
        (from_github, RELEASE_SHA256, "kokkos-4.5.01/"),
        (from_pip, PACKAGE_SHA256, f"{PACKAGE}-{PACKAGE_VERSION}/kokkos/"),
        (from_index, PACKAGE_SHA256, f"{PACKAGE}-{PACKAGE_VERSION}/kokkos/"),
    ]
    failures = []
    for download, sha256, inside in sources:
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                archive = download()
        except (Exception, SystemExit) as failure:  # whatever goes wrong, the next source may work
            failures.append(f"  {download.__name__}: {failure}")
            continue
        found = hashlib.sha256(archive).hexdigest()
        if found != sha256:
            failures.append(f"  {download.__name__}: SHA-256 is {found}, expected {sha256}")
            continue
        folder.mkdir(parents=True, exist_ok=True)
        unpack(archive, inside, folder)
        return 0
    print("Could not download the source of Kokkos 4.5.1:", *failures, sep="\n", file=sys.stderr)
    print(
        "Install Kokkos >= 4.5 where CMake finds it, or set OCTANT_KOKKOS to its folder.",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
