"""`vault-tools blocks …`: whose the managed blocks are; take over those of another machine."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vault_tools.cli.asking import Person, approver_option, person_or_none
from vault_tools.cli.options import Group, Run, dry_run, pass_run
from vault_tools.errors import DONE, NEEDS_HUMAN, NotApproved, PathRefused, UnknownItem

if TYPE_CHECKING:
    from vault_tools.review.adopting import BlockSurvey, FoundBlock
    from vault_tools.workspace import Workspace

_WORDS = {"ours": "ours", "tampered": "edited", "foreign": "foreign"}
_EDITED = "its text is not what its marker says: somebody edited it"


@click.group(cls=Group)
def blocks() -> None:
    """List managed blocks; take over those of another machine.

    \b
    Example:
      vault-tools blocks list
    """


@blocks.command("list")
@click.argument("path", required=False, default="")
@pass_run
def list_blocks(run: Run, path: str) -> None:
    """List the managed blocks of the review root: ours, edited or foreign.

    \b
    Example:
      vault-tools blocks list --json
    """
    from vault_tools.review.adopting import survey

    workspace = run.open()
    found = survey(workspace.world, _vault_path(workspace, path))
    lines = [f"{_state(one):8} {_place(one)}" for one in found.blocks]
    lines += [f"closed   {one.path}: {one.reason}" for one in found.closed]
    if any(_state(one) == "foreign" for one in found.blocks):
        lines += ["", "Take foreign blocks over with: vault-tools blocks adopt PATH"]
    run.output.result(
        {
            "blocks": [{**_named(one), **_about(one)} for one in found.blocks],
            "closed": [{"path": one.path, "reason": one.reason} for one in found.closed],
        },
        *(lines or ["No managed blocks yet."]),
    )


@blocks.command()
@click.argument("path", required=False, default="")
@click.option("--items", "selector", default="all", help="Block ids separated by commas.")
@click.option("--take-over", is_flag=True, help="Make this computer the review root's owner.")
@approver_option
@dry_run
@pass_run
def adopt(
    run: Run, path: str, selector: str, take_over: bool, approver: str | None, dry_run: bool
) -> int:
    """Take over foreign blocks of a note or folder, after showing each of them.

    \b
    Example:
      vault-tools blocks adopt 00-system/plur1bus/review-bundles
    """
    if not path and not take_over:
        raise click.UsageError("Name a note or folder of the review root, or add --take-over.")
    workspace = run.open()
    person = person_or_none(run, workspace.settings, "blocks adopt", approver, dry_run=dry_run)
    former = _take_over(workspace, person) if take_over else ""
    if former and person is None:
        # Until this computer is the owner, its ledger stays closed.
        return _tell(run, former, [], [], dry=True)
    if not path:
        return _tell(run, former, [], [], dry=dry_run)
    with workspace.review_lock():
        return _adopt(run, workspace, path, selector, person, former)


def _take_over(workspace: Workspace, person: Person | None) -> str:
    """Make this computer the owner and give the former one; empty when it is already."""
    from vault_tools.home.vaults import VaultRegistry

    registry = VaultRegistry(workspace.settings.home)
    known, here = registry.find(workspace.vault), platform.node()
    if known is None or known.host == here:
        return ""
    if person is None:
        return known.host
    question = f"Make this computer ({here}) the owner of the review root, not {known.host}?"
    if not person.confirms(question):
        raise NotApproved(
            f"the review root still belongs to {known.host}; nothing was changed",
            "Decide and apply there.",
        )
    registry.take_over(workspace.vault, host=here, now=workspace.iso_now())
    workspace.ledger.adopt_blocks(
        [], person.approver, at=workspace.clock.now(), former_host=known.host
    )
    return known.host


def _adopt(
    run: Run,
    workspace: Workspace,
    path: str,
    selector: str,
    person: Person | None,
    former: str,
) -> int:
    from vault_tools.review import adopting

    found = adopting.survey(workspace.world, _vault_path(workspace, path))
    adopted: list[FoundBlock] = []
    left = [{"path": one.path, "id": "", "reason": one.reason} for one in found.closed]
    refused = bool(left)
    for one in _chosen(found, selector):
        reason = _reason_against(one)
        refused |= reason == _EDITED
        if not reason and person is not None and not _agreed(person, one):
            reason = "you said no"
        if reason:
            left.append({**_named(one), "reason": reason})
            continue
        if person is not None:
            adopting.adopt(workspace.world, [one], person.approver)
        adopted.append(one)
    _tell(run, former, adopted, left, dry=person is None)
    return NEEDS_HUMAN if refused else DONE


def _chosen(found: BlockSurvey, selector: str) -> list[FoundBlock]:
    wanted = {part.strip() for part in selector.split(",")} - {""}
    if wanted == {"all"}:
        return list(found.blocks)
    missing = wanted - {one.block.block_id for one in found.blocks}
    if missing or not wanted:
        raise UnknownItem(
            f"there is no block {', '.join(sorted(missing)) or selector!r} there",
            "`vault-tools blocks list` shows the blocks there are.",
        )
    return [one for one in found.blocks if one.block.block_id in wanted]


def _reason_against(one: FoundBlock) -> str:
    if one.state.value == "ours":
        return "it is ours already"
    return "" if one.state.value == "foreign" and one.is_whole else _EDITED


def _agreed(person: Person, one: FoundBlock) -> bool:
    body = one.block.body.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
    person.tell(("", _place(one), *(f"  | {line}" for line in body.split("\n")), ""))
    return person.confirms(f"Adopt {one.block.block_id}?")


def _tell(
    run: Run, former: str, adopted: list[FoundBlock], left: list[dict[str, str]], *, dry: bool
) -> int:
    would = "would be " if dry else ""
    here = platform.node()
    lines = [f"The review root {would or 'is '}owned by {here}, not {former}."] if former else []
    lines += [f"{would}adopted: {_place(one)}" for one in adopted]
    lines += [
        f"unchanged: {' '.join((one['path'], one['id'])).strip()}: {one['reason']}" for one in left
    ]
    run.output.result(
        {
            "takenOverFrom": former or None,
            "adopted": [_named(one) for one in adopted],
            "unchanged": left,
            "dryRun": dry,
        },
        *(lines or ["Nothing to adopt."]),
    )
    return DONE


def _vault_path(workspace: Workspace, typed: str) -> str:
    """Turn what was typed, a vault path or a path of the system, into a vault path."""
    place = Path(typed)
    if not typed or not place.is_absolute():
        return typed.replace("\\", "/").strip("/")
    try:
        return place.relative_to(workspace.vault.resolve()).as_posix()
    except ValueError:
        raise PathRefused(f"{typed} lies outside the vault", "Name a note of the vault.") from None


def _state(one: FoundBlock) -> str:
    return _WORDS[one.state.value]


def _place(one: FoundBlock) -> str:
    return f"{one.path} line {one.block.line}: {one.block.block_id}"


def _named(one: FoundBlock) -> dict[str, str]:
    return {"path": one.path, "id": one.block.block_id}


def _about(one: FoundBlock) -> dict[str, Any]:
    block = one.block
    return {
        "line": block.line,
        "agent": block.agent or None,
        "bundle": block.bundle or None,
        "state": _state(one),
    }
