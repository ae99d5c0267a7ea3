"""The build backend of this package (PEP 517 and 660). It needs nothing but Python, so it works without any index."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from .project import Project
from .sdist import write_sdist
from .wheel_file import WheelFile

Settings = Mapping[str, object] | None

#: The folder of pyproject.toml.
HOME = Path(__file__).resolve().parent.parent


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    """Makes the wheel and says its name."""
    project = Project.read(HOME)
    wheel = WheelFile(project)
    for name, content in project.modules():
        wheel.add(name, content)
    return wheel.write(Path(wheel_directory))


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Makes a wheel that leads to the sources where they are."""
    wheel = WheelFile(Project.read(HOME))
    wheel.add("__editable__.botcli.pth", f"{HOME / 'src'}\n".encode())
    return wheel.write(Path(wheel_directory))


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """Makes the archive of the sources and says its name."""
    return write_sdist(Project.read(HOME), Path(sdist_directory))
