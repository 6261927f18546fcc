"""Another job's checkpoint that a job starts from: spec.checkpoint.initFrom. It is only read."""

from __future__ import annotations

from amdahl.checkpoint import library

# Of the options of the job's own session; a reader takes nothing and keeps nothing.
_KEPT = ("rank", "worldSize", "attempt", "trustedKeysFile")


class InitFrom:
    """URI or URI@STEP. False when there is none. Opened when it is first needed."""

    def __init__(self, text: str, options: dict) -> None:
        self.text = text
        uri, at, step = text.rpartition("@")
        has_step = bool(at) and step.isdecimal()
        self._uri = uri if has_step else text
        self._step = int(step) if has_step else None
        self._options = {key: options[key] for key in _KEPT if options.get(key, "") != ""}
        self._session: library.Session | None = None

    def __bool__(self) -> bool:
        return bool(self.text)

    def session(self) -> library.Session:
        if self._session is None:
            self._session = library.Session({**self._options, "uri": self._uri, "agent": "off"})
        return self._session

    def open_step(self, step: int | None, before: int) -> dict:
        """Never nothing: a job that was told where to start must not start from scratch."""
        wanted = self._step if step is None else step
        if wanted is not None and before >= 0:  # that very one could not be read
            raise library.CheckpointError("corrupt", f"checkpoint.initFrom {self.text} is damaged")
        found = self.session().text("open_step", -1 if wanted is None else wanted, before)
        if found is None:
            raise library.CheckpointError(
                "not_found", f"checkpoint.initFrom {self.text}: no checkpoint is committed there")
        return found

    def close(self) -> None:
        if self._session is not None:
            self._session.close()
