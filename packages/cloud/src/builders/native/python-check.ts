/**
 * Compiles a bot and the modules of its own that it imports, and looks for what they import, without running any of it. Writes one line of
 * JSON: `{checked, bot, problems: [{kind, file, line, text, module}]}`. Only imports that surely happen count: not those in functions, under
 * conditions, or with somebody to catch the failure. `bot` says whether the first file has that name at its top.
 */
export const PYTHON_CHECK = `
import ast, importlib.util, json, os, sys

root, entry, given = sys.argv[1], sys.argv[2], set(sys.argv[3].split(","))
sys.path.insert(0, os.path.dirname(os.path.join(root, entry)))
if root not in sys.path:
    sys.path.insert(1, root)
problems, seen, waiting = [], set(), [os.path.join(root, entry)]

def local(name):
    for folder in sys.path[:2]:
        path = os.path.join(folder, *name.split("."))
        for candidate in (path + ".py", os.path.join(path, "__init__.py")):
            if os.path.isfile(candidate):
                return candidate
        if os.path.isdir(path):
            return path

def found(name):
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False

def there(base):
    folder, name = os.path.split(base)
    return os.path.isdir(base) or (os.path.isdir(folder) and any(file.startswith(name + ".") for file in os.listdir(folder)))

def defines(body, wanted):
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if node.name == wanted:
                return True
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            if any((alias.asname or alias.name) in (wanted, "*") for alias in node.names):
                return True
        elif any(isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store) and inner.id == wanted for inner in ast.walk(node)):
            return True
        elif any(defines(getattr(node, part, []), wanted) for part in ("body", "orelse", "finalbody") if isinstance(getattr(node, part, None), list)):
            return True
        elif any(defines(handler.body, wanted) for handler in getattr(node, "handlers", [])):
            return True
    return False

bot = True
while waiting and len(seen) < 2000:
    path = waiting.pop()
    if path in seen or not os.path.isfile(path):
        continue
    seen.add(path)
    name = os.path.relpath(path, root)
    try:
        with open(path, "rb") as file:
            source = file.read()
        tree = compile(source, name, "exec", ast.PyCF_ONLY_AST)
        compile(source, name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        text = (getattr(error, "text", None) or "").strip()
        kind = type(error).__name__
        problems.append({"kind": "syntax", "file": name, "line": line, "module": text, "text": f"{kind}: {getattr(error, 'msg', error)}"})
        continue
    if len(seen) == 1:
        bot = defines(tree.body, "bot")
    for node in tree.body:
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [node.module] + [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level > 0:
            folder = os.path.dirname(path)
            for _ in range(node.level - 1):
                folder = os.path.dirname(folder)
            package = os.path.isfile(os.path.join(folder, "__init__.py"))
            for part in [node.module] if node.module else [alias.name for alias in node.names]:
                base = os.path.join(folder, *part.split("."))
                waiting.extend([base + ".py", os.path.join(base, "__init__.py")])
                # A name without a file may be one that the package defines.
                if not there(base) and (node.module or not package) and part != "*":
                    written = "." * node.level + part
                    problems.append({"kind": "import", "file": name, "line": node.lineno, "module": written, "text": f"ModuleNotFoundError: No module named '{written}'"})
        for index, imported in enumerate(names):
            own = local(imported)
            if own:
                waiting.append(own)
            top = imported.split(".")[0]
            if isinstance(node, ast.ImportFrom) and index > 0:
                continue
            if own or local(top) or top in given or found(top):
                continue
            problems.append({"kind": "import", "file": name, "line": node.lineno, "module": top, "text": f"ModuleNotFoundError: No module named '{top}'"})

print(json.dumps({"checked": len(seen), "bot": bot, "problems": problems}))
`
