from __future__ import annotations

import csv
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import unittest
import zipfile
from base64 import urlsafe_b64decode
from email.parser import BytesParser
from email.policy import compat32
from pathlib import Path

from support import PYTHON_FOLDER, SOURCE_FOLDER

VERSION = tomllib.loads((PYTHON_FOLDER / "pyproject.toml").read_text("utf-8"))["project"]["version"]
NAME = f"botcli-{VERSION}"
WHEEL = f"{NAME}-py3-none-any.whl"


class BuildTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def build(self, hook: str, home: Path = PYTHON_FOLDER) -> Path:
        """Calls the backend as an installer does: in a fresh process, in the folder of the project."""
        call = f"import backend; print(backend.{hook}({str(self.root)!r}))"
        name = subprocess.run(
            [sys.executable, "-c", call], cwd=home, capture_output=True, text=True, check=True
        ).stdout.strip()
        return self.root / name

    def copy_of_repository(self) -> Path:
        repository = self.root / "copy"
        ignored = shutil.ignore_patterns("__pycache__", "tests*")
        shutil.copytree(PYTHON_FOLDER, repository / "python", ignore=ignored, copy_function=shutil.copyfile)
        shutil.copyfile(PYTHON_FOLDER.parent / "LICENSE", repository / "LICENSE")
        return repository / "python"

    def python(self, *args: str, path: Path) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "PYTHONPATH": str(path)}
        command = [sys.executable, *args]
        return subprocess.run(command, cwd=self.root, env=env, capture_output=True, text=True, check=False)

    def test_a_wheel_has_all_modules_and_says_what_it_is(self) -> None:
        wheel = self.build("build_wheel")
        self.assertEqual(wheel.name, WHEEL)
        with zipfile.ZipFile(wheel) as archive:
            self.assertIsNone(archive.testzip())
            names = archive.namelist()
            modules = [path for path in SOURCE_FOLDER.rglob("*.py")] + [SOURCE_FOLDER / "botcli" / "py.typed"]
            info = ("METADATA", "WHEEL", "licenses/LICENSE", "RECORD")
            expected = [path.relative_to(SOURCE_FOLDER).as_posix() for path in modules]
            self.assertEqual(sorted(names), sorted([*expected, *(f"{NAME}.dist-info/{name}" for name in info)]))
            metadata = BytesParser(policy=compat32).parsebytes(archive.read(f"{NAME}.dist-info/METADATA"))
            licence = archive.read(f"{NAME}.dist-info/licenses/LICENSE")
        self.assertEqual(metadata["Name"], "botcli")
        self.assertEqual(metadata["Version"], VERSION)
        self.assertEqual(metadata["Requires-Python"], ">=3.11")
        self.assertEqual(metadata["License-Expression"], "Apache-2.0")
        self.assertEqual(metadata["License-File"], "LICENSE")
        self.assertIsNone(metadata["Requires-Dist"])
        self.assertIn("# botcli for Python", metadata.get_payload())
        self.assertIn(b"Apache License", licence)

    def test_the_record_of_a_wheel_is_true(self) -> None:
        with zipfile.ZipFile(self.build("build_wheel")) as archive:
            record = archive.read(f"{NAME}.dist-info/RECORD").decode()
            rows = list(csv.reader(io.StringIO(record)))
            self.assertEqual([row[0] for row in rows], archive.namelist())
            self.assertEqual(rows.pop(), [f"{NAME}.dist-info/RECORD", "", ""])
            for path, digest, size in rows:
                content = archive.read(path)
                kind, _, value = digest.partition("=")
                self.assertEqual((kind, int(size)), ("sha256", len(content)))
                self.assertEqual(urlsafe_b64decode(value + "="), hashlib.sha256(content).digest())

    def test_the_same_sources_make_the_same_bytes(self) -> None:
        first = self.build("build_wheel").read_bytes()
        home = self.copy_of_repository()
        for path in home.rglob("*"):
            path.chmod(0o755)
            os.utime(path, (1_000_000_000, 1_000_000_000))
        (home / "src" / "botcli" / "notes.txt").write_text("not a part of it")
        self.assertEqual(self.build("build_wheel", home).read_bytes(), first)

    def test_a_wheel_works_as_it_is(self) -> None:
        wheel = self.build("build_wheel")
        found = self.python("-c", "import botcli, botcli.guest; print(botcli.__file__)", path=wheel)
        self.assertEqual(found.stdout.strip(), f"{wheel}/botcli/__init__.py", found.stderr)

    def test_an_archive_of_the_sources_makes_the_same_wheel(self) -> None:
        wheel = self.build("build_wheel").read_bytes()
        with tarfile.open(self.build("build_sdist")) as archive:
            archive.extractall(self.root)
        self.assertEqual(self.build("build_wheel", self.root / NAME).read_bytes(), wheel)

    def test_an_editable_wheel_leads_to_the_sources(self) -> None:
        with zipfile.ZipFile(self.build("build_editable")) as archive:
            archive.extractall(self.root / "site")
        code = f"import site; site.addsitedir({str(self.root / 'site')!r}); import botcli; print(botcli.__file__)"
        found = self.python("-c", code, path=self.root)
        self.assertEqual(found.stdout.strip(), str(SOURCE_FOLDER / "botcli" / "__init__.py"), found.stderr)

    def test_a_version_that_is_not_that_of_the_runner_is_refused(self) -> None:
        args = [sys.executable, "-m", "backend", str(self.root / "carried")]
        refused = subprocess.run(
            [*args, f"{VERSION}.1"], cwd=PYTHON_FOLDER, capture_output=True, text=True, check=False
        )
        self.assertEqual(refused.returncode, 1)
        self.assertIn(f"has version {VERSION}, but the npm packages have {VERSION}.1", refused.stderr)
        self.assertFalse((self.root / "carried").exists())


if __name__ == "__main__":
    unittest.main()
