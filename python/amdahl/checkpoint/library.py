"""libamdahl-checkpoint.so by ctypes, which lets go of Python's lock during every call."""

from __future__ import annotations

import ctypes
import json
import os
import pathlib
import shutil
import threading

NAME = "libamdahl-checkpoint.so"


class CheckpointError(RuntimeError):
    """What went wrong, on which object. `code` is "corrupt", "too_large", "throttled", ..."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code

    def __reduce__(self) -> tuple:
        """torch.distributed.checkpoint sends the errors of ranks to each other."""
        return type(self), (self.code, str(self))


def places() -> list[pathlib.Path]:
    """Where it may lie: beside the package, in the build of its clone, with the programs."""
    here = pathlib.Path(__file__).resolve().parent
    built = pathlib.Path("checkpoint") / "engine" / NAME
    found = [here / NAME, here.parents[2] / "build" / "release" / built]
    for program in ("amdahl", "amdahl-launch"):
        path = shutil.which(program)
        if path:
            folder = pathlib.Path(path).resolve().parent
            found += [folder / NAME, folder.parent / "lib" / NAME]
            found += [parent / built for parent in list(folder.parents)[:2]]  # of a build folder
    return list(dict.fromkeys(found))


def _load() -> ctypes.CDLL:
    """AMDAHL_CHECKPOINT_LIBRARY, or the first that is there, or what the dynamic linker knows."""
    given = os.environ.get("AMDAHL_CHECKPOINT_LIBRARY")
    looked = [] if given else places()
    path = given or next((str(place) for place in looked if place.exists()), NAME)
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        where = "".join(f"\n  {place}" for place in looked)
        raise CheckpointError(
            "not_found", f"{path} cannot be loaded: {error}; `make release` builds {NAME} in a "
            "clone, and AMDAHL_CHECKPOINT_LIBRARY names another place"
            + (f". Looked for it here:{where}" if where else "")) from error


class SaveRequest(ctypes.Structure):
    """amdahl_ckpt_save_request"""

    _fields_ = [("step", ctypes.c_int64), ("state", ctypes.c_char_p),
                ("metrics", ctypes.c_char_p), ("patience_ms", ctypes.c_int64),
                ("tensors", ctypes.c_void_p), ("count", ctypes.c_size_t)]


_SIGNATURES = {
    "error": (ctypes.c_char_p, ()),
    "error_code": (ctypes.c_char_p, ()),
    "free": (None, (ctypes.c_void_p,)),
    "open": (ctypes.c_void_p, (ctypes.c_char_p,)),
    "close": (None, (ctypes.c_void_p,)),
    "describe": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_char_p)),
    "save": (ctypes.c_int, (ctypes.c_void_p, ctypes.POINTER(SaveRequest))),
    "wait": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_int64)),
    "settle": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_int64)),
    "status": (ctypes.c_void_p, (ctypes.c_void_p,)),
    "open_step": (ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)),
    "load": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t)),
    "list": (ctypes.c_void_p, (ctypes.c_void_p,)),
    "verify": (ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_int64)),
    "collect": (ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_int)),
    "export": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_int64, ctypes.c_char_p)),
    "pin": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_int64, ctypes.c_int)),
}

_lock = threading.Lock()
_functions: dict | None = None


def functions() -> dict:
    """Of the library, by their names without amdahl_ckpt_; loaded once."""
    global _functions  # noqa: PLW0603
    with _lock:
        if _functions is None:
            library = _load()
            found = {}
            for name, (result, arguments) in _SIGNATURES.items():
                function = getattr(library, f"amdahl_ckpt_{name}")
                function.restype, function.argtypes = result, arguments
                found[name] = function
            _functions = found
        return _functions


class Session:
    """A handle of the library: JSON in and out, errors as exceptions."""

    def __init__(self, options: dict) -> None:
        self._call = functions()
        self._handle = self._call["open"](json.dumps(options).encode())
        if not self._handle:
            raise self._error()

    @property
    def is_open(self) -> bool:
        return bool(self._handle)

    def close(self) -> None:
        handle, self._handle = self._handle, None
        if handle:
            self._call["close"](handle)

    def done(self, name: str, *arguments) -> None:
        """A function that gives 0 or not."""
        if self._call[name](self._opened(), *arguments):
            raise self._error()

    def text(self, name: str, *arguments):
        """A function that gives JSON."""
        text = self._call[name](self._opened(), *arguments)
        if not text:
            raise self._error()
        try:
            return json.loads(ctypes.string_at(text))
        finally:
            self._call["free"](text)

    def _opened(self) -> int:
        if not self._handle:
            raise CheckpointError("invalid", "the checkpointer is closed")
        return self._handle

    def _error(self) -> CheckpointError:
        return CheckpointError(self._call["error_code"]().decode(),
                               self._call["error"]().decode(errors="replace"))


def addresses(numbers: list) -> ctypes.Array:
    return (ctypes.c_void_p * max(len(numbers), 1))(*numbers)
