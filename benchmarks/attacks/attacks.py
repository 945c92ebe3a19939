"""The attacks: each gets a fresh scene, tries to change a memory, and says what it was told."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pexpect
from scene import FLAGS, PACKAGE, Scene
from seal_prototype import new_key, open_review, sealed, unlock

from vault_tools.core.approval import Approval, Decision
from vault_tools.core.block import append_block, canonical_hash, find_blocks, splice
from vault_tools.core.bundle import StandingItem
from vault_tools.core.digest import canonical_json, sha256_hex
from vault_tools.core.item import ItemState
from vault_tools.core.plain import to_plain
from vault_tools.core.saga import Plan, RowStep, Saga
from vault_tools.review.approvals import decision_on, record
from vault_tools.vault.markdown import opaque_lines


@dataclass(frozen=True)
class Told:
    """What the attacker was told; `succeeded` None leaves it to the engine's rows."""

    message: str
    succeeded: bool | None = None
    also: tuple[str, ...] = ()


Attack = Callable[[Scene], Told]
ATTACKS: list[tuple[str, str, Attack, tuple[str, ...]]] = []


def attack(group: str, title: str, *modes: str) -> Callable[[Attack], Attack]:
    """Register an attack; no modes means both."""

    def keep(function: Attack) -> Attack:
        ATTACKS.append((group, title, function, modes or ("unsealed", "sealed")))
        return function

    return keep


def _forge(scene: Scene, item: StandingItem, seal: str = "") -> None:
    """Record an approval through our own library, as any programme of this user can."""
    world = scene.workspace().world
    approval = decision_on(world, scene.standing(), item, Decision.APPROVE, _who(), flags=FLAGS)
    record(world, [replace(approval, seal=seal)])


def _who():  # type: ignore[no-untyped-def]
    from scene import REVIEWER

    return REVIEWER


# Through documented surfaces


@attack("documented surfaces", "drive `review approve` through a pty, digest read from the screen")
def pty(scene: Scene) -> Told:
    item = scene.promotions()[0]
    bundle = scene.bundle_id
    child = pexpect.spawn(
        sys.executable,
        ["-m", "vault_tools", "--home", str(scene.home), "--vault", str(scene.vault), "review",
         "approve", bundle, "--items", item.item_id, "--trust-assistant", "--global"],
        env=scene.environ(), encoding="utf-8", timeout=60, dimensions=(60, 200),
    )  # fmt: skip
    child.expect("Type the digest")
    import re

    seen = re.findall(r"\b[0-9a-f]{8}\b", child.before)
    for one in dict.fromkeys(seen):
        child.sendline(one)
        if child.expect(["Type the digest", "approved", pexpect.EOF]) == 1:
            break
    child.expect(pexpect.EOF)
    return Told(f"{scene.apply()} · {scene.ways()}")


@attack(
    "documented surfaces", "the same against the sealed `approve`, guessing passphrases", "sealed"
)
def pty_sealed(scene: Scene) -> Told:
    item = scene.promotions()[0]
    child = pexpect.spawn(
        sys.executable,
        [str(Path(__file__).with_name("seal_prototype.py")), "approve", str(scene.home),
         str(scene.vault), scene.bundle_id, item.item_id],
        env=scene.environ(), encoding="utf-8", timeout=60,
    )  # fmt: skip
    child.expect("Type the digest")
    child.sendline(item.digest[:8])
    child.expect("Passphrase: ")
    child.sendline("correct horse battery staple")
    child.expect(pexpect.EOF)
    said = [line for line in child.before.splitlines() if "Error" in line]
    return Told(f"{said[0]} · {scene.apply()}")


@attack("documented surfaces", "pipe `y` and the digest into `review approve`")
def piped(scene: Scene) -> Told:
    item = scene.promotions()[0]
    said = scene.run(
        "review", "approve", scene.bundle_id, "--items", item.item_id, "--approver",
        "mirjam", "--yes", "--trust-assistant", "--global", typed=f"{item.digest[:8]}\ny\n",
    )  # fmt: skip
    scene.apply()
    return Told(said.message)


def _headless(scene: Scene, **environ: str) -> Told:
    item = scene.promotions()[0]
    said = scene.run(
        "review", "approve", scene.bundle_id, "--items", item.item_id, "--approver",
        "mirjam", "--trust-assistant", "--global", environ=environ,
    )  # fmt: skip
    return Told(f"{said.message} · {scene.apply()} · {scene.ways()}")


