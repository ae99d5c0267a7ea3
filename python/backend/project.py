"""What pyproject.toml and its folder say about the package."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

#: What the sources of the package may consist of; anything else is there by accident.
_SUFFIXES = frozenset({".py", ".typed"})


@dataclass(frozen=True)
class Project:
    """The package that is built."""

    home: Path
    name: str
    version: str
    #: Name, version and the rest, as an index or an installer reads it.
    metadata: bytes
    licence: bytes

    @classmethod
    def read(cls, home: Path) -> Project:
        """Reads pyproject.toml and the files that it names."""
        table = tomllib.loads((home / "pyproject.toml").read_text("utf-8"))["project"]
        name, version = table["name"], table["version"]
        if table.get("dependencies"):
            # They would be left out in silence, because the runner also uses the package without installing it.
            raise ValueError("this package has no dependencies; take them out of pyproject.toml")
        lines = [
            "Metadata-Version: 2.4",
            f"Name: {name}",
            f"Version: {version}",
            f"Summary: {table['description']}",
            f"License-Expression: {table['license']}",
            "License-File: LICENSE",
            *(f"Classifier: {classifier}" for classifier in table.get("classifiers", ())),
            f"Requires-Python: {table['requires-python']}",
            "Description-Content-Type: text/markdown",
            "",
            (home / table["readme"]).read_text("utf-8"),
        ]
        return cls(home, name, version, "\n".join(lines).encode(), _licence(home))

    @property
    def stem(self) -> str:
        """How the names of what is built begin."""
        return f"{self.name}-{self.version}"

    def modules(self) -> Iterator[tuple[str, bytes]]:
        """The files of the package, by the names that they have when they are installed."""
        yield from files_in(self.home / "src", self.name)


def files_in(root: Path, folder: str) -> Iterator[tuple[str, bytes]]:
    """The sources below a folder, in an order that is the same everywhere."""
    paths = [path for path in (root / folder).rglob("*") if path.suffix in _SUFFIXES and path.is_file()]
    for path in sorted(paths, key=lambda path: path.relative_to(root).as_posix()):
        yield path.relative_to(root).as_posix(), path.read_bytes()


def _licence(home: Path) -> bytes:
    """The licence lies beside pyproject.toml in an archive, and above it in the repository."""
    for folder in (home, home.parent):
        path = folder / "LICENSE"
        if path.is_file():
            return path.read_bytes()
    raise FileNotFoundError(f"there is no LICENSE in {home} or above it")
