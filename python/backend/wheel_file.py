"""A wheel whose bytes depend on its content only."""

from __future__ import annotations

import hashlib
import zipfile
from base64 import urlsafe_b64encode
from pathlib import Path

from .project import Project

#: Installers read it to know how to unpack.
_WHEEL = b"Wheel-Version: 1.0\nGenerator: botcli\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
#: The earliest time that the format knows.
_TIME = (1980, 1, 1, 0, 0, 0)
#: A plain file that everybody may read, in the upper half of the attributes.
_MODE = 0o100644 << 16
_UNIX = 3


class WheelFile:
    """Collects files; then one archive is written, with the list of all of them at its end."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._info = f"{project.stem}.dist-info"
        self._files: dict[str, bytes] = {}

    def add(self, name: str, content: bytes) -> None:
        """Adds a file by the name that it has when it is installed."""
        self._files[name] = content

    def write(self, folder: Path) -> str:
        """Writes the archive into a folder and says its name."""
        files = {
            **dict(sorted(self._files.items())),
            f"{self._info}/METADATA": self._project.metadata,
            f"{self._info}/WHEEL": _WHEEL,
            f"{self._info}/licenses/LICENSE": self._project.licence,
        }
        name = f"{self._project.stem}-py3-none-any.whl"
        # Nothing is compressed, because what a compressor makes depends on its version.
        with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_STORED) as archive:
            for path, content in {**files, f"{self._info}/RECORD": self._record(files)}.items():
                entry = zipfile.ZipInfo(path, _TIME)
                entry.external_attr = _MODE
                entry.create_system = _UNIX
                archive.writestr(entry, content)
        return name

    def _record(self, files: dict[str, bytes]) -> bytes:
        rows = [f"{path},sha256={_digest(content)},{len(content)}" for path, content in files.items()]
        return "\n".join([*rows, f"{self._info}/RECORD,,", ""]).encode()


def _digest(content: bytes) -> str:
    return urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