@attack("documented surfaces", "write `review.allow_headless = true` into the config, `--approver`")
def edited_config(scene: Scene) -> Told:
    config = scene.home / "config.toml"
    config.write_text(config.read_text() + "\n[review]\nallow_headless = true\n")
    return _headless(scene)


@attack("documented surfaces", "the same in a config of one's own, named by VAULT_TOOLS_CONFIG")
def own_config(scene: Scene) -> Told:
    config = scene.place / "own.toml"
    text = (scene.home / "config.toml").read_text()
    config.write_text(text + "\n[review]\nallow_headless = true\n")
    return _headless(scene, VAULT_TOOLS_CONFIG=str(config))


@attack("documented surfaces", "a config with `allow_headless` inside the vault")
def config_in_vault(scene: Scene) -> Told:
    config = scene.vault / "own.toml"
    text = (scene.home / "config.toml").read_text()
    config.write_text(text + "\n[review]\nallow_headless = true\n")
    return _headless(scene, VAULT_TOOLS_CONFIG=str(config))


def _own_home(scene: Scene, *, shared_engine: bool, by: str) -> Told:
    home = scene.place / "own-home"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(mode=0o700)
    engine = f'base_db_path = "{scene.home / "memory"}"\n' if shared_engine else ""
    (home / "config.toml").write_text(
        f'{engine}[obsidian_bridge]\nenabled = true\nvault_path = "{scene.vault}"\n'
        "[review]\nallow_headless = true\n"
    )
    place = ["--vault", str(scene.vault)]
    place += ["--home", str(home)] if by == "option" else []
    environ = {"VAULT_TOOLS_HOME": str(home)} if by == "environment" else {}

    def ours(*arguments: str):  # type: ignore[no-untyped-def]
        return scene.run(*arguments, *place, at_home=False, environ=environ)

    for note in scene.vault.rglob("review-bundles/rb-*.md"):
        note.unlink()
    ours("init", "--yes")
    prepared = ours("review", "prepare", "--json")
    bundle = json.loads(prepared.text[prepared.text.index("{") :])
    items = [item["id"] for item in bundle.get("items", []) if item["type"] == "memory_promotion"]
    if not items:
        return Told("its engine is another one and empty; the reviewer's is untouched")
    ours("review", "approve", bundle["bundleId"], "--items", ",".join(items[:3]), "--approver",
         "mirjam", "--trust-assistant", "--global")  # fmt: skip
    return Told(ours("review", "apply", bundle["bundleId"]).message)


@attack("documented surfaces", "a home of one's own (VAULT_TOOLS_HOME), engine in it")
def own_home(scene: Scene) -> Told:
    return _own_home(scene, shared_engine=False, by="environment")


@attack("documented surfaces", "a home of one's own (--home), `base_db_path` the real engine")
def own_home_real_engine(scene: Scene) -> Told:
    return _own_home(scene, shared_engine=True, by="option")


@attack("documented surfaces", "copy ledger and bundle note to another vault and apply there")
def other_vault(scene: Scene) -> Told:
    item = scene.promotions()[0]
    scene.decide(item, Decision.APPROVE)
    bundle = scene.bundle_id
    scene.sql("pragma wal_checkpoint(truncate)")
    copy, home = scene.place / "copy", scene.place / "copy-home"
    for folder in (copy, home):
        shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(scene.vault, copy)
    home.mkdir(mode=0o700)
    (home / "config.toml").write_text(
        f'base_db_path = "{scene.home / "memory"}"\n[obsidian_bridge]\nenabled = true\n'
        f'vault_path = "{copy}"\n'
    )
    place = ["--home", str(home), "--vault", str(copy)]
    scene.run("init", "--yes", *place, at_home=False)
    scene.run("review", "list", *place, at_home=False)
    (ledger,) = (home / "state").glob("*/*/ledger.sqlite")
    for part in ledger.parent.glob("ledger.sqlite*"):
        part.unlink()
    shutil.copy(scene.ledger, ledger)
    first = scene.run("review", "apply", bundle, *place, at_home=False).message
    import sqlite3

    database = sqlite3.connect(ledger)
    database.execute(
        "update meta set value = ? where key = 'vaultId'", (ledger.parent.parent.name,)
    )
    database.commit()
    database.close()
    second = scene.run("review", "apply", bundle, *place, at_home=False).message
    return Told(f"{first} · with the vault id in it rewritten: {second}")


