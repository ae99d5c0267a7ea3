"""What the tests share. Importing it makes the package of this folder importable."""

from __future__ import annotations

import sys
from pathlib import Path

PYTHON_FOLDER = Path(__file__).resolve().parents[2]
SOURCE_FOLDER = PYTHON_FOLDER / "src"

if str(SOURCE_FOLDER) not in sys.path:
    sys.path.insert(0, str(SOURCE_FOLDER))
