"""Checks the files of many projects at once, with nothing but Python.

Reads `[{"name", "files": {path: text}, "elsewhere": [variables that others read]}]`, writes a list of what is wrong.
"""

from __future__ import annotations

import ast
import builtins
import json
import re
import symtable
import sys
import tomllib
from collections.abc import Iterator
from typing import Any

LINE_WIDTH = 100
READERS = {"required", "either", "optional", "check_settings"}
GIVEN = {"given", "given_whole", "given_one_of"}
ENV_LINE = re.compile(r"(# )?([A-Z][A-Z0-9_]*)=(.*)")

#: Keys of eval files, as pipecat-ai 1.14 reads them, by where they stand.
EVAL_KEYS = {
    "file": {"name", "scenarios", "user", "judge"},
    "scenario": {"name", "turns"},
    "turn": {"user", "expect"},
    "expect": {"event", "within_ms", "text_contains", "eval"},
    "user": {"modality", "speech"},
    "judge": {"modality", "eval", "transcription"},
}


def check(project: dict[str, Any]) -> Iterator[str]:
    files: dict[str, str] = project["files"]
    read: dict[str, str | None] = {}
    required: list[str] = []
    for path, text in files.items():
        if path.startswith("client/"):
            yield from client(path, text)
            continue
        yield from layout(path, text)
        if path.endswith(".py"):
            try:
                tree = ast.parse(text, path)
            except SyntaxError as error:
                yield f"{path}: {error}"
                continue
            yield from names(path, text)
            read |= variables_read(tree)
            required += required_by(tree)
            if not path.endswith(("settings.py", "test_bot.py")) and "environ" in text:
                yield f"{path}: reads the environment by itself"
        elif path.endswith(".toml"):
            try:
                tomllib.loads(text)
            except tomllib.TOMLDecodeError as error:
                yield f"{path}: {error}"
        elif path.endswith(".yaml"):
            yield from evals(path, text)
        elif path.endswith("Dockerfile"):
            yield from dockerfile(text, files)
    yield from environment(files["server/.env.example"], read, required, set(project["elsewhere"]))


def client(path: str, text: str) -> Iterator[str]:
    """Linters and compilers of its own know the rest."""
    if path.endswith(".json"):
        try:
            json.loads(text)
        except ValueError as error:
            yield f"{path}: {error}"


def layout(path: str, text: str) -> Iterator[str]:
    if not text.endswith("\n") or text.endswith("\n\n"):
        yield f"{path}: does not end with one newline"
    for number, line in enumerate(text.split("\n"), 1):
        if line != line.rstrip() or "\t" in line:
            yield f"{path}:{number}: has blanks at its end, or tabs"
        if path.endswith(".py") and len(line) > LINE_WIDTH:
            yield f"{path}:{number}: is longer than {LINE_WIDTH}"
        if "undefined" in line or "[object" in line or "${" in line:
            yield f"{path}:{number}: has a hole: {line}"