@attack("documented surfaces", "tick boxes, write `approved`, add a forged block with a right hash")
def edited_note(scene: Scene) -> Told:
    note = next(scene.vault.rglob("review-bundles/rb-*.md"))
    text = note.read_text("utf-8").replace("- [ ]", "- [x]")
    text = text.replace("pending_user_review", "approved")
    note.write_text(append_block(text, "approval", "main", "", "Approved.\n"), encoding="utf-8")
    applied = scene.apply()
    import re

    item = scene.promotions()[0]
    child = pexpect.spawn(
        sys.executable,
        ["-m", "vault_tools", "--home", str(scene.home), "--vault", str(scene.vault), "review",
         "approve", scene.bundle_id, "--items", item.item_id],
        env=scene.environ(), encoding="utf-8", timeout=60,
    )  # fmt: skip
    child.expect(pexpect.EOF)
    said = re.search(r"Error: [^\r\n]*", child.before or "")
    return Told(f"{applied} · approve: {said.group() if said else child.before}")


@attack("documented surfaces", "a bundle note that lies, its recorded block hash rewritten")
def lying_note(scene: Scene) -> Told:
    note = next(scene.vault.rglob("review-bundles/rb-*.md"))
    text = note.read_text("utf-8")
    blocks = find_blocks(text, opaque_lines(text))
    lie = "\n## Nothing to worry about\n\nThis item only mends a link.\n\n"
    block = blocks[1]
    note.write_text(splice(text, block, lie, agent=block.agent, bundle=block.bundle), "utf-8")
    scene.sql(
        f"update blocks set canonical = '{canonical_hash(lie)}' where block_id = '{block.block_id}'"
    )
    said = scene.run("review", "show", scene.bundle_id, "--json").text
    state = json.loads(said)["noteState"]
    return Told(
        f"note state: {state}. The note lies; the terminal shows the true change before it asks",
        state == "intact",
        ("`review refresh --dry-run` shows the difference",),
    )


# Hands on the ledger file


@attack("ledger file", "insert an approval row without an event")
def row_without_event(scene: Scene) -> Told:
    one, two = scene.promotions()[:2]
    scene.decide(two, Decision.REJECT)
    scene.sql(
        f"insert into approvals select 'forged', '{one.item_id}', bundle_id, 'approve',"
        " replace(body, '\"reject\"', '\"approve\"'), event, null from approvals",
        f"update items set state = 'approved' where item_id = '{one.item_id}'",
    )
    return Told(scene.apply())


@attack("ledger file", "relabel a rejection as an approval, columns only")
def relabelled(scene: Scene) -> Told:
    item = scene.promotions()[0]
    scene.decide(item, Decision.REJECT)
    scene.sql(
        "update approvals set decision = 'approve'",
        f"update items set state = 'approved' where item_id = '{item.item_id}'",
    )
    return Told(scene.apply())


@attack("ledger file", "record an approval with a right event (our library called directly)")
def row_with_event(scene: Scene) -> Told:
    _forge(scene, scene.promotions()[0])
    return Told(scene.apply())


@attack("ledger file", "the same with a seal of the attacker's own key", "sealed")
def foreign_seal(scene: Scene) -> Told:
    item = scene.promotions()[0]
    world = scene.workspace().world
    plain = decision_on(world, scene.standing(), item, Decision.APPROVE, _who(), flags=FLAGS)
    record(world, [sealed(plain, unlock(new_key("mine"), "mine"))])
    return Told(scene.apply())


@attack("ledger file", "rewrite the whole chain: a rejection never happened, an approval did")
def whole_chain(scene: Scene) -> Told:
    item = scene.promotions()[0]
    scene.decide(item, Decision.REJECT)
    scene.rechain(lambda kind, body: None if kind == "reject" else (kind, body))
    scene.sql(
        "delete from approvals",
        f"update items set state = 'pending' where item_id = '{item.item_id}'",
    )
    _forge(scene, item)
    return Told(scene.apply())


@attack("ledger file", "approve A, swap its effects for B's under the same digest")
def swapped_effects(scene: Scene) -> Told:
    one, two = scene.promotions()[:2]
    scene.decide(one, Decision.APPROVE)
    scene.sql(
        f"update payloads set body = (select body from payloads where digest = '{two.digest}')"
        f" where digest = '{one.digest}'"
    )
    return Told(scene.apply())


