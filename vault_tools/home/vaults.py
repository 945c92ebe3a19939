"""Which vaults this home serves: `vaults.json`, never stored in a vault (spec 11 §Identity)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from vault_tools.errors import ConfigError, PathRefused
from vault_tools.home.durable import write_private
from vault_tools.home.lock import locked

REGISTRY_NAME = "vaults.json"
FORMAT = 1
_WAIT_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownVault:
    """One registered vault.

    `path` is the real path; `device` and `inode` are those of the folder; `host` is the computer
    that owns the review root; `registered_at` is ISO 8601.
    """

    id: str
    path: str
    device: int
    inode: int
    host: str
    registered_at: str

    def is_at(self, place: Place) -> bool:
        """Tell whether the vault is registered at this very path."""
        return self.path == place.path

    def is_folder(self, place: Place) -> bool:
        """Tell whether a folder is the registered one.

        Only the inode counts at an unchanged path: a drive mounted again has another device number.
        """
        if self.is_at(place):
            return self.inode == place.inode
        return (self.device, self.inode) == (place.device, place.inode)


@dataclass(frozen=True, slots=True)
class Place:
    """A folder as the file system sees it now."""

    path: str
    device: int
    inode: int

    @classmethod
    def of(cls, folder: Path) -> Place:
        """Look at a folder; raises PathRefused when there is none."""
        real = folder.resolve()
        if not real.is_dir():
            raise PathRefused(f"there is no folder {folder}", "Check the spelling and the drive.")
        status = real.stat()
        return cls(str(real), status.st_dev, status.st_ino)


class VaultRegistry:
    """Find, register and move the vaults of one home.

    Every writing call takes the time as ISO 8601 text. A damaged `vaults.json` raises ConfigError
    and is never overwritten.
    """

    def __init__(self, home: Path) -> None:
        self._path = home / REGISTRY_NAME
        self._lock = home / "locks" / "vaults"

    def vaults(self) -> list[KnownVault]:
        """List all registered vaults in the order of their registration."""
        return _read(self._path)

    def find(self, vault: Path) -> KnownVault | None:
        """Give the registered vault at a folder, or None for a new, moved or copied one.

        Raises PathRefused when another folder now stands where the vault was registered.
        """
        return _find(self.vaults(), Place.of(vault))

    def left_behind(self, vault: Path) -> list[KnownVault]:
        """List vaults that this folder may be under an older path: same folder, old path gone."""
        place = Place.of(vault)
        return [
            known
            for known in self.vaults()
            if not known.is_at(place) and known.is_folder(place) and not Path(known.path).exists()
        ]

    def register(
        self, vault: Path, *, host: str, now: str, new_id: Callable[[], str]
    ) -> KnownVault:
        """Give the registered vault, or register the folder under a new id for this host."""
        place = Place.of(vault)
        with self._changing(now) as known:
            if found := _find(known, place):
                return found
            added = KnownVault(id=new_id(), host=host, registered_at=now, **_placed(place))
            self._write([*known, added])
        return added

    def move(self, old: Path, new: Path, *, now: str) -> KnownVault:
        """Follow a vault to its new folder; the id stays.

        `old` may equal `new` when the folder was restored in place. Raises PathRefused when no
        vault is registered at `old`, when it is still there, or when `new` is another vault.
        """
        place, before = Place.of(new), str(old.resolve())
        with self._changing(now) as known:
            found = next((vault for vault in known if vault.path == before), None)
            if found is None:
                raise PathRefused(f"no vault is registered at {old}", _listed(known))
            _check_move(known, found, place)
            moved = replace(found, **_placed(place))
            self._write([moved if vault.id == found.id else vault for vault in known])
        return moved

    def take_over(self, vault: Path, *, host: str, now: str) -> KnownVault:
        """Make `host` the owner of a registered vault; raises PathRefused for an unknown one."""
        place = Place.of(vault)
        with self._changing(now) as known:
            found = _require(_find(known, place), vault)
            owned = replace(found, host=host)
            self._write([owned if other.id == found.id else other for other in known])
        return owned

    def remove(self, vault_id: str, *, now: str) -> None:
        """Forget a vault; an unknown id is already forgotten."""
        with self._changing(now) as known:
            self._write([vault for vault in known if vault.id != vault_id])

    @contextmanager
    def _changing(self, now: str) -> Iterator[list[KnownVault]]:
        with locked(self._lock, started=now, wait_seconds=_WAIT_SECONDS):
            yield self.vaults()

    def _write(self, vaults: list[KnownVault]) -> None:
        document = {"version": FORMAT, "vaults": [asdict(vault) for vault in vaults]}
        write_private(self._path, json.dumps(document, indent=2, ensure_ascii=False).encode())


def _placed(place: Place) -> dict[str, Any]:
    return {"path": place.path, "device": place.device, "inode": place.inode}


def _find(known: list[KnownVault], place: Place) -> KnownVault | None:
    for vault in known:
        if vault.is_at(place) and not vault.is_folder(place):
            raise PathRefused(
                f"another folder now stands at {place.path} than the vault registered there",
                "If it is that vault, restored from a copy: "
                f"`vault-tools init --moved-from {place.path}`. "
                "If it is another vault, move it to a path of its own.",
            )
    return next((vault for vault in known if _is_here(vault, place)), None)


def _is_here(vault: KnownVault, place: Place) -> bool:
    # A second name of the same folder (a bind mount, another case) is the same vault; a path that
    # is gone means that it was moved, or that its inode was given to a new folder.
    return vault.is_at(place) or (vault.is_folder(place) and Path(vault.path).exists())


def _require(found: KnownVault | None, vault: Path) -> KnownVault:
    if found is None:
        raise PathRefused(f"no vault is registered at {vault}", "Run `vault-tools init` in it.")
    return found


def _check_move(known: list[KnownVault], moved: KnownVault, place: Place) -> None:
    if any(other.is_at(place) and other.id != moved.id for other in known):
        raise PathRefused(
            f"{place.path} is registered as a vault of its own",
            "Take its entry out of vaults.json in the home first.",
        )
    if not moved.is_at(place) and _still_there(moved):
        raise PathRefused(
            f"the vault is still at {moved.path}; {place.path} is a copy of it",
            "Run `vault-tools init` in the copy: it is a new vault.",
        )


def _still_there(vault: KnownVault) -> bool:
    path = Path(vault.path)
    return path.is_dir() and vault.is_folder(Place.of(path))


def _listed(known: list[KnownVault]) -> str:
    if not known:
        return "This home knows no vault yet; run `vault-tools init` in it."
    return f"Registered are: {', '.join(vault.path for vault in known)}."


def _read(path: Path) -> list[KnownVault]:
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError:
        return []
    except (ValueError, OSError) as error:
        raise _damaged(path, str(error)) from None
    try:
        return _parsed(path, document)
    except (KeyError, TypeError, AttributeError) as error:
        raise _damaged(path, f"{type(error).__name__} {error}") from None


def _parsed(path: Path, document: Any) -> list[KnownVault]:
    if document["version"] > FORMAT:
        raise ConfigError(
            f"{path} was written by a newer vault-tools (format {document['version']})",
            "Update vault-tools on this computer.",
        )
    return [_vault(entry) for entry in document["vaults"]]


def _vault(entry: dict[str, Any]) -> KnownVault:
    vault = KnownVault(**entry)
    numbers, texts = (vault.device, vault.inode), (vault.id, vault.path, vault.host)
    if not all(type(n) is int for n in numbers) or not all(type(t) is str and t for t in texts):
        raise TypeError(f"in the entry of {vault.id!r}")
    return vault


def _damaged(path: Path, why: str) -> ConfigError:
    return ConfigError(
        f"{path} is damaged and was left as it is: {why}",
        "Restore it from a backup of the home, or correct it by hand; without it every "
        "vault counts as new.",
    )
