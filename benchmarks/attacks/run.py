"""Play an attacker who has the reviewer's own account and a shell, against both kinds of approval.

    python benchmarks/attacks/run.py [--only WORD] [--json FILE]

Whether a memory was changed is read from the engine's rows, never from what a command said; the
attacks that change none (a lying note, another user, the passphrase) look for their own aim.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2])]

from attacks import ATTACKS, Attack  # noqa: E402
from scene import Scene  # noqa: E402


def play(scene: Scene, attack: Attack) -> dict[str, Any]:
    """Play one attack in a fresh world."""
    scene.reset()
    try:
        told = attack(scene)
        succeeded = scene.changed() if told.succeeded is None else told.succeeded
        witnesses = [*told.also, *(scene.witnesses() if succeeded else [])]
        message = told.message
    except Exception as error:
        # The harness reports its own failures as such and goes on.
        traceback.print_exc()
        succeeded, witnesses, message = None, [], f"HARNESS {type(error).__name__}: {error}"
    return {"succeeded": succeeded, "message": message, "detectedBy": witnesses}


def main() -> int:
    """Run the attacks and print one line per try."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="Play attacks whose name holds this word.")
    parser.add_argument("--json", type=Path, help="Write the results there.")
    arguments = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory(prefix="vault-tools-attacks-") as folder:
        Path(folder).chmod(0o755)
        for mode in ("unsealed", "sealed"):
            scene = Scene.build(Path(folder) / mode, mode)
            for group, title, attack, modes in ATTACKS:
                if mode not in modes or arguments.only not in attack.__name__:
                    continue
                result = play(scene, attack)
                results.append(
                    {
                        "mode": mode,
                        "group": group,
                        "name": attack.__name__,
                        "attack": title,
                        **result,
                    }
                )
                word = {True: "SUCCEEDED", False: "refused", None: "ERROR"}[result["succeeded"]]
                print(f"{mode:8} {word:9} {attack.__name__}: {title}")
                print(f"{'':18} {result['message']}".replace(folder, "…"))
                if result["succeeded"]:
                    noticed = "; ".join(result["detectedBy"]) or "nothing"
                    print(f"{'':18} noticed afterwards by: {noticed}", flush=True)
    if arguments.json:
        text = json.dumps(results, indent=1, ensure_ascii=False).replace(folder, "…")
        arguments.json.write_text(text, "utf-8")
    return int(any(result["succeeded"] is None for result in results))


if __name__ == "__main__":
    raise SystemExit(main())
