"""`python -m backend FOLDER VERSION` makes what botcli carries: the wheel, and what is in it, unpacked beside it."""

from __future__ import annotations

import sys
from pathlib import Path

from . import HOME, build_wheel
from .project import Project

if __name__ == "__main__":
    folder, version = sys.argv[1:]
    project = Project.read(HOME)
    if project.version != version:
        sys.exit(
            f"python/pyproject.toml has version {project.version}, but the npm packages have {version}; "
            "give both the same one"
        )
    for name, content in project.modules():
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    print(build_wheel(folder))