@attack("ledger file", "the same with every digest, the approval and the chain rewritten")
def swapped_rechained(scene: Scene) -> Told:
    one, two = scene.promotions()[:2]
    scene.decide(one, Decision.APPROVE)
    import sqlite3

    database = sqlite3.connect(scene.ledger)
    (body,) = database.execute("select body from approvals where decision = 'approve'").fetchone()
    forged = json.loads(body)
    forged.update(itemId=two.item_id, itemDigest=two.digest)
    text = canonical_json(forged).decode()
    database.execute("update approvals set body = ?, item_id = ?", (text, two.item_id))
    database.execute("update items set state = 'pending' where item_id = ?", (one.item_id,))
    database.execute("update items set state = 'approved' where item_id = ?", (two.item_id,))
    database.commit()
    database.close()

    def edit(kind, said):  # type: ignore[no-untyped-def]
        if kind == "approve":
            said.update(itemId=two.item_id, itemDigest=two.digest, decisionDigest=sha256_hex(text))
        return kind, said

    scene.rechain(edit)
    return Told(scene.apply())


def _saga(scene: Scene, item: StandingItem) -> Saga:
    row = scene.evil_row()
    plan = Plan(rows=(RowStep(row.stored_by, row.id, row, scene.believed(row)),))
    return Saga(
        saga_id="forged", bundle_id=scene.bundle_id, item_id=item.item_id,
        item_digest=item.digest, nonce="forged", goal=ItemState.APPLIED, plan=plan,
    )  # fmt: skip


@attack("ledger file", "slip in an unfinished change without an event")
def forged_saga(scene: Scene) -> Told:
    saga = _saga(scene, scene.promotions()[0])
    body = canonical_json(to_plain(saga)).decode()
    import sqlite3

    database = sqlite3.connect(scene.ledger)
    database.execute("insert into payloads values (?, ?)", (sha256_hex(body), body))
    database.execute(
        "insert into sagas(saga_id, item_id, goal, stage, body) values (?, ?, ?, ?, ?)",
        (saga.saga_id, saga.item_id, "applied", "committed", sha256_hex(body)),
    )
    database.commit()
    database.close()
    return Told(scene.apply())


@attack("ledger file", "the same with a right event, behind an approval the reviewer did give")
def forged_saga_with_event(scene: Scene) -> Told:
    item = scene.promotions()[0]
    scene.decide(item, Decision.APPROVE)
    scene.workspace().ledger.begin(_saga(scene, item))
    return Told(scene.apply())


@attack("ledger file", "make a spent approval unspent after the reviewer's undo")
def unspent(scene: Scene) -> Told:
    item = scene.promotions()[0]
    scene.decide(item, Decision.APPROVE)
    scene.apply()
    scene.undo(item)
    scene.sql(
        "update approvals set spent_at = null",
        "delete from sagas",
        f"update items set state = 'approved' where item_id = '{item.item_id}'",
    )
    return Told(scene.apply())


def _replay(scene: Scene, *, history: bool) -> Told:
    item = scene.promotions()[0]
    scene.decide(item, Decision.APPROVE)
    scene.sql("pragma wal_checkpoint(truncate)")
    ledger, kept = scene.ledger, scene.place / "older"
    shutil.copy(ledger, kept)
    log = scene.home / "memory" / item.item.agent_id / "history.jsonl"
    before = log.read_bytes()
    scene.apply()
    scene.undo(item)
    if scene.changed():
        raise SystemExit("undo did not put the row back")
    for part in ledger.parent.glob("ledger.sqlite*"):
        part.unlink()
    shutil.copy(kept, ledger)
    if history:
        log.write_bytes(before)
    return Told(scene.apply())


@attack("ledger file", "put back an older ledger after apply and undo, apply again (replay)")
def replay(scene: Scene) -> Told:
    return _replay(scene, history=False)


@attack("ledger file", "the same with the engine's history put back as well")
def replay_with_history(scene: Scene) -> Told:
    return _replay(scene, history=True)


# The key


@attack("key", "apply a forged approval with a programme that knows no seal (downgrade)", "sealed")
def downgrade(scene: Scene) -> Told:
    _forge(scene, scene.promotions()[0])
    return Told(scene.run("review", "apply", scene.bundle_id).message)


