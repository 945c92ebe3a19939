"""Write managed blocks into a note: all of them or none, and never over an edited one (spec 03)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from vault_tools.core.block import (
    BlockState,
    ManagedBlock,
    canonical,
    canonical_hash,
    check_splice,
    find_blocks,
    insert_block,
    owned_block,
    splice,
    verify,
)
from vault_tools.core.digest import sha256_hex
from vault_tools.core.note import decode, encode
from vault_tools.core.ports import BlockOwnership, OwnedBlock
from vault_tools.errors import BlockError, BlockMalformed, BlockTampered, VaultToolsError
from vault_tools.vault.files import Change, VaultFiles
from vault_tools.vault.markdown import opaque_lines

LOG_NAME = "managed-blocks.log.jsonl"


@dataclass(frozen=True, slots=True)
class BlockWrite:
    """A block to be written; `after` names the block a new one follows, else it goes to the end."""

    block_id: str
    body: str
    agent: str
    bundle: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class BlockReading:
    """A block as found, and whose it is."""

    block: ManagedBlock
    state: BlockState


@dataclass(frozen=True, slots=True)
class Staged:
    """A new text with its blocks; `blocks` is what to remember of the given ones as ours.

    `before` holds the canonical hash each given block had, empty for a new one.
    """

    text: str
    blocks: tuple[OwnedBlock, ...]
    before: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class BlockChange:
    """What writing blocks did to a file; `written` are the ids whose text or marker changed."""

    change: Change
    blocks: tuple[OwnedBlock, ...]
    written: tuple[str, ...]


def read_blocks(
    files: VaultFiles, ownership: BlockOwnership, path: str
) -> tuple[BlockReading, ...]:
    """Read the managed blocks of a note with their states; raises BlockMalformed for disorder."""
    content = files.read(path)
    if content is None:
        return ()
    owned = ownership.owned_blocks(path)
    return tuple(
        BlockReading(block, verify(block, owned.get(block.block_id)))
        for block in _found(decode(content), path)
    )


def staged_blocks(
    text: str,
    writes: Sequence[BlockWrite],
    owned: Mapping[str, OwnedBlock],
    *,
    path: str,
    replace_edited: bool = False,
) -> Staged:
    """Give a note's text with the blocks in it, and read it back before giving it away.

    A block that already says what it should is taken as ours. Raises BlockMalformed for disorder,
    BlockTampered for a block that is edited or foreign, whichever of the writes it concerns: then
    nothing of the file is to be written. `replace_edited` is for the verbs where a person decided.
    """
    found = _found(text, path)
    before = {block.block_id: block for block in found}
    _refuse_edited(text, path, before, writes, owned, replace_edited=replace_edited)
    new = text
    for write in writes:
        new = _staged(new, write)
    bodies = {write.block_id: write.body for write in writes}
    after = {block.block_id: block for block in check_splice(text, new, bodies, opaque_lines)}
    return Staged(
        text=new,
        blocks=tuple(owned_block(path, after[block_id]) for block_id in bodies),
        before={i: canonical_hash(before[i].body) if i in before else "" for i in bodies},
    )


def write_blocks(
    files: VaultFiles,
    ownership: BlockOwnership,
    path: str,
    blocks: Sequence[BlockWrite],
    *,
    now: int,
    log: bool = True,
    log_to: VaultFiles | None = None,
    initial: str = "",
    replace_edited: bool = False,
) -> BlockChange:
    """Write blocks into one file in one step, remember them as ours and log them.

    `now` is UTC milliseconds, for the log in the review root of `log_to` (else of `files`);
    `initial` is the text of a file that does not exist yet.
    Raises what `staged_blocks` raises, FileConflict, and VaultToolsError for a disk fault.
    """
    with files.hold():
        content = files.read(path)
        text = initial if content is None else decode(content)
        expected = None if content is None else sha256_hex(content)
        try:
            staged = staged_blocks(
                text,
                blocks,
                ownership.owned_blocks(path),
                path=path,
                replace_edited=replace_edited,
            )
        except BlockTampered as conflict:
            if log:
                log_conflict(log_to or files, conflict, blocks, now=now)
            raise
        change = files.write(path, encode(staged.text), expected=expected)
        ownership.own_blocks(staged.blocks)
        written = _written(text, staged, content is None)
        if log and change.changed:
            try:
                log_written(log_to or files, staged, blocks, written, now=now)
            except VaultToolsError as error:
                raise _not_logged(path, error) from error
    return BlockChange(change, staged.blocks, written)


def _not_logged(path: str, error: VaultToolsError) -> VaultToolsError:
    reason = error.message.partition(";")[0]
    return VaultToolsError(
        f"{path}: the change itself was made, but not logged ({reason})", error.hint
    )


def _found(text: str, path: str) -> tuple[ManagedBlock, ...]:
    try:
        return find_blocks(text, opaque_lines(text))
    except BlockMalformed as error:
        raise BlockMalformed(f"{path}: {error.message}", error.hint) from None


def _refuse_edited(
    text: str,
    path: str,
    before: Mapping[str, ManagedBlock],
    writes: Sequence[BlockWrite],
    owned: Mapping[str, OwnedBlock],
    *,
    replace_edited: bool,
) -> None:
    wanted = {write.block_id: write.body for write in writes}
    if len(wanted) < len(writes):
        raise BlockError(f"{path}: one block is written twice at once", "Join the two texts.")
    for block in before.values():
        state = verify(block, owned.get(block.block_id))
        body = wanted.get(block.block_id)
        agreed = body is not None and canonical(body) == canonical(block.body)
        decided = replace_edited and state is BlockState.TAMPERED and body is not None
        foreign = state is BlockState.FOREIGN and body is None
        if state is BlockState.OURS or agreed or decided or foreign:
            continue
        raise _tampered(text, path, block, body or "", state)


def _tampered(
    text: str, path: str, block: ManagedBlock, wanted: str, state: BlockState
) -> BlockTampered:
    edited = state is BlockState.TAMPERED
    return BlockTampered(
        f"{path}: block {block.block_id!r} in line {block.line} "
        + ("was edited since it was written" if edited else "was not written from here"),
        "Decide about it with `vault-tools review`; nothing was written to this file."
        if edited
        else "Take it over with `vault-tools blocks adopt`; nothing was written to this file.",
        path=path,
        block_id=block.block_id,
        found=block.body,
        wanted=wanted,
        disk_sha256=sha256_hex(encode(text)),
    )


def _staged(text: str, write: BlockWrite) -> str:
    found = {block.block_id: block for block in find_blocks(text, opaque_lines(text))}
    if write.block_id in found:
        block = found[write.block_id]
        return splice(text, block, write.body, agent=write.agent, bundle=write.bundle)
    if write.after and write.after not in found:
        raise BlockError(
            f"block {write.block_id!r} should follow {write.after!r}, which is not there",
            "Write that block first, or leave `after` out.",
        )
    at = _line_after(text, found[write.after].end) if write.after else len(text)
    return insert_block(text, at, write.block_id, write.agent, write.bundle, write.body)


def _line_after(text: str, end: int) -> int:
    if text.startswith("\r\n", end):
        return end + 2
    return min(end + 1, len(text))


def _written(text: str, staged: Staged, is_new: bool) -> tuple[str, ...]:
    old = {} if is_new else {b.block_id: b for b in find_blocks(text, opaque_lines(text))}
    new = {b.block_id: b for b in find_blocks(staged.text, opaque_lines(staged.text))}
    return tuple(
        block_id
        for block_id in staged.before
        if block_id not in old or _marked(old[block_id]) != _marked(new[block_id])
    )


def _marked(block: ManagedBlock) -> tuple[str, str, str, str]:
    return block.agent, block.bundle, block.hash, block.body


def log_written(
    files: VaultFiles,
    staged: Staged,
    writes: Sequence[BlockWrite],
    written: Sequence[str],
    *,
    now: int,
) -> None:
    """Log the blocks that a write changed."""
    owned = {block.block_id: block for block in staged.blocks}
    for write in writes:
        if write.block_id in written:
            known = owned[write.block_id]
            entry = _entry(now, known.path, write, "written")
            hashes = {"oldHash": staged.before[write.block_id], "newHash": known.canonical}
            _log(files, {**entry, **hashes})


def log_conflict(
    files: VaultFiles, conflict: BlockTampered, writes: Sequence[BlockWrite], *, now: int
) -> None:
    """Log a conflict, once for each path, block and state of the file on disk."""
    by_id = {write.block_id: write for write in writes}
    write = by_id.get(conflict.block_id, BlockWrite(conflict.block_id, "", ""))
    found = canonical_hash(conflict.found)
    entry = _entry(now, conflict.path, write, "conflict")
    entry |= {"oldHash": found, "newHash": found, "fileSha256": conflict.disk_sha256}
    if not _logged(files, entry):
        _log(files, entry)


def _entry(now: int, path: str, write: BlockWrite, outcome: str) -> dict[str, str]:
    return {
        "ts": datetime.fromtimestamp(now / 1000, UTC).isoformat(timespec="milliseconds"),
        "file": path,
        "blockId": write.block_id,
        "bundle": write.bundle,
        "agent": write.agent,
        "outcome": outcome,
    }


def _logged(files: VaultFiles, entry: Mapping[str, str]) -> bool:
    content = files.read(files.review_path(LOG_NAME)) or b""
    return any(_same_conflict(line, entry) for line in content.split(b"\n") if line)


def _same_conflict(line: bytes, entry: Mapping[str, str]) -> bool:
    if entry["fileSha256"].encode() not in line:
        return False
    try:
        known = json.loads(line)
    except ValueError:
        # A torn line says nothing; the conflict is logged once more.
        return False
    keys = ("file", "blockId", "outcome", "fileSha256")
    return isinstance(known, dict) and all(known.get(key) == entry[key] for key in keys)


def _log(files: VaultFiles, entry: Mapping[str, str]) -> None:
    line = json.dumps(entry, ensure_ascii=True, separators=(",", ":"))
    files.append_line(files.review_path(LOG_NAME), line)
