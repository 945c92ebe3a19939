from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from vault_world import make_files

from vault_tools.vault.files import VaultFiles


@pytest.fixture
def files(tmp_path: Path) -> VaultFiles:
    return make_files(tmp_path)