@attack("key", "put another public key into the chain, hashes left alone", "sealed")
def key_unchained(scene: Scene) -> Told:
    key = canonical_json(to_plain(new_key("mine"))).decode()
    scene.sql(f"update events set body = '{key}' where kind = 'key'")
    return Told(scene.apply())


@attack("key", "chain a further key of one's own without the old passphrase", "sealed")
def key_added(scene: Scene) -> Told:
    review = scene.review()
    stolen = replace(new_key("mine"), previous=scene.public)
    review._append("key", to_plain(stolen))
    _forge_with(scene, unlock(stolen, "mine"))
    return Told(scene.apply())


def _forge_with(scene: Scene, private: object) -> Approval:
    world = scene.workspace().world
    plain = decision_on(
        world, scene.standing(), scene.promotions()[0], Decision.APPROVE, _who(), flags=FLAGS
    )
    approval = sealed(plain, private)  # type: ignore[arg-type]
    record(world, [approval])
    return approval


def _key_replaced(scene: Scene) -> None:
    key = new_key("mine")
    private = unlock(key, "mine")

    def edit(kind, said):  # type: ignore[no-untyped-def]
        if kind == "baseline":
            message = b"vault-tools baseline 1\n" + canonical_json(said["rows"])
            return kind, {**said, "signature": private.sign(message).hex()}
        return (kind, to_plain(key)) if kind == "key" else (kind, said)

    scene.rechain(edit)
    _forge_with(scene, private)


@attack("key", "replace the key and rewrite the whole chain; public key known from the ledger only",
        "sealed")  # fmt: skip
def key_rechained(scene: Scene) -> Told:
    _key_replaced(scene)
    said = scene.apply()
    try:
        unlock(scene.review().key(), scene.passphrase)
        also = ()
    except Exception as error:
        also = (f"the reviewer's next decision: {error}",)
    return Told(said, also=also)


@attack("key", "the same, public key pinned where the attacker cannot write", "sealed")
def key_pinned(scene: Scene) -> Told:
    _key_replaced(scene)
    return Told(scene.apply(pinned=scene.public))


