from __future__ import annotations

import pytest

from vault_tools.core.ports import Embedder
from vault_tools.providers.embedding import embedded_embedder


@pytest.fixture(scope="session")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    """The real default embedder, unpacked once a session."""
    return embedded_embedder(tmp_path_factory.mktemp("model"))
