"""Published keys and defaults, read from TOML, and where this run works (spec 08).

This package and providers/environment.py are the only ones that see the environment.
"""

from __future__ import annotations

from vault_tools.config.bridge import ObsidianBridge, Pass, Profile
from vault_tools.config.cited import Citations, CitationsMode, Extraction
from vault_tools.config.engine import (
    Chat,
    Embedding,
    EmbeddingProvider,
    Merging,
    Reranker,
    RerankerProvider,
)
from vault_tools.config.places import (
    CONFIG_NAME,
    DEFAULT_AGENT,
    Options,
    Settings,
    config_place,
    is_vault,
    nearest_vault,
    settings,
)
from vault_tools.config.reading import load_config
from vault_tools.config.schema import RECORD_COLLECTIONS, Config
from vault_tools.config.system import environment, os_user, system_zone
from vault_tools.config.writing import commented_example, effective, with_bridge_enabled

__all__ = [
    "CONFIG_NAME",
    "DEFAULT_AGENT",
    "RECORD_COLLECTIONS",
    "Chat",
    "Citations",
    "CitationsMode",
    "Config",
    "Embedding",
    "EmbeddingProvider",
    "Extraction",
    "Merging",
    "ObsidianBridge",
    "Options",
    "Pass",
    "Profile",
    "Reranker",
    "RerankerProvider",
    "Settings",
    "commented_example",
    "config_place",
    "effective",
    "environment",
    "is_vault",
    "load_config",
    "nearest_vault",
    "os_user",
    "settings",
    "system_zone",
    "with_bridge_enabled",
]
