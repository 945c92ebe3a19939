from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import pytest

from vault_tools.errors import PathRefused, TemplateBroken
from vault_tools.render.contexts import ReviewRootReadmeContext, plain
from vault_tools.render.environment import Renderer, packaged_templates


class Colour(StrEnum):
    RED = "red"


def renderer_with(folder: Path, **templates: str) -> Renderer:
    for name, source in templates.items():
        (folder / f"{name}.j2").write_text(source, "utf-8")
    return Renderer(folder)


def test_our_templates_are_found_and_all_of_them_compile() -> None:
    root = packaged_templates()
    names = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.j2"))
    assert "review-bundle.md.j2" in names
    assert len(Renderer().template_digest(names)) == 64


def test_what_a_template_puts_out_is_inert_without_any_filter(tmp_path: Path) -> None:
    renderer = renderer_with(tmp_path, a="{{ x }}|{{ x ~ x }}|{{ x | upper }}|{{ n }}|{{ none }}")
    assert renderer.render("a.j2", {"x": "[[d]]", "n": 3, "none": None}) == (
        r"\[\[d\]\]|\[\[d\]\]\[\[d\]\]|\[\[D\]\]|3|"
    )


def test_template_code_in_a_value_is_never_evaluated(tmp_path: Path) -> None:
    renderer = renderer_with(tmp_path, a="{{ x }}")
    assert renderer.render("a.j2", {"x": "{{ 7 + 7 }} {% raw %}"}) == "{{ 7 + 7 }} {% raw %}"


@pytest.mark.parametrize(
    "source",
    [
        "{{ x.__class__ }}",
        "{{ x.__class__.__mro__[1].__subclasses__() }}",
        "{{ ''.__class__.__base__ }}",
        "{{ wikilink.__globals__ }}",
        "{{ x | attr('__class__') }}",
        "{{ '{0.__class__}'.format(x) }}",
        "{{ items.append(1) }}",
        "{{ self.__init__ }}",
        "{{ cycler.__init__.__globals__ }}",
        "{{ range(9) }}",
        "{{ unknown }}",
        "{{ x.missing }}",
        "{% for %}",
        "{% include 'gone.j2' %}",
    ],
)
def test_a_template_that_reaches_for_more_than_text_raises(tmp_path: Path, source: str) -> None:
    with pytest.raises(TemplateBroken) as caught:
        renderer_with(tmp_path, a=source).render("a.j2", {"x": "text", "items": ["a"]})
    assert caught.value.hint


@pytest.mark.parametrize(
    "value", [Path("x"), Colour.RED, 1.5, ("a",), b"x", object(), {"k": Path("x")}, ["a", {1.5: 1}]]
)
def test_only_plain_data_reaches_a_template(tmp_path: Path, value: object) -> None:
    with pytest.raises(TypeError, match="plain data"):
        renderer_with(tmp_path, a="x").render("a.j2", {"x": value})  # type: ignore[dict-item]


def test_an_override_wins_and_changes_the_digest(tmp_path: Path) -> None:
    name = "blocks/bundle-item.md.j2"
    (tmp_path / "blocks").mkdir()
    (tmp_path / name).write_text("mine", "utf-8")
    assert Renderer(tmp_path).render(name, {}) == "mine"
    assert Renderer(tmp_path).template_digest([name]) != Renderer().template_digest([name])


def test_a_template_digest_covers_what_is_included(tmp_path: Path) -> None:
    renderer = renderer_with(tmp_path, a="{% include 'b.j2' %}", b="one")
    before = renderer.template_digest(["a.j2"])
    (tmp_path / "b.j2").write_text("two", "utf-8")
    assert Renderer(tmp_path).template_digest(["a.j2"]) != before


def test_an_include_whose_name_is_computed_has_no_digest(tmp_path: Path) -> None:
    with pytest.raises(TemplateBroken, match="computed"):
        renderer_with(tmp_path, a="{% include x %}").template_digest(["a.j2"])


def test_a_name_that_leads_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    inside = tmp_path / "templates"
    inside.mkdir()
    (tmp_path / "secret.j2").write_text("secret", "utf-8")
    for name in ("../secret.j2", "x/../../secret.j2"):
        with pytest.raises(PathRefused):
            Renderer(inside).render(name, {})
    with pytest.raises(TemplateBroken):
        Renderer(inside).render(str(tmp_path / "secret.j2"), {})


def test_a_linked_template_outside_the_folder_is_refused(tmp_path: Path) -> None:
    inside = tmp_path / "templates"
    inside.mkdir()
    (tmp_path / "secret.j2").write_text("secret", "utf-8")
    (inside / "a.j2").symlink_to(tmp_path / "secret.j2")
    (inside / "b.j2").write_text("{% include 'a.j2' %}", "utf-8")
    for name in ("a.j2", "b.j2"):
        with pytest.raises(PathRefused):
            Renderer(inside).render(name, {})


def test_the_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.j2").write_text("here", "utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert Renderer(tmp_path / "link").render("a.j2", {}) == "here"


def test_an_unknown_template_is_named() -> None:
    with pytest.raises(TemplateBroken, match=r"nothing\.j2"):
        Renderer().render("nothing.j2", {})


def test_the_readme_says_where_it_is_and_what_decides() -> None:
    context = ReviewRootReadmeContext(
        workspace_key="main", review_root="00-system/plur1bus", version="0.1.0"
    )
    text = Renderer().render("review-root-readme.md.j2", plain(context))
    assert "00-system/plur1bus" in text
    assert text.count("vault-tools ") >= 5
    assert "approves nothing" in text
