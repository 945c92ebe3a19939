from __future__ import annotations

import base64
import os
import random
import tarfile
import uuid
from pathlib import Path

import pytest

from vault_tools.redaction.redactor import redact

TEMPLATES = Path(__file__).with_name("benign_lines.txt").read_text("utf-8").splitlines()
ROOT = Path(__file__).parents[2]
ARCHIVE = "obsidian-help-en-de.tar.gz"


def _filled(template: str, rng: random.Random) -> str:
    for name, size in (("sha256", 32), ("sha1", 20), ("md5", 16)):
        template = template.replace(f"{{{name}}}", rng.randbytes(size).hex())
    template = template.replace("{base64}", base64.b64encode(rng.randbytes(48)).decode())
    while "{uuid}" in template:
        template = template.replace("{uuid}", str(uuid.UUID(bytes=rng.randbytes(16))), 1)
    return template


def test_there_are_two_hundred_benign_lines() -> None:
    assert len(set(TEMPLATES)) >= 200


@pytest.mark.parametrize("template", TEMPLATES)
def test_benign_line_stays(template: str) -> None:
    rng = random.Random(template)
    for _ in range(5):
        line = _filled(template, rng)
        assert redact(line) == line


def _real_notes() -> list[str]:
    """Read the notes of a real vault; an archive that breaks off gives what stands before."""
    folder = Path(os.environ.get("VAULT_TOOLS_DATA", ROOT.parent / "shared" / "data"))
    if not (folder / ARCHIVE).is_file():
        pytest.skip(f"{ARCHIVE} is not in {folder}; set VAULT_TOOLS_DATA to its folder")
    notes = []
    with tarfile.open(folder / ARCHIVE, ignore_zeros=True) as archive:
        while (member := _next_member(archive)) is not None:
            if member.name.endswith(".md") and (stream := archive.extractfile(member)):
                notes.append(stream.read().decode("utf-8"))
    return notes


def _next_member(archive: tarfile.TarFile) -> tarfile.TarInfo | None:
    try:
        return archive.next()
    except tarfile.ReadError:
        return None


def test_at_most_one_line_of_a_real_vault_in_a_thousand_changes() -> None:
    changed: list[str] = []
    total = 0
    for note in _real_notes():
        lines = note.splitlines()
        total += len(lines)
        after = redact(note).splitlines()
        changed += [line for line, new in zip(lines, after, strict=True) if line != new]
    assert len(changed) * 1000 <= total, changed[:20]