def names(path: str, text: str) -> Iterator[str]:
    """Names that nobody defines, and names that nobody uses."""
    module = symtable.symtable(text, path, "exec")
    defined = {symbol.get_name() for symbol in module.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    defined |= {"__file__", "__name__", *vars(builtins)}
    used: set[str] = set()
    for table in tables(module):
        inner = {name for child in table.get_children() for name in free(child)}
        for symbol in table.get_symbols():
            name = symbol.get_name()
            if symbol.is_referenced() and (symbol.is_global() or table is module):
                used.add(name)
                if name not in defined:
                    yield f"{path}: {name} is not defined"
            plain = table.get_type() == "function" and not symbol.is_parameter() and not symbol.is_namespace()
            if plain and symbol.is_local() and not symbol.is_referenced() and name not in inner and name != "_":
                yield f"{path}: {name} in {table.get_name()} is not used"
    for symbol in module.get_symbols():
        if symbol.is_imported() and symbol.get_name() not in used:
            yield f"{path}: {symbol.get_name()} is imported and not used"


def tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from tables(child)


def free(table: symtable.SymbolTable) -> Iterator[str]:
    for inner in tables(table):
        yield from (symbol.get_name() for symbol in inner.get_symbols() if symbol.is_free())


def variables_read(tree: ast.Module) -> dict[str, str | None]:
    """Variables that the code reads, with the fallback that it has for each."""
    found: dict[str, str | None] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        texts = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
        if node.func.id == "either":
            found[texts[0]] = texts[1]
        elif node.func.id in READERS:
            found |= {text: None for text in texts if text not in found}
        elif node.func.id in GIVEN:
            found |= {word.value.value: None for word in node.keywords if isinstance(word.value, ast.Constant)}
    return found


def required_by(tree: ast.Module) -> list[str]:
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target if isinstance(node, ast.AnnAssign) else None
        if isinstance(target, ast.Name) and target.id == "REQUIRED" and isinstance(node.value, ast.List):
            return [item.value for item in node.value.elts if isinstance(item, ast.Constant)]
    return []


def environment(
    text: str, read: dict[str, str | None], required: list[str], elsewhere: set[str]
) -> Iterator[str]:
    """The env file has what is read, and nothing else; what is required is blank, the rest are comments."""
    listed: dict[str, tuple[bool, str]] = {}
    lines = text.split("\n")
    for number, line in enumerate(lines):
        match = ENV_LINE.fullmatch(line)
        if match is None:
            if line and not line.startswith("# "):
                yield f".env.example: {line} is neither a comment nor a variable"
            continue
        comment, name, value = match.groups()
        if name in listed:
            yield f".env.example: {name} is there twice"
        listed[name] = (comment is None, value)
        if comment is None and value:
            yield f".env.example: {name} is required and not blank"
        if not lines[number - 1].startswith("# ") or ENV_LINE.fullmatch(lines[number - 1]):
            yield f".env.example: nothing says what {name} is"
    blank = [name for name, (is_required, _) in listed.items() if is_required]
    if sorted(blank) != sorted(required):
        yield f"blank in .env.example: {blank}, but settings.py requires {required}"
    for name in (set(read) | set(required)) - set(listed):
        yield f"{name} is read and not in .env.example"
    for name in set(listed) - set(read) - set(required) - elsewhere:
        yield f"{name} is in .env.example and read by nobody"
    for name, fallback in read.items():
        if fallback is not None and listed.get(name) != (False, fallback):
            yield f"{name} falls back to {fallback}, but .env.example says {listed.get(name)}"


def dockerfile(text: str, files: dict[str, str]) -> Iterator[str]:
    """What is copied exists."""
    stages: set[str] = set()
    for line in text.split("\n"):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if words[0] == "FROM":
            stages.add(words[-1])
        elif words[0] == "COPY" and words[1].startswith("--from="):
            if words[1].removeprefix("--from=") not in stages:
                yield f"Dockerfile: no stage for {line}"
        elif words[0] == "COPY":
            for source in words[1:-1]:
                if "*" in source:
                    # What there may be or not.
                    continue
                place = f"server/{source}" if source != "." else "server"
                if not any(path == place or path.startswith(f"{place}/") for path in files):
                    yield f"Dockerfile: {source} does not exist"
        elif words[0] not in {"ARG", "RUN", "ENV", "WORKDIR", "USER", "EXPOSE", "CMD"}:
            yield f"Dockerfile: {line}"
        if words[0] == "CMD":
            json.loads(line.removeprefix("CMD"))


def evals(path: str, text: str) -> Iterator[str]:
    try:
        file = parse_yaml(text)
        yield from unknown(path, "file", file)
        for scenario in file["scenarios"]:
            yield from unknown(path, "scenario", scenario)
            for turn in scenario["turns"]:
                yield from unknown(path, "turn", turn)
                for expected in turn["expect"]:
                    yield from unknown(path, "expect", expected)
                    if expected["event"] != "response":
                        yield f"{path}: there is no event {expected['event']}"
        for part in ("user", "judge"):
            yield from unknown(path, part, file.get(part, {}))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        yield f"{path}: {type(error).__name__} {error}"


def unknown(path: str, kind: str, value: dict[str, Any]) -> Iterator[str]:
    for key in set(value) - EVAL_KEYS[kind]:
        yield f"{path}: {key} is no key of a {kind}"


def parse_yaml(text: str) -> Any:
    """As much of YAML as we write: blocks of mappings and lists, plain and quoted words, numbers."""
    lines = [
        (len(line) - len(line.lstrip()), line.strip())
        for line in text.split("\n")
        if line.strip() and not line.strip().startswith("#")
    ]
    value, rest = block(lines, 0)
    if rest:
        raise ValueError(f"cannot read {rest[0]}")
    return value


Lines = list[tuple[int, str]]


def block(lines: Lines, indent: int) -> tuple[Any, Lines]:
    if lines[0][0] != indent:
        raise ValueError(f"wrong indent: {lines[0]}")
    items: list[Any] = []
    mapping: dict[str, Any] = {}
    while lines and lines[0][0] == indent:
        line = lines[0][1]
        if line.startswith("- "):
            item, lines = block([(indent + 2, line[2:]), *lines[1:]], indent + 2)
            items.append(item)
            continue
        match = re.fullmatch(r"(\w+):(?: (.+))?", line)
        if match is None or items:
            raise ValueError(f"cannot read {line}")
        key, word = match.groups()
        if key in mapping:
            raise ValueError(f"{key} is there twice")
        lines = lines[1:]
        if word is None:
            mapping[key], lines = block(lines, lines[0][0])
        else:
            mapping[key] = scalar(word)
    return (items or mapping), lines


def scalar(word: str) -> Any:
    if word.startswith('"'):
        return json.loads(word)
    if re.fullmatch(r"[0-9]+", word):
        return int(word)
    if re.search(r": |^[\[{&*!|>%@`'\"]| #", word):
        raise ValueError(f"{word} needs quotes")
    return word


def main() -> None:
    projects = json.load(sys.stdin)
    json.dump([f"{project['name']}: {problem}" for project in projects for problem in check(project)], sys.stdout)


main()
