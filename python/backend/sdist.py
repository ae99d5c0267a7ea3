"""An archive of the sources, without times and owners."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

from .project import Project, files_in


def write_sdist(project: Project, folder: Path) -> str:
    """Writes the archive into a folder and says its name."""
    home = project.home
    files = {
        "LICENSE": project.licence,
        "PKG-INFO": project.metadata,
        "README.md": (home / "README.md").read_bytes(),
        "pyproject.toml": (home / "pyproject.toml").read_bytes(),
        **dict(files_in(home, "backend")),
        **dict(files_in(home, "src")),
    }
    name = f"{project.stem}.tar.gz"
    with (
        open(folder / name, "wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path, content in files.items():
            entry = tarfile.TarInfo(f"{project.stem}/{path}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return name
