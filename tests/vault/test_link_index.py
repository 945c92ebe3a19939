from __future__ import annotations

from pathlib import Path

from vault_tools.vault.link_index import LinkIndex, visible_paths
from vault_tools.vault.manifest import Entry, Manifest

NOTES = {
    "Home.md": "---\nup: '[[Area]]'\nrelated:\n- '[m](People/Lena.md)'\n- plain\n---\n"
    "[[lena]] and [[Ghost]]\n\n```\n[[code]]\n```\n![[plan.png|40]] [[Leni]]\n",
    "Area.md": "# Area\n\n    [[indented code]]\n\n- item\n    [[Home]]\n\n"
    "<div>\n[[html]]\n</div>\n",
    "People/Lena.md": "---\naliases: [Leni]\n---\n",
    "broken.md": "---\nup: [[Area]]\nx: {{y}}: z\n---\n[[Home#^b|h]]\n",
}


def index_of(root: Path) -> LinkIndex:
    for name, text in NOTES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "img").mkdir()
    (root / "img/plan.png").write_bytes(b"")
    (root / ".trash").mkdir()
    (root / ".trash/Ghost.md").write_text("")
    (root / "Ghost.md").symlink_to("Home.md")
    manifest = Manifest({path: Entry(0, 0, 0, "") for path in NOTES})

    def read(path: str) -> bytes | None:
        return (root / path).read_bytes() if (root / path).exists() else None

    return LinkIndex(manifest, read, visible_paths(root))


def test_links_of_properties_and_text_are_resolved(tmp_path: Path) -> None:
    found = [
        (entry.line, entry.link.target, entry.resolution.path)
        for entry in index_of(tmp_path).links("Home.md")
    ]
    assert found == [
        (0, "Area", "Area.md"),
        (0, "People/Lena.md", "People/Lena.md"),
        (7, "lena", "People/Lena.md"),
        (7, "Ghost", None),
        (12, "plan.png", "img/plan.png"),
        (12, "Leni", None),
    ]


def test_code_and_html_hold_no_links_but_lists_do(tmp_path: Path) -> None:
    assert [entry.link.target for entry in index_of(tmp_path).links("Area.md")] == ["Home"]


def test_an_alias_is_suggested_for_an_unresolved_link(tmp_path: Path) -> None:
    last = index_of(tmp_path).links("Home.md")[-1]
    assert last.resolution.suggestions == ("People/Lena.md",)


def test_a_note_with_broken_front_matter_keeps_the_links_of_its_text(tmp_path: Path) -> None:
    (entry,) = index_of(tmp_path).links("broken.md")
    assert (entry.line, entry.resolution.path, entry.resolution.sub) == (5, "Home.md", "^b")


def test_a_note_that_is_gone_has_no_links(tmp_path: Path) -> None:
    index = index_of(tmp_path)
    (tmp_path / "broken.md").unlink()
    assert index.links("broken.md") == ()
    assert {entry.path for entry in index.all_links()} == {"Home.md", "Area.md"}