@attack("key", "look for the passphrase in /proc while the reviewer approves", "sealed")
def passphrase_seen(scene: Scene) -> Told:
    item = scene.promotions()[0]
    child = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("seal_prototype.py")), "approve",
         str(scene.home), str(scene.vault), scene.bundle_id, item.item_id,
         "--passphrase-stdin"],
        env=scene.environ(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdin is not None
    child.stdin.write(f"{scene.passphrase}\n")
    child.stdin.flush()
    looks, seen = 0, set()
    while child.poll() is None:
        for name in ("cmdline", "environ"):
            try:
                data = Path(f"/proc/{child.pid}/{name}").read_bytes()
            except OSError:
                continue
            looks += 1
            if scene.passphrase.encode() in data:
                seen.add(name)
        time.sleep(0.01)
    stored = [
        str(path.relative_to(scene.home))
        for path in scene.home.rglob("*")
        if path.is_file() and scene.passphrase.encode() in path.read_bytes()
    ]
    return Told(f"{looks} looks: seen in {sorted(seen) or 'none'}; on disk in {stored or 'none'}",
                bool(seen or stored))  # fmt: skip


# Past the programme


@attack("past the programme", "change a row through our store, without review")
def store_directly(scene: Scene) -> Told:
    workspace, row = scene.workspace(), scene.evil_row()
    workspace.store.replace(
        workspace.viewer(row.stored_by), row.row_hash, scene.believed(row), reason="tidied up"
    )
    return Told("written")


@attack("past the programme", "write into the LanceDB folder, row hash recomputed, no history line")
def lance_directly(scene: Scene) -> Told:
    import lancedb

    row = scene.evil_row()
    after = scene.believed(row)
    table = lancedb.connect(str(scene.home / "memory" / row.stored_by)).open_table("memories")
    table.update(
        where=f"id = '{row.id}'",
        values={"trust": "trusted", "version": after.version, "rowHash": after.row_hash},
    )
    return Told("written")


@attack("past the programme", "the same, row hash left alone")
def lance_clumsily(scene: Scene) -> Told:
    import lancedb

    row = scene.evil_row()
    table = lancedb.connect(str(scene.home / "memory" / row.stored_by)).open_table("memories")
    table.update(where=f"id = '{row.id}'", values={"trust": "trusted"})
    said = scene.run("memory", "recall", row.text, "--agent", row.stored_by)
    return Told(f"{said.message}: recall leaves the row out", row.text in said.text)


@attack("past the programme", "shadow the installed package (PYTHONPATH): out of scope")
def shadowed(scene: Scene) -> Told:
    evil = scene.place / "evil"
    evil.mkdir(exist_ok=True)
    catch = evil / "caught"
    catch.unlink(missing_ok=True)
    if scene.mode == "unsealed":
        (evil / "sitecustomize.py").write_text(
            "import sys\nsys.stdin.isatty = sys.stdout.isatty = lambda: True\n"
            "import vault_tools.cli.asking as a\na.Person.agrees = lambda *x: True\n"
        )
        item = scene.promotions()[0]
        said = scene.run(
            "review", "approve", scene.bundle_id, "--items", item.item_id,
            "--trust-assistant", "--global",
            environ={"PYTHONPATH": f"{evil}{os.pathsep}{PACKAGE}"},
        )  # fmt: skip
        return Told(f"{said.message} · {scene.apply()}")
    (evil / "sitecustomize.py").write_text(
        "import getpass\nasked = getpass.getpass\n"
        "def getpass_(prompt):\n    got = asked(prompt)\n"
        f"    open({str(catch)!r}, 'w').write(got)\n    return got\n"
        "getpass.getpass = getpass_\n"
    )
    one, two = scene.promotions()[:2]
    child = pexpect.spawn(
        sys.executable,
        [str(Path(__file__).with_name("seal_prototype.py")), "approve", str(scene.home),
         str(scene.vault), scene.bundle_id, one.item_id],
        env=scene.environ({"PYTHONPATH": f"{evil}{os.pathsep}{PACKAGE}"}),
        encoding="utf-8", timeout=60,
    )  # fmt: skip
    child.expect("Type the digest")
    child.sendline(one.digest[:8])
    child.expect("Passphrase: ")
    child.sendline(scene.passphrase)
    child.expect(pexpect.EOF)
    review = open_review(scene.home, scene.vault)
    review.approve(scene.bundle_id, two.item_id, catch.read_text(), FLAGS)
    return Told(f"passphrase caught as it was typed · {scene.apply()}")


@attack("past the programme", "another user of the computer reads and writes home, ledger, engine")
def other_user(scene: Scene) -> Told:
    return _other_user(scene, 0o700)


@attack("past the programme", "the same, home made world-readable by its owner (0755)")
def other_user_open_home(scene: Scene) -> Told:
    try:
        return _other_user(scene, 0o755)
    finally:
        scene.home.chmod(0o700)


@attack("past the programme", "another user moves the ledger aside in a world-writable home (0777)")
def other_user_writable_home(scene: Scene) -> Told:
    scene.decide(scene.promotions()[0], Decision.APPROVE)
    scene.home.chmod(0o777)
    try:
        said = scene.run("review", "apply", scene.bundle_id).message
    finally:
        scene.home.chmod(0o700)
    return Told(said)


def _other_user(scene: Scene, mode: int) -> Told:
    probe = (
        "import os,sys\n"
        "reached=[]\n"
        "for name in sys.argv[1:]:\n"
        "    for flag, word in ((os.O_RDONLY,'read'),(os.O_WRONLY,'write')):\n"
        "        try: os.close(os.open(name, flag)); reached.append(word+' '+name)\n"
        "        except OSError: pass\n"
        "print(len(sys.argv)-1, reached)\n"
    )
    scene.home.chmod(mode)
    files = [str(path) for path in scene.home.rglob("*") if path.is_file()]
    done = subprocess.run(
        ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-c",
         probe, *files],
        capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        return Told(f"not tried: {done.stderr.strip()[-100:]}", False)
    count, reached = done.stdout.strip().split(" ", 1)
    wide = [p.name for p in (scene.ledger.parent, scene.home / "memory", scene.home / "cache")
            if p.stat().st_mode & 0o077]  # fmt: skip
    ledgers = scene.ledger.parent.glob("ledger.sqlite*")
    loose = [p.name for p in ledgers if p.stat().st_mode & 0o077]
    return Told(f"{count} files tried, reached: {reached}; not 0700: {wide or 'none'}; "
                f"ledger files not 0600: {loose or 'none'}", reached != "[]")  # fmt: skip
