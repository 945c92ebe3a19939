"""The one place where templates are found and rendered: sandboxed, strict, plain values only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path

import jinja2
from jinja2 import meta
from jinja2.sandbox import ImmutableSandboxedEnvironment

from vault_tools.core.digest import sha256_hex
from vault_tools.errors import PathRefused, TemplateBroken
from vault_tools.render import filters

Plain = str | int | bool | None | list["Plain"] | dict[str, "Plain"]


def packaged_templates() -> Path:
    """Give the folder of our own templates: inside the package if it is there, else beside it."""
    package = Path(str(resources.files("vault_tools")))
    inside = package / "templates"
    return inside if inside.is_dir() else package.parent / "templates"


class Renderer:
    """Render templates by name; an override folder, when set, is looked up first.

    What `{{ }}` puts out is made inert unless a filter of ours has already made it ready, so a
    template that forgets a filter shows foreign text as plain words (spec 07 rule 3).
    """

    def __init__(self, override: Path | None = None) -> None:
        roots = [packaged_templates()] if override is None else [override, packaged_templates()]
        self._environment = ImmutableSandboxedEnvironment(
            loader=ConfinedLoader(roots),
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            finalize=filters.shown,
        )
        # Jinja's own filters and globals reach further than text: keep the few that cannot harm.
        self._environment.filters = {
            name: made for name, made in self._environment.filters.items() if name in _KEPT_FILTERS
        }
        self._environment.filters.update(filters.FILTERS)
        self._environment.globals = dict(filters.FUNCTIONS)

    def render(self, name: str, context: Mapping[str, Plain]) -> str:
        """Render a template with plain values.

        Raises TypeError when a value is anything but str, int, bool, None, list or dict;
        TemplateBroken when the template is missing, ill-formed, uses an unknown value or tries
        to leave the sandbox; PathRefused when it lies outside its folder.
        """
        for key, value in context.items():
            refuse_objects(value, key)
        try:
            return self._environment.get_template(name).render(context)
        except jinja2.TemplateError as error:
            raise _broken(name, error) from error

    def template_digest(self, names: Iterable[str]) -> str:
        """Hash the sources of templates and of all they include, as the sealed item names them."""
        known: dict[str, str] = {}
        for name in names:
            self._collect(name, known)
        return sha256_hex("".join(f"{name}\0{known[name]}\0" for name in sorted(known)))

    def _collect(self, name: str, known: dict[str, str]) -> None:
        if name in known:
            return
        try:
            source = self._source(name)
            known[name] = sha256_hex(source)
            tree = self._environment.parse(source)
        except jinja2.TemplateError as error:
            raise _broken(name, error) from error
        for other in meta.find_referenced_templates(tree):
            if other is None:
                raise TemplateBroken(
                    f"{name} includes a template whose name is computed.",
                    "Write the name of an included template as a plain string.",
                )
            self._collect(other, known)

    def _source(self, name: str) -> str:
        loader = self._environment.loader
        assert loader is not None
        return loader.get_source(self._environment, name)[0]


class ConfinedLoader(jinja2.BaseLoader):
    """Load templates from folders, first hit wins; what really lies elsewhere is refused."""

    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = tuple(roots)

    def get_source(
        self, environment: jinja2.Environment, template: str
    ) -> tuple[str, str, Callable[[], bool]]:
        """Give source, path and freshness check of a template.

        Raises PathRefused for a name or a link that leads out of the folder, TemplateNotFound
        when no folder has the template.
        """
        for root in self._roots:
            path = _confined(root, template)
            if path.is_file():
                source = path.read_text(encoding="utf-8")
                return source, str(path), lambda: True
        raise jinja2.TemplateNotFound(template)


def _confined(root: Path, name: str) -> Path:
    path = root.joinpath(*name.split("/"))
    if not path.resolve().is_relative_to(root.resolve()):
        raise PathRefused(
            f"The template {name} leads out of {root}.",
            "Keep templates, and what links in that folder point to, inside the folder.",
        )
    return path


def refuse_objects(value: object, where: str) -> None:
    """Raise TypeError, naming the place, when a value is more than plain data (spec 07 rule 10)."""
    if type(value) is list:
        for n, entry in enumerate(value):
            refuse_objects(entry, f"{where}[{n}]")
    elif type(value) is dict:
        for key, entry in value.items():
            refuse_objects(key, f"a key of {where}")
            refuse_objects(entry, f"{where}.{key}")
    elif value is not None and type(value) not in (str, int, bool):
        raise TypeError(f"{where}: templates get plain data only, not {type(value).__name__}")


def _broken(name: str, error: jinja2.TemplateError) -> TemplateBroken:
    if isinstance(error, jinja2.TemplateNotFound):
        return TemplateBroken(
            f"There is no template {error.message}.",
            "Check the name in the including template, or reinstall vault-tools.",
        )
    place = f", line {error.lineno}" if isinstance(error, jinja2.TemplateSyntaxError) else ""
    return TemplateBroken(
        f"The template {name} cannot be rendered{place}: {error.message}.",
        "Correct the template, or remove it from the override folder to use ours again.",
    )


_KEPT_FILTERS = frozenset({"length", "default", "upper", "lower", "capitalize", "first", "last"})
